package api

// Check says whether one part that work needs is there.
type Check struct {
	Name string `json:"name" doc:"Name of the part: database, docker, …"`
	OK   bool   `json:"ok" doc:"Whether it is available."`
	// Optional parts need not be available for the server to be ready.
	Optional bool   `json:"optional,omitempty" doc:"Whether the server is ready without it, because it can do other work."`
	Detail   string `json:"detail,omitempty" doc:"What is missing and how to fix it. If tokens are required, only callers with one receive it; it is also logged."`
}

// Health says that the server lives or is ready.
type Health struct {
	Status  string  `json:"status" enum:"live,ready" doc:"live: the process answers. ready: every part that work needs is available."`
	Version string  `json:"version" doc:"Version of relabel."`
	Checks  []Check `json:"checks,omitempty" doc:"The checked parts, in /readyz."`
}

package api

// TokenizerDeleted says which name was deleted.
type TokenizerDeleted struct {
	Name string `json:"name" doc:"Name that was deleted."`
}

package relabel

// RunContents says what a run consists of, and so what is deleted with it.
type RunContents struct {
	Iterations   int   `json:"iterations"`
	Trajectories int   `json:"trajectories"`
	Turns        int64 `json:"turns"` // of the attempts that count
	Calls        int64 `json:"calls"` // about, where there are more than 200 trajectories
	Reviews      int   `json:"reviews"`
	Exports      int   `json:"exports"` // their rows go, files that were written stay
	Bytes        int64 `json:"bytes"`   // of observations and actions as they are stored; about, as Calls
	// Refused says why the run cannot be deleted now; "" where it can.
	Refused string `json:"refused,omitempty"`
	// Deleting says that the run is being deleted in the background.
	Deleting bool `json:"deleting,omitempty"`
}

package relabel

// RunContents says what a run consists of, and so what is deleted with it.
type RunContents struct {
	Iterations   int   `json:"iterations" doc:"Iterations."`
	Trajectories int   `json:"trajectories" doc:"Trajectories."`
	Turns        int64 `json:"turns" doc:"Turns of the attempts that count."`
	Calls        int64 `json:"calls" doc:"Model calls that are kept; of a run of more than 200 trajectories an estimate."`
	Reviews      int   `json:"reviews" doc:"Reviews of its trajectories."`
	Exports      int   `json:"exports" doc:"Entries of exports; the files that they wrote stay."`
	Bytes        int64 `json:"bytes" doc:"Bytes of observations and actions as they are stored; of a run of more than 200 trajectories an estimate."`
	// Refused says why the run cannot be deleted now; "" where it can.
	Refused string `json:"refused,omitempty" doc:"Why it cannot be deleted now; absent where it can."`
	// Deleting says that the run is being deleted in the background.
	Deleting bool `json:"deleting,omitempty" doc:"It is being deleted, in the background; absent otherwise."`
}

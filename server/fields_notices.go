package server

// noticeMeanings are those of what tells others what happened.
var noticeMeanings = map[string]string{
	"Event.number":        "Its number, which is the stream's id of it. Later ones are larger.",
	"Event.at":            "When it happened.",
	"Event.subject":       "What changed: run, iteration, trajectory or export.",
	"Event.run_id":        "The run.",
	"Event.iteration_id":  "The iteration, of iterations and trajectories.",
	"Event.trajectory_id": "The trajectory, of trajectories.",
	"Event.export_id":     "The export, of exports.",
	"Event.state":         "What it became: one of its states; of a run, paused or resumed.",
}

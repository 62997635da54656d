package trainers

import "relabel"

// tinker-cookbook's renderers are not the student's template; a Datum takes token ids with weights.
var tinker = Trainer{
	Name:   "tinker",
	Run:    "tinker-cookbook 0.6.1 and tinker 0.38.0",
	Routes: []Route{{View: relabel.ViewLinear, Weights: true, Files: []string{"tinker_rows.py"}, Command: "python tinker_rows.py . MODEL OUT"}},
}

package trainers

import "relabel"

// verl's own loader of conversations has no flag per message; its hook for a data set of token ids is data.custom_cls.
var verl = Trainer{
	Name:   "verl",
	Run:    "verl 0.9.1",
	Routes: []Route{{View: relabel.ViewLinear, Weights: true, Files: []string{"verl.sh", "verl_rows.py"}, Command: "sh verl.sh MODEL OUT"}},
}

package trainers

import "relabel"

// slime's masks render each message alone, which differs from the whole in templates that look at other messages;
// its hooks --data-source-path and --rollout-function-path take token ids.
var slime = Trainer{
	Name:   "slime",
	Run:    "slime, main of 2026-08-21 (624b824a)",
	Routes: []Route{{View: relabel.ViewLinear, Files: []string{"slime.sh", "slime_rows.py"}, Command: "sh slime.sh SLIME MODEL OUT [slime's arguments of the model]"}},
}

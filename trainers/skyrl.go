package trainers

import "relabel"

var skyRL = Trainer{
	Name:   "skyrl",
	Run:    "SkyRL, main of 2026-08-21 (a9564572)",
	Routes: []Route{{View: relabel.ViewLinear, Files: []string{"skyrl.sh"}, Command: "sh skyrl.sh MODEL OUT"}},
}

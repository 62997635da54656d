package trainers

import "relabel"

var openRLHF = Trainer{
	Name:   "openrlhf",
	Run:    "openrlhf 0.11.2",
	Routes: []Route{{View: relabel.ViewPromptCompletion, Dialect: relabel.DialectText, EndsWithEOS: true, Files: []string{"openrlhf.sh"}, Command: "sh openrlhf.sh MODEL OUT"}},
}

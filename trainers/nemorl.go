package trainers

import "relabel"

// NeMo RL renders each message after those before it and joins what each adds, so that a template that renders a
// turn differently once it is history, or several answers of tools together, would give other tokens. Messages of
// plain text leave nothing to render differently.
var nemoRL = Trainer{
	Name:   "nemo-rl",
	Run:    "NeMo RL, main of 2026-08-22 (7ea279ab)",
	Routes: []Route{{View: relabel.ViewChat, Dialect: relabel.DialectFlat, Files: []string{"nemo_rl.sh"}, Command: "sh nemo_rl.sh NEMO_RL MODEL OUT"}},
}

package trainers

import "relabel"

// prime-rl trains on every turn of the assistant and prints messages with a renderer of its own: only a label behind
// two messages of plain text is safe, printed by the renderer that has Qwen3's template built in.
var primeRL = Trainer{
	Name:   "prime-rl",
	Run:    "prime-rl, main of 2026-08-21 (559b4477), and renderers 0.1.12",
	Routes: []Route{{View: relabel.ViewChat, Dialect: relabel.DialectFlat, PrintsQwen3: true, Files: []string{"prime_rl.sh"}, Command: "sh prime_rl.sh PRIME_RL MODEL OUT STEPS"}},
}

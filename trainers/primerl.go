package trainers

var primeRL = Trainer{
	Name: "prime-rl",
	Read: "prime-rl, main of 2026-08-21",
	Refused: "its SFT loader joins prompt and completion and trains on every turn of the assistant, also on the student's own actions in the history, " +
		"and it reads no token ids (src/prime_rl/trainer/sft/data.py)",
}

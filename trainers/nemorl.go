package trainers

import "relabel"

var nemoRL = Trainer{
	Name:   "nemo-rl",
	Read:   "NeMo RL, main of 2026-08-22",
	Routes: []Route{{View: relabel.ViewChat, Dialect: relabel.DialectLastTurn, States: true, Files: []string{"nemo_rl.yaml"}, Command: "uv run --directory NEMO_RL examples/run_sft.py --config $PWD/nemo_rl.yaml policy.model_name=MODEL checkpointing.checkpoint_dir=OUT"}},
}

package trainers

var torchTitan = Trainer{
	Name:    "torchtitan",
	Read:    "torchtitan, main of 2026-08",
	Refused: "its chat data set takes one message of the user and one of the assistant, no longer conversation and no token ids",
}

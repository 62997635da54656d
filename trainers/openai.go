package trainers

import "relabel"

var openAI = Trainer{
	Name:   "openai",
	Read:   "the fine-tuning API's chat format",
	Routes: []Route{{View: relabel.ViewChat, Dialect: relabel.DialectWeight, Command: `for file in {{join .Files " "}}; do openai files create --purpose fine-tune --file "$file"; done   # then openai fine_tuning.jobs.create --model MODEL --training_file FILE`}},
}

package trainers

import "relabel"

var trl = Trainer{
	Name: "trl",
	Run:  "trl 1.16.0",
	Routes: []Route{
		{View: relabel.ViewLinear, Weights: true, Signed: true, Files: []string{"trl.yaml", "train_trl.py"}, Command: trlCommand},
		{View: relabel.ViewPacked, Weights: true, Signed: true, Files: []string{"trl.yaml", "train_trl.py"}, Command: trlCommand},
		{View: relabel.ViewPromptCompletion, Dialect: relabel.DialectMessages, Files: []string{"trl.yaml"}, Command: "trl sft --config trl.yaml --model_name_or_path MODEL --output_dir OUT"},
	},
}

// trlCommand uses relabel's own trainer on top of TRL where tokens have weights, which TRL ignores.
const trlCommand = `{{if .Weighted}}python train_trl.py . {{.View}} MODEL OUT{{else}}trl sft --config trl.yaml --model_name_or_path MODEL --output_dir OUT{{end}}`

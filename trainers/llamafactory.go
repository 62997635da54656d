package trainers

import "relabel"

// A message with calls loses its text and its reasoning in LLaMA-Factory's own converters: only token ids are safe.
var llamaFactory = Trainer{
	Name:   "llama-factory",
	Run:    "llamafactory 0.9.5",
	Routes: []Route{{View: relabel.ViewArrow, Files: []string{"llama_factory.yaml"}, Command: "llamafactory-cli train llama_factory.yaml model_name_or_path=MODEL output_dir=OUT"}},
}

package trainers

import "relabel"

// The contents of its messages may be token ids with a weight each, so that none of its own templates matters.
var msSwift = Trainer{
	Name:   "ms-swift",
	Run:    "ms-swift 4.6.0",
	Routes: []Route{{View: relabel.ViewChat, Dialect: relabel.DialectLoss, Weights: true, EndsWithEOS: true, AddsBOS: true, Files: []string{"ms_swift.yaml"}, Command: "swift sft ms_swift.yaml --model MODEL --output_dir OUT"}},
}

package trainers

import "relabel"

var axolotl = Trainer{
	Name:   "axolotl",
	Run:    "axolotl 0.19.0",
	Routes: []Route{{View: relabel.ViewLinear, Bare: true, Files: []string{"axolotl.yaml"}, Command: "axolotl train axolotl.yaml --base-model MODEL --output-dir OUT"}},
}

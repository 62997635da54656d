package trainers

import "relabel"

var automodel = Trainer{
	Name:   "automodel",
	Run:    "nemo-automodel 0.7.0",
	Routes: []Route{{View: relabel.ViewLinear, Files: []string{"automodel.yaml", "automodel_rows.py"}, Command: "automodel automodel.yaml --model.pretrained_model_name_or_path MODEL --checkpoint.checkpoint_dir OUT"}},
}

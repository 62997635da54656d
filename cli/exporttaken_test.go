package cli

import (
	"testing"

	"relabel"
)

func TestAnExportSaysWhatWasTakenAndCompared(t *testing.T) {
	e := relabel.Export{Selection: relabel.ExportSelection{Iteration: 2, Hit: true}}
	if got := taken(e); got != "taken from iteration 2: trajectories whose answer names a gold location" {
		t.Error(got)
	}
	e.Mix = &relabel.Mix{Sources: make([]relabel.MixSource, 2), Sampled: true, Unique: true, LabelsPerTask: 9}
	if got := taken(e); got != "taken from iteration 2: trajectories whose answer names a gold location; mixed with 2 further sources, labels sampled by their weights, each state with the same label once, at most 9 labels of a task" {
		t.Error(got)
	}
	if got := promptWords(relabel.PromptCheck{}); got != "nothing to compare: the student did not act, or its server gave no prompt ids" {
		t.Error(got)
	}
}

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
	if got := promptWords(relabel.PromptCheck{}); got != "nothing to compare: the student did not act, or its server gave no prompt ids" {
		t.Error(got)
	}
}

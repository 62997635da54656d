package repository

import (
	"slices"
	"testing"

	"relabel/codeindex"
)

func TestWhatAnotherMachineMayNotFindIsNotStored(t *testing.T) {
	passing := []codeindex.Problem{codeindex.TooSlow, codeindex.NoParser, codeindex.ParseFail}
	for _, p := range []codeindex.Problem{"", codeindex.Python2, codeindex.Syntax, codeindex.TooLarge, codeindex.TooSlow, codeindex.NotText, codeindex.NoParser, codeindex.ParseFail} {
		if lasting(p) == slices.Contains(passing, p) {
			t.Errorf("%q is lasting: %v", p, lasting(p))
		}
	}
}

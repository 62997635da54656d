package web

import (
	"cmp"

	"relabel"
)

// modeWords describe failure modes in lists, filters, tables and charts.
var modeWords = map[relabel.FailureMode]string{relabel.ModeLoop: "repetitive loop", relabel.ModeOverflow: "context overflow", relabel.ModeBudget: "budget exhausted",
	relabel.ModeNoEdit: "no edit", relabel.ModeOther: "other, not submitted", relabel.ModeSyntax: "syntax or runtime error", relabel.ModeWrongFile: "wrong file",
	relabel.ModeWrongSolution: "wrong solution"}

func modeWord(m relabel.FailureMode) string { return cmp.Or(modeWords[m], string(m)) }

package web_test

import (
	"strings"
	"testing"

	"relabel"
)

// A label that the rule did not select is neither missing nor pending, on every page that has it.
func TestAStateThatTheRuleDidNotSelectIsShownAsSuch(t *testing.T) {
	t.Parallel()
	s := start(t)
	tr, none := s.begin("ruled", "ss")[0], 0.0
	f := s.claim(tr)
	turn := s.turn(1, bash("", "ls"), &relabel.Action{PolicyID: s.run.TeacherID, Status: relabel.NotSelected}, "what it wrote")
	turn.LabelChance = &none
	s.must(s.store.CommitTurn(t.Context(), f, turn))
	s.must(s.store.CommitTurn(t.Context(), f, s.turn(2, bash("", "ls"), s.label(bash("", "ls")), "more")))
	s.end(f, "diff --git a/a b/a\n", relabel.Verdict{Reason: "tests"})
	page := s.get(200, "/trajectories/"+tr.ID.String())
	contains(t, page, "1 label not selected by the label rule", "1 of 1 labels equal", "label not selected", "Not requested: the label rule did not select this state.")
	if strings.Contains(page, "label missing") || strings.Contains(page, "label pending") {
		t.Error("it is shown as missing or pending")
	}
	contains(t, s.get(200, "/iterations/"+tr.IterationID.String()), "<dt>label rule</dt><dd>all</dd>", "1, 1 not selected")
	contains(t, s.get(200, "/runs/"+s.run.ID.String()), "1, 1 not selected")
}

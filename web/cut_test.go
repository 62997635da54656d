package web_test

import (
	"strings"
	"testing"

	"relabel"
)

// A rollout that the label rule ended is shown apart from failures, on every page that has it.
func TestARolloutThatTheRuleEndedIsShownAsSuch(t *testing.T) {
	t.Parallel()
	s := start(t)
	both := s.begin("cut", "s", "s")
	_, err := s.store.Pool().Exec(t.Context(), "UPDATE trajectories SET kappa = 1")
	s.must(err)
	f := s.claim(both[0])
	s.must(s.store.CommitTurn(t.Context(), f, s.turn(1, bash("", "ls"), s.label(bash("", "ls")), "what it wrote")))
	s.must(s.store.EndRollout(t.Context(), f, relabel.Ending{Reason: relabel.EndTeacherTurns}))
	s.must(s.store.BeginVerifying(t.Context(), f))
	s.must(s.store.FinishUnverified(t.Context(), f))
	f = s.claim(both[1])
	s.must(s.store.CommitTurn(t.Context(), f, s.turn(1, bash("", "ls"), s.label(bash("", "ls")), "what it wrote")))
	s.end(f, "diff --git a/a b/a\n", relabel.Verdict{Passed: true, Reason: relabel.VerdictTestsPassed})
	page := s.get(200, "/trajectories/"+both[0].ID.String())
	contains(t, page, "done, ended by the label rule", "Ended by the label rule (all), without a valid submission.")
	if strings.Contains(page, "The verdict is") || strings.Contains(page, "not resolved") {
		t.Error("it has a verdict")
	}
	iteration := "/iterations/" + both[0].IterationID.String()
	contains(t, s.get(200, iteration), "<dt>cut short or skipped</dt>", "verdict=cut\">1</a>", "<dt>rollouts ended by the label rule</dt>", "<dt>valid submissions</dt><dd>1 of 1 (100%)")
	list := s.get(200, "/trajectories?verdict=cut")
	contains(t, list, both[0].InstanceID, "done, ended by the label rule")
	if strings.Contains(list, both[1].InstanceID) {
		t.Error("the filter lists another one")
	}
	contains(t, s.get(200, "/trajectories?end_reason=teacher_turns"), both[0].InstanceID)
	contains(t, s.get(200, "/runs/"+s.run.ID.String()+"/tasks"), "cut short or skipped")
	contains(t, s.get(200, "/runs/"+s.run.ID.String()+"/failures"), "1 cut by the label rule")
}

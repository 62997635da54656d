package web_test

import (
	"testing"

	"relabel"
)

func TestTrajectoriesInATerminalShowTheirReward(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.terminal = &relabel.TerminalTask{Tests: relabel.NewArchive([]byte("tests")), Solution: relabel.NewArchive([]byte("solution")), TestSeconds: 77}
	all := s.begin("terminal", "s", "s")
	full, part := 1.0, 0.25
	s.end(s.claim(all[0]), "{}", relabel.Verdict{Passed: true, Reason: relabel.VerdictTestsPassed, Score: &full, Output: []byte("all well")})
	s.end(s.claim(all[1]), "{}", relabel.Verdict{Reason: relabel.VerdictReward, Score: &part, Altered: []string{"/usr/bin/<b>jq"}, AlteredCount: 1})

	contains(t, s.get(200, "/trajectories/"+all[0].ID.String()), "The reward is 1.", "What the tests found")
	page := s.get(200, "/trajectories/"+all[1].ID.String())
	contains(t, page, "The tests gave the reward 0.25.", "1 programs, libraries or settings of the system differed", "/usr/bin/&lt;b&gt;jq", "score 0.25")
	contains(t, s.get(200, "/runs/"+s.run.ID.String()), "terminal tasks", "revision 1")
	set := s.run.TasksetID.String()
	contains(t, s.get(200, "/tasks/"+set), "tasks in a terminal: 2", "/tasks/"+set+"/images", "/soundness/"+set)
	contains(t, s.get(200, "/tasks/"+set+"/"+all[0].InstanceID), "at most 77 s", "8 bytes")
}

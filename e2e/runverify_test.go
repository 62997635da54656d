package e2e

import (
	"strings"
	"testing"

	"relabel"
	"relabel/policy/scripted"
)

// TestAStoredSubmissionIsGradedAgainInAContainer has a verdict of earlier protections that
// is wrong, and grades its submission again from the command line: the trajectory stays
// done, the new verdict counts, the earlier one is kept.
func TestAStoredSubmissionIsGradedAgainInAContainer(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	m := newModels(t, l, scripted.Config{})
	b := newBench(t, l, m.teacher())
	run := b.run(t, "graded", nil)
	r := b.finish(t, b.start(t, run, b.policy(t, m.student("0.5")), map[string]any{"beta": 1}))
	conn := b.connect(t)
	for _, sql := range []string{
		"UPDATE trajectories SET passed = false, verdict_reason = 'tests', protections = 0",
		"UPDATE verdicts SET passed = false, reason = 'tests', protections = 0"} {
		_, err := conn.Exec(bounded(t), sql)
		noError(t, err)
	}
	said := b.must(t, "run", "verify", "graded")
	if !strings.Contains(said, "2 done, 0 failed; 2 verdicts changed, 0 infrastructure errors") || !strings.Contains(said, "(present)") {
		t.Errorf("run verify said:\n%s", said)
	}
	for _, before := range r.trajectories {
		var after relabel.Trajectory
		noError(t, b.api.get(bounded(t), "/v1/trajectories/"+before.ID.String(), &after))
		var verdicts struct{ Items []relabel.Verdict }
		noError(t, b.api.get(bounded(t), "/v1/trajectories/"+before.ID.String()+"/verdicts", &verdicts))
		if after.State != relabel.Done || after.Attempt != before.Attempt || !*after.Resolved || *after.Protections != relabel.ProtectionsVersion {
			t.Errorf("%s: %+v", before.InstanceID, after)
		}
		if len(verdicts.Items) != 2 || !verdicts.Items[0].Passed || verdicts.Items[1].Passed {
			t.Errorf("%s: %+v", before.InstanceID, verdicts.Items)
		}
	}
	if said := b.must(t, "run", "verify", "graded", "--iteration", "1"); !strings.Contains(said, "2 done") || strings.Contains(said, "3 done") {
		t.Errorf("verdicts of the present protections are graded again:\n%s", said)
	}
	_, err := conn.Exec(bounded(t), "UPDATE regradings SET state = 'failed', tries = 3, changed = NULL, failure = 'the image is missing'")
	noError(t, err)
	said = b.must(t, "run", "verify", "graded", "--status", "--iteration", r.ID.String())
	if before := r.trajectories[0]; !strings.Contains(said, before.ID.String()) || !strings.Contains(said, before.InstanceID) || !strings.Contains(said, "the image is missing") {
		t.Errorf("what could not be graded is not named:\n%s", said)
	}
}

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"relabel"
	"relabel/policy/scripted"
)

// TestAllLabelModesGiveTheSameLabels collects the same round with labels beside the
// rollouts, after them, and from the batch endpoint; then another teacher relabels it.
func TestAllLabelModesGiveTheSameLabels(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	m := newModels(t, l, scripted.Config{Batch: scripted.Batching{Delay: 100 * time.Millisecond}})
	b := newBench(t, l, m.teacher())
	student := b.policy(t, m.student("0.4"))
	round := func(mode string) round {
		m.questions()
		return b.collect(t, b.run(t, mode, map[string]any{"seed": 11, "labels": mode}), student, map[string]any{"beta": 0.4})
	}
	beside := round("inline")
	for _, mode := range []string{"deferred", "batch"} {
		other := round(mode)
		if other.LabellingSince == nil || other.Progress.LabelsReceived != other.Progress.Turns {
			t.Errorf("%s: %+v, labelling since %v", mode, other.Progress, other.LabellingSince)
		}
		for _, j := range beside.trajectories {
			k := slices.IndexFunc(other.trajectories, func(k rolled) bool { return k.InstanceID == j.InstanceID })
			sameTurns(t, relabel.CallForm(mode), j, other.trajectories[k])
			labelsComeLater(t, mode, other.trajectories[k])
		}
		live := 0
		for _, q := range m.questions() {
			if q.Model == scripted.TeacherModel {
				live++
			}
		}
		if mode == "batch" && (live != other.Progress.TeacherTurns || m.server.Batches() != 1) {
			t.Errorf("%d live questions for %d turns of the teacher, %d batches", live, other.Progress.TeacherTurns, m.server.Batches())
		}
	}

	second := m.teacher()
	second.Name = "second"
	second = b.policy(t, second)
	said := l.must(t, "run", "relabel", "inline", "--teacher", "second")
	if want := fmt.Sprintf("agrees with the first label at %d of %d states", beside.Progress.Turns, beside.Progress.Turns); !strings.Contains(said, want) {
		t.Errorf("it says\n%s\nnot %q", said, want)
	}
	var e relabel.Export
	noError(t, b.api.post(t.Context(), "/v1/exports", map[string]any{"run": beside.RunID, "label_policy": "second"}, &e))
	eventually(t, "the export ends", func() bool {
		noError(t, b.api.get(t.Context(), "/v1/exports/"+e.ID.String(), &e))
		return e.State == relabel.ExportDone || e.State == relabel.ExportFailed
	})
	left := 0
	for _, n := range e.Excluded {
		left += n
	}
	if e.State != relabel.ExportDone || e.Rows+left != beside.Progress.Turns || *e.Selection.LabelPolicyID != second.ID {
		t.Errorf("%+v of %d states", e, beside.Progress.Turns)
	}
}

// labelsComeLater checks that no label of a student's turn was requested before the end of
// the rollout.
func labelsComeLater(t *testing.T, mode string, j rolled) {
	t.Helper()
	end := j.turns[len(j.turns)-1].EndedAt
	for _, call := range j.calls {
		if call.Purpose == relabel.PurposeLabel && call.StartedAt.Before(end) {
			t.Errorf("%s: the label of turn %d of %s was asked for before the rollout's end", mode, call.T, j.InstanceID)
		}
	}
}

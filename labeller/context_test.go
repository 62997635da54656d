package labeller_test

import (
	"context"
	"testing"

	"relabel"
	"relabel/labeller"
	"relabel/policy/scripted"
)

// counting makes the policies' tokenizer count the state of turn t as 100·t tokens.
func counting(w *labeller.Labeller) *labeller.Labeller {
	w.World.Count = func(_ context.Context, _ relabel.Policy, state []relabel.Message, _ []relabel.Tool) (int, error) {
		tokens := 100
		for _, m := range state {
			if m.Role == relabel.RoleAssistant {
				tokens += 100
			}
		}
		return tokens, nil
	}
	return w
}

func TestABatchSkipsLabelsWhosePromptDoesNotFit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ context, lines, had, batches int }{
		"the last of three does not fit": {301, 0, 4, 1},
		"in a file of its own each":      {301, 1, 4, 4},
		"one fits in each file":          {101, 1, 2, 2},
		"none fits":                      {100, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEndpoint(t, scripted.Config{})
			e.tokens = c.context
			s, d := waiting(t, e, 2)
			bounds := quick
			bounds.Lines = c.lines
			workOff(t, s, counting(worker(s, s, "w", bounds)))
			got := labels(t, s, d)
			for at, l := range got {
				if l.Status == relabel.Missing && l.Reason != string(relabel.CodeContextOverflow) {
					t.Errorf("%s is missing: %q", at, l.Reason)
				}
			}
			if count(got, relabel.Received) != c.had || count(got, relabel.Missing) != 6-c.had || e.Asked(scripted.TeacherModel) != c.had || e.Batches() != c.batches {
				t.Errorf("%d received and %d missing of %d batches and %d questions", count(got, relabel.Received), count(got, relabel.Missing), e.Batches(), e.Asked(scripted.TeacherModel))
			}
			for _, tr := range d.Trajectories {
				if tr, err := s.FindTrajectory(t.Context(), tr.ID); err != nil || tr.State != relabel.Queued {
					t.Errorf("a trajectory that owes nothing is %s, %v", tr.State, err)
				}
			}
			batches, err := s.ListBatches(t.Context(), d.Iteration.ID)
			must(t, err)
			for _, b := range batches {
				if b.State != relabel.BatchDone {
					t.Errorf("a batch is %s: %s", b.State, b.Detail)
				}
			}
		})
	}
}

func TestARelabelingSkipsStatesThatDoNotFit(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, d := done(t)
	e := newEndpoint(t, scripted.Config{})
	e.tokens = 401 // four of six states
	other := e.policy(t, s, "other")
	re, err := s.RelabelTrajectory(ctx, d.Trajectories[0].ID, other.ID, 0)
	must(t, err)
	must(t, counting(worker(s, s, "w", quick)).Relabel(ctx))
	re, err = s.FindRelabeling(ctx, re.ID)
	must(t, err)
	if re.State != relabel.RelabelDone || re.Received != 4 || e.asked.Load() != 4 {
		t.Errorf("%+v after %d questions", re, e.asked.Load())
	}
	overflows := 0
	for _, said := range others(t, s, re.TrajectoryID) {
		if said == "missing context_overflow" {
			overflows++
		}
	}
	calls, err := s.ListCalls(ctx, re.TrajectoryID)
	must(t, err)
	if overflows != 2 || len(calls) != 4 {
		t.Errorf("%q, of %d calls", others(t, s, re.TrajectoryID), len(calls))
	}
	for _, c := range calls {
		near := c.T > 2
		if c.Size == nil || (c.Size.By == relabel.SizeByTokenizer) != near || near && c.Size.Tokens != 100*c.T {
			t.Errorf("the prompt of turn %d is recorded as %+v", c.T, c.Size)
		}
	}
}

func TestUncountablePromptsAreRecordedAsEstimated(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, d := done(t)
	e := newEndpoint(t, scripted.Config{})
	e.tokens = 200
	re, err := s.RelabelTrajectory(ctx, d.Trajectories[0].ID, e.policy(t, s, "other").ID, 0)
	must(t, err)
	w := worker(s, s, "w", quick)
	w.World.Count = func(context.Context, relabel.Policy, []relabel.Message, []relabel.Tool) (int, error) {
		return 0, relabel.Errorf(relabel.CodeInvalid, "the prompt cannot be rendered: no")
	}
	must(t, w.Relabel(ctx))
	calls, err := s.ListCalls(ctx, re.TrajectoryID)
	must(t, err)
	if len(calls) != 6 {
		t.Fatalf("%d calls", len(calls))
	}
	for _, c := range calls {
		if c.Size == nil || c.Size.By != relabel.SizeByBytes || c.Size.NotCounted != "the prompt cannot be rendered: no" {
			t.Errorf("the prompt of turn %d is recorded as %+v", c.T, c.Size)
		}
	}
}

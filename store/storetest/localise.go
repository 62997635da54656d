package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/store"
)

// SeedLocalise stores a run of recipe grpo whose sample 1 has a queued trajectory of each of n tasks to
// localise, with the gold functions a.py::f and b.go::g.
func SeedLocalise(t testing.TB, s *store.Store, n int) Seeded {
	t.Helper()
	return SeedWith(t, s, n, func(d *Seeded) {
		d.Taskset = relabel.Taskset{ID: relabel.NewID(), Name: "localise " + relabel.NewID().String(), Kind: relabel.Localise, Digest: strings.Repeat("cd", 32)}
		for i := range d.Tasks {
			d.Tasks[i] = relabel.Task{ID: relabel.NewID(), TasksetID: d.Taskset.ID, Kind: relabel.Localise, InstanceID: fmt.Sprintf("owner__repo-%04d", i), Repo: "owner/repo",
				BaseCommit: strings.Repeat("0", 40), ProblemStatement: "It does not work.", GoldFiles: []string{"a.py", "b.go"}, GoldFunctions: []string{"a.py::f", "b.go::g"}}
			d.Trajectories[i].TaskID, d.Trajectories[i].Kind, d.Trajectories[i].Executors = d.Tasks[i].ID, relabel.Sample, "ssssss"
		}
		must(t, s.CreateTaskset(context.Background(), d.Taskset, relabel.TaskList(d.Tasks)))
		d.Run.TaskKind, d.Run.Limits = relabel.Localise, relabel.Localise.DefaultLimits()
		d.Run.TasksetID, d.Run.Scaffold, d.Run.Recipe, d.Run.TeacherID, d.Run.Beta = d.Taskset.ID, "reposearcher", relabel.GRPO, relabel.ID{}, nil
		d.Iteration.Kind, d.Iteration.Beta = relabel.Sample, nil
	})
}

// Localise takes a claimed trajectory to done: a call that succeeds, one that fails, the end of the
// search, and then the list, with a score. Without a list nothing is submitted.
func Localise(t testing.TB, s *store.Store, c relabel.Claim, score float64, list ...string) {
	t.Helper()
	ctx := context.Background()
	for i, observations := range [][]relabel.Observation{{{Tool: "SearchFunction", Content: "def f(): ..."}, {Tool: "SearchClass", Content: "error", Failed: true}}, {{Tool: "Exit", Content: "ended"}}} {
		turn := Turn(c, i+1, nil)
		turn.Label, turn.Observations = nil, observations
		for k := range observations {
			observations[k].CallID = relabel.CallID(i+1, k)
		}
		must(t, s.CommitTurn(ctx, c.Fence, turn))
	}
	end := relabel.Ending{Reason: relabel.EndMaxTurns}
	verdict := relabel.Verdict{Reason: relabel.VerdictNoAnswer, Score: &score, Hits: new(0)}
	if len(list) > 0 {
		end = relabel.Ending{Reason: relabel.EndFinish, Patch: []byte(strings.Join(list, "\n") + "\n"), Submitted: true}
		verdict.Reason = relabel.VerdictScored
	}
	for _, name := range list {
		hit := slices.Contains(c.Task.GoldFunctions, name)
		verdict.Ranking = append(verdict.Ranking, relabel.Location{Name: name, Known: true, Hit: hit})
		if hit {
			*verdict.Hits++
		}
	}
	must(t, s.EndRollout(ctx, c.Fence, end))
	must(t, s.BeginVerifying(ctx, c.Fence))
	must(t, s.Finish(ctx, c.Fence, verdict))
}

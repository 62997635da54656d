package store_test

import (
	"context"
	"fmt"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

// TestAnExportKnowsGroupsOfMixedReward: a group is the trajectories of a task in an
// iteration; a trajectory that failed or has no verdict makes it smaller.
func TestAnExportKnowsGroupsOfMixedReward(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ctx := context.Background()
	d := storetest.Seed(t, s, 4)
	p := relabel.PlannedIteration{Iteration: d.Iteration}
	p.Iteration.ID, p.Iteration.Number, p.Iteration.Generations = relabel.NewID(), 2, 3
	rewards := []string{"yn-", "yyf", "nnn", "yus"} // of each task: resolved, not resolved, without a verdict, failed, not to be verified without and with a submission
	for i, group := range rewards {
		for g := range group {
			p.Trajectories = append(p.Trajectories, relabel.Trajectory{ID: relabel.NewID(), TaskID: d.Tasks[i].ID, Generation: g, Executors: "sss", SkipVerify: group[g] == 'u' || group[g] == 's'})
		}
	}
	must(t, s.CreateIteration(ctx, p))
	for i, tr := range p.Trajectories {
		c := storetest.Claim(t, s, tr.ID, "w")
		switch reward := rewards[i/3][i%3]; reward {
		case 'f':
			must(t, s.Fail(ctx, c.Fence, relabel.FailEndpoint, ""))
		case 'u', 's':
			label := storetest.Received(c.Teacher.ID, "label")
			must(t, s.CommitTurn(ctx, c.Fence, storetest.Turn(c, 1, &label)))
			must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndFinish, Patch: []byte("p"), Submitted: reward == 's'}))
			must(t, s.BeginVerifying(ctx, c.Fence))
			must(t, s.FinishUnverified(ctx, c.Fence))
		default:
			storetest.Finish(t, s, c, 1, reward == 'y')
		}
	}
	exec(t, s, "UPDATE trajectories SET passed = NULL, verdict_reason = NULL, protections = NULL WHERE id = $1", p.Trajectories[2].ID)
	sel := relabel.ExportSelection{RunID: d.Run.ID, Iteration: 2, MixedRewards: true}
	got := ""
	for e, err := range s.Exported(ctx, sel) {
		must(t, err)
		if e.Group.First {
			got += fmt.Sprint(e.Task.InstanceID, " ", e.Group.HasMixedRewards(), " ")
		}
	}
	want := ""
	for i := range rewards {
		want += fmt.Sprint(d.Tasks[i].InstanceID, " ", i == 0, " ")
	}
	if got != want {
		t.Errorf("groups are %q, not %q", got, want)
	}
	sel.MixedRewards = false
	for e, err := range s.Exported(ctx, sel) {
		must(t, err)
		if e.Group != nil {
			t.Errorf("a group %+v that nobody asked about", e.Group)
		}
	}
}

package store_test

import (
	"context"
	"strings"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

func TestTasksAreListedWithWhatCameOfThem(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.SeedWith(t, s, 4, nil)
	storetest.Finish(t, s, storetest.Claim(t, s, d.Trajectories[1].ID, "w"), 2, true)
	exec(t, s, "ALTER TABLE tasks DISABLE TRIGGER USER")
	exec(t, s, "UPDATE tasks SET held_out = true, repo = 'Other/Thing', problem_statement = $2 WHERE id = $1", d.Tasks[2].ID, []byte("\xff\x00"+strings.Repeat("ä", 900)))
	list := func(f relabel.TaskFilter, p relabel.Page) ([]relabel.TaskHead, string) {
		heads, next, err := s.ListTaskHeads(ctx, d.Taskset.ID, f, p)
		must(t, err)
		return heads, next
	}
	first, next := list(relabel.TaskFilter{}, relabel.Page{Limit: 3})
	rest, none := list(relabel.TaskFilter{}, relabel.Page{Limit: 3, After: next})
	if len(first) != 3 || len(rest) != 1 || none != "" || rest[0].ID != d.Tasks[3].ID || first[1].Outcomes != (relabel.GridCell{Resolved: 1, Only: first[1].Outcomes.Only}) ||
		*first[1].Outcomes.Only != d.Trajectories[1].ID || first[0].Outcomes.Queued != 1 || first[0].Begins != d.Tasks[0].ProblemStatement {
		t.Errorf("%+v, %+v, %q", first, rest, none)
	}
	if odd := first[2]; len([]rune(odd.Begins)) != 300 || !strings.HasPrefix(odd.Begins, "\ufffd\u2400ä") || !odd.HeldOut {
		t.Errorf("%+v", odd)
	}
	yes := true
	for _, f := range []relabel.TaskFilter{{Part: "other/t"}, {HeldOut: &yes}, {Part: "REPO-0002"}} {
		if heads, _ := list(f, relabel.Page{}); len(heads) != 1 || heads[0].ID != d.Tasks[2].ID {
			t.Errorf("%+v lists %+v", f, heads)
		}
	}
	if heads, _ := list(relabel.TaskFilter{Part: "%"}, relabel.Page{}); len(heads) != 0 {
		t.Errorf("a sign of patterns lists %+v", heads)
	}
	set, err := s.FindTasksetByName(ctx, d.Taskset.Name)
	must(t, err)
	task, err := s.FindTaskByInstance(ctx, set.ID, d.Tasks[1].InstanceID)
	must(t, err)
	if task.ID != d.Tasks[1].ID {
		t.Errorf("%+v", task)
	}
	_, err = s.FindTasksetByName(ctx, "no\x00ne")
	wantCode(t, err, relabel.CodeNotFound)
	_, err = s.FindTaskByInstance(ctx, set.ID, "none")
	wantCode(t, err, relabel.CodeNotFound)
	_, _, err = s.ListTaskHeads(ctx, set.ID, relabel.TaskFilter{}, relabel.Page{After: "!"})
	wantCode(t, err, relabel.CodeInvalid)
}

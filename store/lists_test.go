package store_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// scatter ends trajectories in every way there is, a different one for each.
func scatter(t *testing.T, s *store.Store, d storetest.Seeded) {
	t.Helper()
	ctx := context.Background()
	for i, tr := range d.Trajectories {
		if i%7 == 0 {
			continue // queued
		}
		c := storetest.Claim(t, s, tr.ID, "w")
		switch i % 7 {
		case 1, 2:
			storetest.Finish(t, s, c, 1, i%7 == 1)
		case 3:
			must(t, s.Fail(ctx, c.Fence, relabel.FailEnvironment, "gone"))
		case 4:
			must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndMaxTurns}))
			must(t, s.Fail(ctx, c.Fence, relabel.FailVerifier, "gone"))
		case 5:
			must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndContext}))
		}
	}
}

func TestPagesStayStableWhileRowsAreInserted(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	for range 3 {
		storetest.Seed(t, s, 5)
	}
	before := pages(t, s, relabel.TrajectoryFilter{}, relabel.Newest, 500)
	var read []relabel.Trajectory
	p := relabel.Page{Limit: 4}
	for {
		list, err := s.ListTrajectories(ctx, relabel.TrajectoryFilter{}, relabel.Newest, p)
		must(t, err)
		read = append(read, list.Items...)
		if p.After = list.Next; list.Next == "" {
			break
		}
		storetest.Seed(t, s, 3) // newer: it belongs before the first page
	}
	if !slices.Equal(ids(read), ids(before)) {
		t.Errorf("read %v, not %v", ids(read), ids(before))
	}
}

func TestABadPageIsRefused(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 3)
	first, err := s.ListTrajectories(ctx, relabel.TrajectoryFilter{}, relabel.Newest, relabel.Page{Limit: 1})
	must(t, err)
	for _, p := range []relabel.Page{{After: "!"}, {After: "AAAA"}, {Limit: -1}, {Limit: 501}, {Before: "AAAA"}, {After: first.Next, Before: first.Next},
		{After: "AAD__________________________________"}, {After: "AAFfffffffffffffffffffffffffffffffffff"}} {
		_, err := s.ListTrajectories(ctx, relabel.TrajectoryFilter{}, relabel.Newest, p)
		wantCode(t, err, relabel.CodeInvalid)
	}
	_, err = s.ListTrajectories(ctx, relabel.TrajectoryFilter{}, relabel.MostTurns, relabel.Page{After: first.Next}) // of another sort
	wantCode(t, err, relabel.CodeInvalid)
	_, err = s.ListTrajectories(ctx, relabel.TrajectoryFilter{}, "best", relabel.Page{})
	wantCode(t, err, relabel.CodeInvalid)
	_, _, err = s.ListTasks(ctx, d.Taskset.ID, 0, relabel.Page{After: "!"})
	wantCode(t, err, relabel.CodeInvalid)
	list, err := s.ListTrajectories(ctx, relabel.TrajectoryFilter{InstanceID: "\x00\xff"}, relabel.Newest, relabel.Page{})
	must(t, err)
	if len(list.Items) != 0 || list.Total != 0 || list.Of != 3 {
		t.Errorf("found %+v", list)
	}
}

func TestEveryOtherListPagesNewestFirst(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	var want struct{ runs, sets, policies, exports []relabel.ID }
	for i := range 5 {
		d := storetest.Seed(t, s, 1)
		p := storetest.Policy(t, s, fmt.Sprintf("policy %d", i))
		e := relabel.Export{ID: relabel.NewID(), Selection: relabel.ExportSelection{RunID: d.Run.ID}, FolderID: "f", Directory: "d"}
		must(t, s.CreateExport(ctx, e))
		want.runs, want.sets = slices.Insert(want.runs, 0, d.Run.ID), slices.Insert(want.sets, 0, d.Taskset.ID)
		want.policies, want.exports = slices.Insert(want.policies, 0, p.ID), slices.Insert(want.exports, 0, e.ID)
	}
	walk(t, "runs", want.runs, s.ListRuns, func(r relabel.Run) relabel.ID { return r.ID })
	walk(t, "tasksets", want.sets, s.ListTasksets, func(x relabel.Taskset) relabel.ID { return x.ID })
	walk(t, "exports", want.exports, func(ctx context.Context, p relabel.Page) ([]relabel.Export, string, error) {
		return s.ListExports(ctx, relabel.ExportFilter{}, p)
	}, func(e relabel.Export) relabel.ID { return e.ID })
	all := func(ctx context.Context, p relabel.Page) ([]relabel.Policy, string, error) {
		return s.ListPolicies(ctx, p)
	}
	list, _, err := all(ctx, relabel.Page{})
	must(t, err)
	if len(list) != 7 { // with the seeds' teacher and student, the same for all
		t.Fatalf("%d policies", len(list))
	}
	walk(t, "policies", []relabel.ID{list[0].ID, list[1].ID, list[2].ID, list[3].ID, list[4].ID, list[5].ID, list[6].ID}, all, func(p relabel.Policy) relabel.ID { return p.ID })
	if list[0].ID != want.policies[0] {
		t.Errorf("the newest policy is %s", list[0].Name)
	}
}

func walk[T any](t *testing.T, what string, want []relabel.ID, list func(context.Context, relabel.Page) ([]T, string, error), id func(T) relabel.ID) {
	t.Helper()
	var got []relabel.ID
	for p := (relabel.Page{Limit: 2}); ; {
		items, next, err := list(context.Background(), p)
		must(t, err)
		for _, item := range items {
			got = append(got, id(item))
		}
		if p.After = next; next == "" {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, not %v", what, got, want)
	}
}

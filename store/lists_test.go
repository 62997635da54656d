package store_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

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

// passes is the filter as a plain reading of it.
func passes(f relabel.TrajectoryFilter, t relabel.Trajectory) bool {
	same := func(want, got *bool) bool { return want == nil || got != nil && *want == *got }
	return (f.RunID == nil || *f.RunID == t.RunID) && (f.IterationID == nil || *f.IterationID == t.IterationID) &&
		(f.TaskID == nil || *f.TaskID == t.TaskID) && (f.InstanceID == "" || f.InstanceID == t.InstanceID) &&
		(f.State == "" || f.State == t.State) && (f.EndReason == "" || f.EndReason == t.EndReason) &&
		(f.Failure == "" || f.Failure == t.Failure) && (f.Verdict == "" || f.Verdict == t.Verdict) && same(f.Submitted, t.Submitted)
}

func TestAFilterLetsThroughWhatItSays(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	seeds := []storetest.Seeded{storetest.Seed(t, s, 15), storetest.Seed(t, s, 8)}
	for _, d := range seeds {
		scatter(t, s, d)
	}
	all := pages(t, s, relabel.TrajectoryFilter{}, 500)
	if len(all) != 23 {
		t.Fatalf("%d trajectories", len(all))
	}
	rapid.Check(t, func(rt *rapid.T) {
		like := rapid.SampledFrom(all).Draw(rt, "like")
		var f relabel.TrajectoryFilter
		for _, field := range rapid.SliceOfN(rapid.IntRange(0, 8), 0, 3).Draw(rt, "fields") {
			switch field {
			case 0:
				f.RunID = &like.RunID
			case 1:
				f.IterationID = &like.IterationID
			case 2:
				f.TaskID = &like.TaskID
			case 3:
				f.InstanceID = like.InstanceID
			case 4:
				f.State = like.State
			case 5:
				f.EndReason = like.EndReason
			case 6:
				f.Failure = like.Failure
			case 7:
				f.Verdict = like.Verdict
			case 8:
				f.Submitted = like.Submitted
			}
		}
		var want []relabel.ID
		for _, tr := range all {
			if passes(f, tr) {
				want = append(want, tr.ID)
			}
		}
		var got []relabel.ID
		for _, tr := range pages(t, s, f, rapid.IntRange(1, 9).Draw(rt, "limit")) {
			got = append(got, tr.ID)
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("%+v let through %v, not %v", f, got, want)
		}
	})
}

// pages reads a whole list, page by page.
func pages(t *testing.T, s *store.Store, f relabel.TrajectoryFilter, limit int) (all []relabel.Trajectory) {
	t.Helper()
	p := relabel.Page{Limit: limit}
	for {
		list, next, err := s.ListTrajectories(context.Background(), f, p)
		must(t, err)
		if len(list) > limit {
			t.Fatalf("a page of %d has %d items", limit, len(list))
		}
		all = append(all, list...)
		if p.After = next; next == "" {
			return all
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
	before := pages(t, s, relabel.TrajectoryFilter{}, 500)
	var read []relabel.Trajectory
	p := relabel.Page{Limit: 4}
	for {
		list, next, err := s.ListTrajectories(ctx, relabel.TrajectoryFilter{}, p)
		must(t, err)
		read = append(read, list...)
		if p.After = next; next == "" {
			break
		}
		storetest.Seed(t, s, 3) // newer: it belongs before the first page
	}
	ids := func(list []relabel.Trajectory) (ids []relabel.ID) {
		for _, tr := range list {
			ids = append(ids, tr.ID)
		}
		return ids
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
	for _, p := range []relabel.Page{{After: "!"}, {After: "AAAA"}, {Limit: -1}, {Limit: 501}, {After: "f_______________________________"}} {
		_, _, err := s.ListTrajectories(ctx, relabel.TrajectoryFilter{}, p)
		wantCode(t, err, relabel.CodeInvalid)
	}
	_, _, err := s.ListTasks(ctx, d.Taskset.ID, relabel.Page{After: "!"})
	wantCode(t, err, relabel.CodeInvalid)
	list, _, err := s.ListTrajectories(ctx, relabel.TrajectoryFilter{InstanceID: "\x00\xff"}, relabel.Page{})
	must(t, err)
	if len(list) != 0 {
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
	walk(t, "exports", want.exports, s.ListExports, func(e relabel.Export) relabel.ID { return e.ID })
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

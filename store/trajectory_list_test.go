package store_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

func ids(list []relabel.Trajectory) (ids []relabel.ID) {
	for _, tr := range list {
		ids = append(ids, tr.ID)
	}
	return ids
}

// passes is the filter as a plain reading of it.
func passes(f relabel.TrajectoryFilter, t relabel.Trajectory) bool {
	same := func(want, got *bool) bool { return want == nil || got != nil && *want == *got }
	agreement := func(ok func(float64) bool) bool { return t.Agreement != nil && ok(*t.Agreement) }
	return (f.RunID == nil || *f.RunID == t.RunID) && (f.IterationID == nil || *f.IterationID == t.IterationID) &&
		(f.IterationNumber == 0 || f.IterationNumber == t.Iteration) &&
		(f.TaskID == nil || *f.TaskID == t.TaskID) && (f.InstanceID == "" || f.InstanceID == t.InstanceID) &&
		strings.Contains(strings.ToLower(t.InstanceID), strings.ToLower(f.InstancePart)) &&
		(f.State == "" || f.State == t.State) && (f.EndReason == "" || f.EndReason == t.EndReason) &&
		(f.Failure == "" || f.Failure == t.Failure) && (f.Verdict == "" || f.Verdict == t.Verdict) && same(f.Submitted, t.Submitted) &&
		(!f.LabelsMissing || t.LabelsMissing > 0) && (f.Flag == "" || len(t.Flags) > 0) && (f.Reviewed == nil || *f.Reviewed == (len(t.Flags) > 0)) &&
		strings.Contains(strings.ToLower(strings.Join(append([]string{t.InstanceID, t.FailureDetail}, t.Flags...), "\n")), strings.ToLower(f.Text)) &&
		(f.MinTurns == nil || t.Turns >= *f.MinTurns) && (f.MaxTurns == nil || t.Turns <= *f.MaxTurns) &&
		(f.MinAgreement == nil || agreement(func(a float64) bool { return a >= *f.MinAgreement })) &&
		(f.MaxAgreement == nil || agreement(func(a float64) bool { return a <= *f.MaxAgreement }))
}

// drawFilter draws a filter that lets like through, mostly.
func drawFilter(rt *rapid.T, like relabel.Trajectory) (f relabel.TrajectoryFilter) {
	half := 0.5
	for _, field := range rapid.SliceOfN(rapid.IntRange(0, 18), 0, 3).Draw(rt, "fields") {
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
		case 9:
			f.LabelsMissing = true
		case 10:
			f.MinTurns = &like.Turns
		case 11:
			f.MaxTurns = &like.Turns
		case 12:
			f.MinAgreement = &half
		case 13:
			f.MaxAgreement = &half
		case 14:
			f.InstancePart = strings.ToUpper(like.InstanceID[:5])
		case 15:
			f.IterationNumber = like.Iteration
		case 16:
			f.Text = strings.ToUpper(append(like.Flags, like.FailureDetail, like.InstanceID)[0])
		case 17:
			f.Flag = relabel.AnyFlag
		case 18:
			yes := len(like.Flags) > 0
			f.Reviewed = &yes
		}
	}
	return f
}

// compare orders two trajectories as the sort says, in plain words.
func compare(sort relabel.TrajectorySort, a, b relabel.Trajectory) int {
	figure := func(t relabel.Trajectory) (v float64, there bool) {
		switch sort {
		case relabel.MostTurns, relabel.FewestTurns:
			return float64(t.Turns), t.EndedAt != nil
		case relabel.MostTokens, relabel.FewestTokens:
			return float64(t.Tokens), t.EndedAt != nil
		case relabel.HighestAgreement, relabel.LowestAgreement:
			if t.Agreement != nil {
				return *t.Agreement, t.EndedAt != nil
			}
		case relabel.EarliestDifference, relabel.LatestDifference:
			if t.FirstDiffers != nil {
				return float64(*t.FirstDiffers), t.EndedAt != nil
			}
		}
		return 0, false
	}
	x, hasX := figure(a)
	y, hasY := figure(b)
	made := cmp.Or(a.CreatedAt.Compare(b.CreatedAt), slices.Compare(a.ID[:], b.ID[:]))
	switch {
	case sort == relabel.Oldest:
		return made
	case hasX != hasY && hasX:
		return -1
	case hasX != hasY:
		return 1
	case !hasX:
		return -made
	}
	order := cmp.Or(cmp.Compare(x, y), slices.Compare(a.ID[:], b.ID[:]))
	if slices.Contains([]relabel.TrajectorySort{relabel.MostTurns, relabel.MostTokens, relabel.HighestAgreement, relabel.LatestDifference}, sort) {
		return -order
	}
	return order
}

// TestAListIsItsFilterSorted holds every sort of every filter, page by page to the end and
// back to the beginning, to a plain reading of both.
func TestAListIsItsFilterSorted(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	storetest.SeedCrowd(t, s, 200, 3)
	scatter(t, s, storetest.Seed(t, s, 15))
	exec(t, s, "INSERT INTO reviews SELECT gen_random_uuid(), id, NULL, 'flag ' || abs(hashtext(id::text)) % 3, '', '' FROM trajectories ORDER BY id LIMIT 30")
	all := pages(t, s, relabel.TrajectoryFilter{}, relabel.Newest, 500)
	if len(all) != 235 {
		t.Fatalf("%d trajectories", len(all))
	}
	rapid.Check(t, func(rt *rapid.T) {
		f := drawFilter(rt, rapid.SampledFrom(all).Draw(rt, "like"))
		sort := rapid.SampledFrom(relabel.TrajectorySorts).Draw(rt, "sort")
		var want []relabel.Trajectory
		for _, tr := range all {
			if passes(f, tr) {
				want = append(want, tr)
			}
		}
		slices.SortFunc(want, func(a, b relabel.Trajectory) int { return compare(sort, a, b) })
		limit := rapid.IntRange(1, 40).Draw(rt, "limit")
		if len(want) > 100 {
			limit = 40
		}
		if got := pages(t, s, f, sort, limit); !slices.Equal(ids(got), ids(want)) {
			rt.Fatalf("%+v by %s: %v, not %v", f, sort, ids(got), ids(want))
		}
	})
}

// pages reads a whole list, page by page, and all pages but the last backwards too.
func pages(t *testing.T, s *store.Store, f relabel.TrajectoryFilter, sort relabel.TrajectorySort, limit int) (all []relabel.Trajectory) {
	t.Helper()
	p := relabel.Page{Limit: limit}
	var last relabel.TrajectoryPage
	for {
		list, err := s.ListTrajectories(context.Background(), f, sort, p)
		must(t, err)
		if len(list.Items) > limit || (list.Previous == "") != (len(all) == 0) {
			t.Fatalf("a page of %d has %d items, previous %q", limit, len(list.Items), list.Previous)
		}
		all, last = append(all, list.Items...), list
		if p.After = list.Next; list.Next == "" {
			break
		}
	}
	if last.Total != len(all) || !last.Exact {
		t.Fatalf("%d rows are counted as %d of %d", len(all), last.Total, last.Of)
	}
	for at := len(all) - len(last.Items); last.Previous != ""; at -= limit {
		var err error
		last, err = s.ListTrajectories(context.Background(), f, sort, relabel.Page{Before: last.Previous, Limit: limit})
		must(t, err)
		if at < limit || last.Next == "" || !slices.Equal(ids(last.Items), ids(all[at-limit:at])) {
			t.Fatalf("%+v by %s: the page before row %d is %v", f, sort, at, ids(last.Items))
		}
	}
	return all
}

// TestATextIsLookedForWhereATrajectoryHasShortOnes: in its task's name, in why it or its
// verifier failed, and in what people say of it.
func TestATextIsLookedForWhereATrajectoryHasShortOnes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 4)
	claimed := func(i int) relabel.Claim { return storetest.Claim(t, s, d.Trajectories[i].ID, "w") }
	must(t, s.Fail(ctx, claimed(0).Fence, relabel.FailEndpoint, "503 Überlast"))
	c := claimed(1)
	must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndNoCall}))
	must(t, s.BeginVerifying(ctx, c.Fence))
	must(t, s.Finish(ctx, c.Fence, relabel.Verdict{Infra: "no space left on the device"}))
	must(t, s.CreateReview(ctx, relabel.Review{ID: relabel.NewID(), TrajectoryID: d.Trajectories[2].ID, Note: "it peeks at 100% of the tests", Author: "Kim"}))
	for text, want := range map[string][]int{"503 ÜberLAST": {0}, "SPACE LEFT": {1}, "0% of": {2}, " kim ": {2}, "nothing has this": nil, "REPO-0003": {3}} {
		list, err := s.ListTrajectories(ctx, relabel.TrajectoryFilter{Text: text}, relabel.Oldest, relabel.Page{})
		must(t, err)
		var found []relabel.ID
		for _, i := range want {
			found = append(found, d.Trajectories[i].ID)
		}
		if !slices.Equal(ids(list.Items), found) || list.Total != len(want) {
			t.Errorf("%q is found in %d: %v", text, list.Total, ids(list.Items))
		}
	}
}

package store_test

import (
	"context"
	"slices"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

func TestAReviewIsWrittenEditedAndRemoved(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 2)
	storetest.Finish(t, s, storetest.Claim(t, s, d.Trajectories[0].ID, "w"), 3, true)
	note := "<script>alert(1)</script>\x1b[31m\u202egnp.exe\n'; DROP TABLE reviews; --"
	r := relabel.Review{ID: relabel.NewID(), TrajectoryID: d.Trajectories[0].ID, T: new(3), Flag: "leak", Note: note, Author: "Ada \"<b>\""}
	must(t, s.CreateReview(ctx, r))
	got, err := s.FindReview(ctx, r.TrajectoryID, r.ID)
	must(t, err)
	if got.RunID != d.Run.ID || got.InstanceID != d.Tasks[0].InstanceID || *got.T != 3 || got.Flag != "leak" || got.Note != note || got.Author != r.Author || got.EditedAt != nil {
		t.Errorf("%+v", got)
	}
	same, err := s.EditReview(ctx, r)
	must(t, err)
	if same.EditedAt != nil {
		t.Error("what says the same as before is no edit")
	}
	r.T, r.Flag, r.Note = nil, "", "none after all"
	edited, err := s.EditReview(ctx, r)
	must(t, err)
	if edited.T != nil || edited.Flag != "" || edited.Note != r.Note || edited.EditedAt == nil || !edited.CreatedAt.Equal(got.CreatedAt) {
		t.Errorf("%+v", edited)
	}

	other := r
	other.TrajectoryID = d.Trajectories[1].ID // another's review
	_, err = s.EditReview(ctx, other)
	wantCode(t, err, relabel.CodeNotFound)
	wantCode(t, s.DeleteReview(ctx, other.TrajectoryID, r.ID), relabel.CodeNotFound)
	other.TrajectoryID = relabel.NewID()
	wantCode(t, s.CreateReview(ctx, other), relabel.CodeNotFound)
	other.TrajectoryID, other.T = d.Trajectories[0].ID, new(4)
	wantCode(t, s.CreateReview(ctx, other), relabel.CodeInvalid)
	_, err = s.EditReview(ctx, other)
	wantCode(t, err, relabel.CodeInvalid)
	wantCode(t, s.CreateReview(ctx, relabel.Review{TrajectoryID: r.TrajectoryID}), relabel.CodeInvalid)

	must(t, s.DeleteReview(ctx, r.TrajectoryID, r.ID))
	wantCode(t, s.DeleteReview(ctx, r.TrajectoryID, r.ID), relabel.CodeNotFound)
}

func TestReviewsAreFilteredAndPaged(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	a, b := storetest.Seed(t, s, 2), storetest.Seed(t, s, 1)
	var all []relabel.Review
	say := func(trajectory relabel.ID, flag, note string) {
		r := relabel.Review{ID: relabel.NewID(), TrajectoryID: trajectory, Flag: flag, Note: note}
		must(t, s.CreateReview(ctx, r))
		all = slices.Insert(all, 0, r)
	}
	say(a.Trajectories[0].ID, "leak", "")
	say(a.Trajectories[0].ID, "wrong-label", "twice")
	say(a.Trajectories[0].ID, "leak", "another sees it too")
	say(a.Trajectories[1].ID, "", "only a note")
	say(b.Trajectories[0].ID, "leak", "")
	for name, f := range map[string]relabel.ReviewFilter{"all": {}, "run": {RunID: &a.Run.ID}, "trajectory": {TrajectoryID: &a.Trajectories[0].ID},
		"flag": {Flag: "leak"}, "any flag": {Flag: relabel.AnyFlag}, "run and flag": {RunID: &a.Run.ID, Flag: "leak"}, "none": {Flag: "nobody"}} {
		var want []relabel.ID
		for _, r := range all {
			in := f.RunID == nil || r.TrajectoryID != b.Trajectories[0].ID
			in = in && (f.TrajectoryID == nil || *f.TrajectoryID == r.TrajectoryID)
			if in && (f.Flag == "" || f.Flag == r.Flag || f.Flag == relabel.AnyFlag && r.Flag != "") {
				want = append(want, r.ID)
			}
		}
		walk(t, name, want, func(ctx context.Context, p relabel.Page) ([]relabel.Review, string, error) {
			return s.ListReviews(ctx, f, p)
		},
			func(r relabel.Review) relabel.ID { return r.ID })
	}
	for flag, want := range map[string]int{"leak": 2, "wrong-label": 1, relabel.AnyFlag: 2, "\x00": 0} {
		list, err := s.ListTrajectories(ctx, relabel.TrajectoryFilter{Flag: flag}, relabel.Newest, relabel.Page{})
		must(t, err)
		if len(list.Items) != want {
			t.Errorf("%d trajectories are flagged %q, not %d", len(list.Items), flag, want)
		}
	}
	for _, reviewed := range []bool{true, false} {
		list, err := s.ListTrajectories(ctx, relabel.TrajectoryFilter{Reviewed: &reviewed}, relabel.Newest, relabel.Page{})
		must(t, err)
		want := value[int](t, s, "SELECT count(*) FROM trajectories WHERE $1 = EXISTS (SELECT FROM reviews WHERE trajectory_id = trajectories.id)", reviewed)
		if len(list.Items) != want {
			t.Errorf("%d trajectories are reviewed: %v, not %d", len(list.Items), reviewed, want)
		}
	}
}

// What was flagged when an export is cut is in its parts; what is flagged later is not.
func TestAnExportKeepsTheFlagsOfItsCut(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 2)
	for _, tr := range d.Trajectories {
		storetest.Finish(t, s, storetest.Claim(t, s, tr.ID, "w"), 3, true)
	}
	first, second := d.Trajectories[0].ID, d.Trajectories[1].ID
	for range 2 { // two people, one flag
		must(t, s.CreateReview(ctx, relabel.Review{TrajectoryID: first, T: new(2), Flag: "wrong-label"}))
	}
	must(t, s.CreateReview(ctx, relabel.Review{TrajectoryID: first, Note: "fine"}))
	must(t, s.CreateReview(ctx, relabel.Review{TrajectoryID: second, Flag: "leak"}))
	must(t, s.CreateReview(ctx, relabel.Review{TrajectoryID: second, T: new(1), Flag: "slow"}))
	for _, c := range []struct {
		flags         []string
		first, second []relabel.FlaggedState
	}{
		{nil, nil, nil},
		{[]string{"leak"}, nil, []relabel.FlaggedState{{T: 0, Flag: "leak"}}},
		{[]string{"leak", "wrong-label"}, []relabel.FlaggedState{{T: 2, Flag: "wrong-label"}}, []relabel.FlaggedState{{T: 0, Flag: "leak"}}},
		{[]string{relabel.AnyFlag}, []relabel.FlaggedState{{T: 2, Flag: "wrong-label"}}, []relabel.FlaggedState{{T: 0, Flag: "leak"}, {T: 1, Flag: "slow"}}},
	} {
		e := relabel.Export{ID: relabel.NewID(), FolderID: "f", Selection: relabel.ExportSelection{RunID: d.Run.ID, Iteration: 1, ExcludeFlags: c.flags}}
		must(t, s.CreateExport(ctx, e))
		must(t, s.CutExport(ctx, e.ID, 1<<40))
		must(t, s.CreateReview(ctx, relabel.Review{TrajectoryID: first, T: new(3), Flag: "later"}))
		stored, err := s.FindExport(ctx, e.ID)
		must(t, err)
		if !slices.Equal(stored.Selection.ExcludeFlags, c.flags) {
			t.Errorf("%q is stored as %q", c.flags, stored.Selection.ExcludeFlags)
		}
		part, err := s.FindExportPart(ctx, e.ID, 0)
		must(t, err)
		got := map[relabel.ID][]relabel.FlaggedState{}
		for tr, err := range s.ExportTrajectories(ctx, e.Selection, part) {
			must(t, err)
			got[tr.Trajectory.ID] = tr.Flagged
		}
		if !slices.Equal(got[first], c.first) || !slices.Equal(got[second], c.second) {
			t.Errorf("leaving out %q: %v", c.flags, got)
		}
		exec(t, s, "DELETE FROM reviews WHERE flag = 'later'")
	}
}

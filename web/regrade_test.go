package web_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"relabel"
)

// TestASubmissionIsGradedAgainFromItsPages follows a regrade from the run's page to the
// trajectory's: what it costs is said first, and the old verdict stays.
func TestASubmissionIsGradedAgainFromItsPages(t *testing.T) {
	t.Parallel()
	s := start(t)
	done, _ := s.rollout()
	run, trajectory := "/runs/"+s.run.ID.String(), "/trajectories/"+done.ID.String()
	contains(t, s.get(200, run), "Grade again…", "Verdicts: 1 of version 0")
	contains(t, s.get(200, run+"/verify"), "containers", "no model is called", "1 of version 0", `/verify`)
	contains(t, s.get(200, trajectory), "Grade again…", "before versions of the protections were recorded")
	contains(t, s.get(200, run+"/export?verdict_protections=newest"), "verdict_protections", "with a verdict of version")
	ctx := context.Background()
	_, err := s.store.Regrade(ctx, relabel.RegradeSelection{RunID: s.run.ID})
	s.must(err)
	contains(t, s.get(200, run), "grading again: 1 queued", "Cancel grading…")
	c, err := s.store.ClaimRegrading(ctx, "g", time.Minute)
	s.must(err)
	s.must(s.store.FinishRegrading(ctx, c.RegradeFence, relabel.Verdict{Reason: relabel.VerdictTests, Protections: 1, DroppedCount: 3,
		Dropped: []relabel.DroppedPath{{Path: "zz.pth", Reason: "<b>it loads code"}}, Tests: map[string]relabel.TestStatus{"t::skipped": relabel.TestSkipped}}, 0))
	page := s.get(200, trajectory)
	contains(t, page, "zz.pth", "&lt;b&gt;it loads code", "and 2 more", "1 skipped test", "t::skipped", "version 1 of the protections", "Verdict 2", "of the protections, without canaries", ">tests fail<")
	if strings.Contains(page, "✓</span> resolved") {
		t.Error("a verdict that changed is still shown as resolved")
	}
	contains(t, s.get(200, run), "1 done; 1 changed", "Verdicts: 1 of version 1")
	if _, err := s.store.Regrade(ctx, relabel.RegradeSelection{RunID: s.run.ID, All: true}); err != nil {
		t.Fatal(err)
	}
	for range relabel.MaxRegradeTries {
		c, err := s.store.ClaimRegrading(ctx, "g", time.Minute)
		s.must(err)
		s.must(s.store.FinishRegrading(ctx, c.RegradeFence, relabel.Verdict{Infra: "<i>no image", Protections: 1}, 0))
	}
	contains(t, s.get(200, run), "1 failed", "not graded again", `<a href="`+trajectory+`">`, "&lt;i&gt;no image")
}

// TestImportedSubmissionsAreNotGradedAgain: there is nothing to test them in.
func TestImportedSubmissionsAreNotGradedAgain(t *testing.T) {
	t.Parallel()
	s := start(t)
	done, _ := s.rollout()
	for _, change := range []string{"ALTER TABLE runs DISABLE TRIGGER USER", "UPDATE runs SET scaffold = '" + relabel.ScaffoldImported + "'"} { // runs do not change otherwise
		_, err := s.store.Pool().Exec(t.Context(), change)
		s.must(err)
	}
	run, trajectory := "/runs/"+s.run.ID.String(), "/trajectories/"+done.ID.String()
	for _, path := range []string{run, trajectory} {
		if strings.Contains(s.get(200, path), "Grade again") {
			t.Errorf("%s offers to grade again", path)
		}
	}
	contains(t, s.get(200, trajectory+"/verify"), "The server will refuse this: imported trajectories are not graded again")
}

package relabel_test

import (
	"errors"
	"testing"

	"relabel"
)

func TestASelectionIsDescribedInFull(t *testing.T) {
	got := relabel.ExportSelection{Submitted: true, EndReasons: []relabel.EndReason{relabel.EndFinish}, Agreement: relabel.AgreementDiffers, ExcludeFlags: []string{"odd", "wrong"}}.Describe()
	if want := "valid submissions, of those whose end is one of [finish], where the label was not executed, without trajectories and states flagged odd, wrong"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

func TestAnExportTakesTheFilterOfItsRecipe(t *testing.T) {
	yes, no := new(true), new(false)
	for _, c := range []struct {
		recipe relabel.Recipe
		asked  relabel.ExportFilters
		want   string
	}{
		{relabel.SFT, relabel.ExportFilters{}, "resolved trajectories"},
		{relabel.SFT, relabel.ExportFilters{Resolved: no}, "valid submissions"},
		{relabel.SFT, relabel.ExportFilters{Submitted: yes}, "resolved trajectories"},
		{relabel.SFT, relabel.ExportFilters{Submitted: no}, "every finished trajectory"},
		{relabel.DAgger, relabel.ExportFilters{}, "valid submissions"},
		{relabel.DAgger, relabel.ExportFilters{Resolved: yes}, "resolved trajectories"},
		{relabel.DAgger, relabel.ExportFilters{Submitted: no, MixedRewards: yes}, "every finished trajectory of groups with mixed rewards"},
		{relabel.AggreVaTe, relabel.ExportFilters{}, "valid submissions"},
		{relabel.AggreVaTe, relabel.ExportFilters{Submitted: no}, "every finished trajectory"},
		{relabel.OPD, relabel.ExportFilters{}, "valid submissions"},
		{relabel.GRPO, relabel.ExportFilters{}, "every finished trajectory of groups with mixed rewards"},
	} {
		sel, err := relabel.ExportSelection{Iteration: 2}.WithDefaults(c.asked, relabel.Run{Recipe: c.recipe})
		if err != nil || sel.Describe() != c.want || sel.Resolved && !sel.Submitted || sel.DescribeIterations() != "iteration 2" {
			t.Errorf("%s, %+v: %q of %q, %v; want %q", c.recipe, c.asked, sel.Describe(), sel.DescribeIterations(), err, c.want)
		}
	}
	_, err := relabel.ExportSelection{}.WithDefaults(relabel.ExportFilters{Submitted: no, Resolved: yes}, relabel.Run{Recipe: relabel.DAgger})
	var refused *relabel.Error
	if !errors.As(err, &refused) || refused.Field != "submitted" {
		t.Errorf("resolved trajectories without a submission: %v", err)
	}
}

func TestAnExportOfAnswersToLocaliseTakesHitsForResolved(t *testing.T) {
	yes, no, half := new(true), new(false), new(0.5)
	for _, c := range []struct {
		recipe relabel.Recipe
		asked  relabel.ExportFilters
		want   string
	}{
		{relabel.SFT, relabel.ExportFilters{}, "trajectories whose answer names a gold location"},
		{relabel.SFT, relabel.ExportFilters{Resolved: no, MinScore: half}, "trajectories whose answer names a gold location with a score of 0.5 or more"},
		{relabel.SFT, relabel.ExportFilters{Hit: no}, "valid submissions"},
		{relabel.SFT, relabel.ExportFilters{Submitted: no}, "every finished trajectory"},
		{relabel.DAgger, relabel.ExportFilters{}, "valid submissions"},
		{relabel.DAgger, relabel.ExportFilters{Hit: yes}, "trajectories whose answer names a gold location"},
		{relabel.GRPO, relabel.ExportFilters{}, "every finished trajectory of groups with mixed rewards"},
	} {
		sel, err := relabel.ExportSelection{}.WithDefaults(c.asked, relabel.Run{Recipe: c.recipe, TaskKind: relabel.Localise})
		if err != nil || sel.Describe() != c.want || sel.Hit && !sel.Submitted || sel.Resolved || (sel.Hit || sel.MinScore != nil || sel.MixedRewards) != sel.ReliesOnVerdicts() {
			t.Errorf("%s, %+v: %+v, %q, %v; want %q", c.recipe, c.asked, sel, sel.Describe(), err, c.want)
		}
	}
	for _, c := range []struct {
		field string
		kind  relabel.TaskKind
		asked relabel.ExportFilters
	}{
		{"resolved", relabel.Localise, relabel.ExportFilters{Resolved: yes}},
		{"submitted", relabel.Localise, relabel.ExportFilters{Submitted: no, Hit: yes}},
		{"hit", relabel.Repair, relabel.ExportFilters{Hit: yes}},
		{"min_score", relabel.Repair, relabel.ExportFilters{MinScore: half}},
	} {
		_, err := relabel.ExportSelection{}.WithDefaults(c.asked, relabel.Run{Recipe: relabel.SFT, TaskKind: c.kind})
		var refused *relabel.Error
		if !errors.As(err, &refused) || refused.Field != c.field || refused.Code != relabel.CodeInvalid {
			t.Errorf("%s, %+v: %v, want a refusal of %s", c.kind, c.asked, err, c.field)
		}
	}
}

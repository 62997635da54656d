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
		sel, err := relabel.ExportSelection{Iteration: 2}.WithDefaults(c.asked, c.recipe)
		if err != nil || sel.Describe() != c.want || sel.Resolved && !sel.Submitted || sel.DescribeIterations() != "iteration 2" {
			t.Errorf("%s, %+v: %q of %q, %v; want %q", c.recipe, c.asked, sel.Describe(), sel.DescribeIterations(), err, c.want)
		}
	}
	_, err := relabel.ExportSelection{}.WithDefaults(relabel.ExportFilters{Submitted: no, Resolved: yes}, relabel.DAgger)
	var refused *relabel.Error
	if !errors.As(err, &refused) || refused.Field != "submitted" {
		t.Errorf("resolved trajectories without a submission: %v", err)
	}
}

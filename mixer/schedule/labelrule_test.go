package schedule_test

import (
	"testing"

	"relabel"
	"relabel/mixer/schedule"
)

func TestAnIterationFollowsItsOwnRuleOrTheRuns(t *testing.T) {
	run, tasks := runOf(relabel.DAgger), tasksOf(4, 2)
	for _, c := range []struct{ run, ask, want relabel.LabelRule }{
		{"", "", "all"}, {"every:4", "", "every:4"}, {"every:4", "all", "all"}, {"", "uncertain:0.5+0.1", "uncertain:0.5+0.1"},
	} {
		run.LabelRule = c.run
		ask := collect()
		ask.LabelRule = c.ask
		if got := plan(t, run, 1, ask, tasks).Iteration.LabelRule; got != c.want {
			t.Errorf("run %q, iteration %q: %q", c.run, c.ask, got)
		}
	}
	evaluate := relabel.NewIteration{Kind: relabel.Evaluate, StudentID: relabel.NewID(), HeldOut: true}
	if got := plan(t, run, 1, evaluate, tasks).Iteration.LabelRule; got != relabel.LabelAll {
		t.Errorf("an evaluation has the rule %q", got)
	}
	evaluate.LabelRule = "every:2"
	_, err := schedule.Plan(run, 1, evaluate, tasks)
	wantField(t, err, "label_rule")
}

func TestRulesThatCollectionCannotFollowAreRefused(t *testing.T) {
	for recipe, rules := range map[relabel.Recipe][]relabel.LabelRule{
		relabel.AggreVaTe: {"sometimes", "every:0", "teacher_turns:0"}, relabel.DAgger: {"teacher_turns:3"}, relabel.SFT: {"teacher_turns:3"},
		relabel.OPD: {"every:2", "teacher_turns:3"}, relabel.GRPO: {"after_failure", "teacher_turns:3"}} {
		for _, rule := range rules {
			run := runOf(recipe)
			run.LabelRule = rule
			wantField(t, schedule.ValidateRun(run), "label_rule")
		}
	}
	run := runOf(relabel.GRPO)
	run.LabelRule = relabel.LabelAll
	if err := schedule.ValidateRun(run); err != nil {
		t.Error(err)
	}
	ask := collect()
	ask.LabelRule = "teacher_turns:3"
	_, err := schedule.Plan(runOf(relabel.DAgger), 1, ask, tasksOf(2, 0))
	wantField(t, err, "label_rule")
}

func TestAnSFTRunRefusesRulesBecauseItsStudentNeverActs(t *testing.T) {
	run := runOf(relabel.SFT)
	run.LabelRule = "every:3"
	wantField(t, schedule.ValidateRun(run), "label_rule")
	run.LabelRule = relabel.LabelAll
	if err := schedule.ValidateRun(run); err != nil {
		t.Error(err)
	}
	ask := collect()
	ask.LabelRule = "every:3"
	_, err := schedule.Plan(run, 1, ask, tasksOf(2, 0))
	wantField(t, err, "label_rule")
}

func TestOnlyCollectIterationsOfAggrevateEndAfterTurnsOfTheTeacher(t *testing.T) {
	run, tasks := runOf(relabel.AggreVaTe), tasksOf(4, 2)
	run.LabelRule = "teacher_turns:3"
	if got := plan(t, run, 1, collect(), tasks).Iteration.LabelRule; got != "teacher_turns:3" {
		t.Errorf("an iteration has the rule %q", got)
	}
	for _, ask := range []relabel.NewIteration{
		{Kind: relabel.Evaluate, StudentID: relabel.NewID(), HeldOut: true},
		{Kind: relabel.Sample, StudentID: relabel.NewID()},
	} {
		if got := plan(t, run, 1, ask, tasks).Iteration.LabelRule; got != relabel.LabelAll {
			t.Errorf("%s has the rule %q", ask.Kind, got)
		}
		ask.LabelRule = "teacher_turns:3"
		_, err := schedule.Plan(run, 1, ask, tasks)
		wantField(t, err, "label_rule")
	}
}

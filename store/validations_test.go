package store_test

import (
	"context"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

// verdictWith is a verdict on a task's tests, of which some did not pass.
func verdictWith(task relabel.Task, failed ...string) relabel.Verdict {
	v := relabel.Verdict{Passed: len(failed) == 0, Reason: relabel.VerdictTestsPassed, Tests: map[string]relabel.TestStatus{}, Output: []byte("the log"), Millis: 1000}
	for _, test := range append(append([]string{}, task.FailToPass...), task.PassToPass...) {
		v.Tests[test] = relabel.TestPassed
	}
	for _, test := range failed {
		v.Tests[test], v.Reason = relabel.TestFailed, relabel.VerdictTests
	}
	return v
}

func TestSoundnessFollowsTheNewestValidationAndRevisions(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	set := relabel.Taskset{ID: relabel.NewID(), Name: "set"}
	var tasks []relabel.Task
	for _, name := range []string{"a-sound", "b-flaky", "c-broken", "d-open"} {
		tasks = append(tasks, relabel.Task{ID: relabel.NewID(), TasksetID: set.ID, InstanceID: name, Patch: "diff", FailToPass: []string{"mend"}, PassToPass: []string{"keep", "waver"}})
	}
	must(t, s.CreateTaskset(ctx, set, relabel.TaskList(tasks)))
	validate := func(task relabel.Task, gold, empty []relabel.Verdict) relabel.Validation {
		v := relabel.Assess(task, len(gold), 60, gold, empty)
		v.ID = relabel.NewID()
		var logs [][]byte
		for _, r := range v.Runs {
			logs = append(logs, relabel.PackLog(r.Log, relabel.MaxValidationLog))
		}
		must(t, s.CreateValidation(ctx, v, logs))
		return v
	}
	empty := []relabel.Verdict{verdictWith(tasks[0], "mend"), verdictWith(tasks[0], "mend")}
	validate(tasks[0], []relabel.Verdict{verdictWith(tasks[0], "mend"), verdictWith(tasks[0], "mend")}, empty) // an older one
	validate(tasks[0], []relabel.Verdict{verdictWith(tasks[0]), verdictWith(tasks[0])}, empty)
	flaky := validate(tasks[1], []relabel.Verdict{verdictWith(tasks[1]), verdictWith(tasks[1], "waver")}, empty)
	validate(tasks[2], []relabel.Verdict{verdictWith(tasks[2], "mend"), verdictWith(tasks[2], "mend")}, empty)

	n, err := s.CountSoundness(ctx, set.ID, 0)
	must(t, err)
	if n.Tasks != 4 || n.Sound != 1 || n.Flaky != 1 || n.Broken != 1 || n.Unvalidated != 1 || n.Reasons[relabel.ProblemGold] != 1 || n.Reasons[relabel.ProblemFlaky] != 1 || n.RunSeconds.P50 != 1 {
		t.Errorf("%+v", n)
	}
	list, next, err := s.ListSoundness(ctx, set.ID, relabel.SoundnessFilter{}, relabel.Page{Limit: 3})
	must(t, err)
	if len(list) != 3 || next == "" || list[1].State != relabel.TaskFlaky || list[1].Validation.Flaky[0] != (relabel.FlakyTest{Test: "waver", Gold: "Pf", Empty: "PP"}) || list[1].RunSeconds.P95 != 1 || list[0].Validation.Passes(relabel.GoldPatch) != "2/2" {
		t.Errorf("%+v", list)
	}
	open, _, err := s.ListSoundness(ctx, set.ID, relabel.SoundnessFilter{State: relabel.Unvalidated}, relabel.Page{})
	must(t, err)
	if len(open) != 1 || open[0].InstanceID != "d-open" || open[0].Validation != nil {
		t.Errorf("without a validation: %+v", open)
	}
	packed, err := s.FindValidationLog(ctx, flaky.ID, relabel.EmptyPatch, 2)
	must(t, err)
	if log, err := relabel.UnpackLog(packed); err != nil || string(log) != "the log" {
		t.Errorf("the log is %q (%v)", log, err)
	}
	_, err = s.FindValidationLog(ctx, flaky.ID, relabel.EmptyPatch, 3)
	wantCode(t, err, relabel.CodeNotFound)

	// Flaky tests are dropped, and the broken task excluded.
	_, err = s.ReviseTasks(ctx, set.ID, relabel.FlakyDropped, []relabel.Task{tasks[1].WithoutTests(flaky.Flaky)})
	must(t, err)
	tasks[2].Excluded = "gold_patch_fails"
	_, err = s.ReviseTasks(ctx, set.ID, relabel.TasksExcluded, []relabel.Task{tasks[2]})
	must(t, err)
	n, err = s.CountSoundness(ctx, set.ID, 0)
	must(t, err)
	if n.Revision != 3 || n.Sound != 2 || n.Flaky != 0 || n.Broken != 1 || n.Excluded != 1 {
		t.Errorf("after the revisions: %+v", n)
	}
	if before, err := s.CountSoundness(ctx, set.ID, 1); err != nil || before.Sound != 1 || before.Flaky != 1 || before.Excluded != 0 {
		t.Errorf("revision 1 has changed: %+v (%v)", before, err)
	}
	list, _, err = s.ListSoundness(ctx, set.ID, relabel.SoundnessFilter{State: relabel.TaskSound}, relabel.Page{})
	must(t, err)
	if len(list) != 2 || list[1].InstanceID != "b-flaky" || list[1].Validation.RunsOf == nil || *list[1].Validation.RunsOf != flaky.ID {
		t.Fatalf("sound: %+v", list)
	}
	if _, err := s.FindValidationLog(ctx, list[1].Validation.ID, relabel.GoldPatch, 2); err != nil {
		t.Errorf("the log of the runs is lost: %v", err)
	}
	row, err := s.FindTask(ctx, list[1].TaskID)
	must(t, err)
	if len(row.PassToPass) != 1 || row.PassToPass[0] != "keep" {
		t.Errorf("the new row keeps %v", row.PassToPass)
	}
	excluded, err := s.ListExcludedTasks(ctx, set.ID, 0, 10)
	must(t, err)
	if len(excluded) != 1 || excluded[0] != (relabel.ExcludedTask{InstanceID: "c-broken", Reason: "gold_patch_fails"}) {
		t.Errorf("excluded: %v", excluded)
	}
}

func TestAValidationCountsForARevisionThatWasMadeMeanwhile(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), t.Context()
	set := relabel.Taskset{ID: relabel.NewID(), Name: "set"}
	task := relabel.Task{ID: relabel.NewID(), TasksetID: set.ID, InstanceID: "a", Patch: "diff", FailToPass: []string{"mend"}, PassToPass: []string{"keep", "waver"}}
	must(t, s.CreateTaskset(ctx, set, relabel.TaskList([]relabel.Task{task})))
	changed := task
	changed.Excluded = "slow"
	_, err := s.ReviseTasks(ctx, set.ID, relabel.TasksExcluded, []relabel.Task{changed})
	must(t, err)
	newest := func() relabel.TaskSoundness {
		list, _, err := s.ListSoundness(ctx, set.ID, relabel.SoundnessFilter{}, relabel.Page{})
		must(t, err)
		return list[0]
	}
	flicker := func(task relabel.Task, test string) relabel.Validation {
		v := relabel.Assess(task, 2, 60, []relabel.Verdict{verdictWith(task), verdictWith(task, test)}, []relabel.Verdict{verdictWith(task, "mend")})
		v.ID = relabel.NewID()
		must(t, s.CreateValidation(ctx, v, [][]byte{relabel.PackLog([]byte("log"), 100)}))
		return v
	}
	// The task was replaced by a row of equal content while its tests ran.
	first := flicker(task, "waver")
	found := newest()
	if found.State != relabel.TaskFlaky || found.Excluded != "slow" || *found.Validation.RunsOf != first.ID {
		t.Errorf("%+v", found)
	}
	if _, err := s.FindValidationLog(ctx, found.Validation.ID, relabel.GoldPatch, 1); err != nil {
		t.Error(err)
	}
	// Another validation of the row finds another flaky test while those of the first are dropped.
	row, err := s.FindTask(ctx, found.TaskID)
	must(t, err)
	flicker(row, "keep")
	_, err = s.ReviseTasks(ctx, set.ID, relabel.FlakyDropped, []relabel.Task{row.WithoutTests(first.Flaky)})
	must(t, err)
	if found = newest(); found.State != relabel.TaskFlaky || found.Validation.Flaky[0].Test != "keep" {
		t.Errorf("%+v", found)
	}
	// A validation of a row with other tests does not count.
	v := relabel.Assess(task, 1, 60, []relabel.Verdict{verdictWith(task)}, []relabel.Verdict{verdictWith(task, "mend")})
	must(t, s.CreateValidation(ctx, v, nil))
	if found = newest(); found.State != relabel.TaskFlaky {
		t.Errorf("%+v", found)
	}
}

func TestAValidationNeedsATask(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	v := relabel.Validation{TaskID: relabel.NewID(), Times: 1, VerifySeconds: 1, State: relabel.TaskSound}
	wantCode(t, s.CreateValidation(context.Background(), v, nil), relabel.CodeNotFound)
}

func TestTasksOfAnEarlierVersionHaveOneRevision(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := openDumped(t)
	sets, _, err := s.ListTasksets(ctx, relabel.Page{})
	must(t, err)
	for _, set := range sets {
		tasks, _, err := s.ListTasks(ctx, set.ID, 1, relabel.Page{})
		must(t, err)
		if set.Revision != 1 || set.Tasks == 0 || set.Tasks != len(tasks) || tasks[0].AddedIn != 1 {
			t.Errorf("%+v has %d tasks", set, len(tasks))
		}
		n, err := s.CountSoundness(ctx, set.ID, 0)
		must(t, err)
		if n.Unvalidated != set.Tasks {
			t.Errorf("%+v", n)
		}
		broken := tasks[0]
		broken.Excluded = "broken"
		_, err = s.ReviseTasks(ctx, set.ID, relabel.TasksExcluded, []relabel.Task{broken})
		must(t, err)
	}
	runs, _, err := s.ListRuns(ctx, relabel.Page{})
	must(t, err)
	for _, run := range runs {
		n, err := s.CountTasks(ctx, run, nil)
		must(t, err)
		if run.TasksetRevision != 1 || n.Excluded != 0 || n.Open == 0 {
			t.Errorf("the run %s draws from revision %d: %+v", run.Name, run.TasksetRevision, n)
		}
	}
}

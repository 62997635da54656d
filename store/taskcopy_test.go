package store_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

// fullTask is a task with a value in every column of its content.
func fullTask(id string) relabel.Task {
	return relabel.Task{
		ID: relabel.NewID(), Kind: relabel.Repair, InstanceID: id, Repo: "a/b", BaseCommit: "abcdef1", Image: "i", Workdir: "/w", ProblemStatement: "p", HintsText: "h",
		Patch: "g", TestPatch: "t", TestCmd: "c", EvalScript: "s", LogParser: "pytest", FailToPass: []string{"x"}, PassToPass: []string{"y"},
		Expected: map[string]relabel.TestStatus{"x": relabel.TestPassed}, StartPatch: "d", Hidden: []string{"/h"}, Licence: "MIT",
	}
}

func TestAppendedTasksAreANextRevision(t *testing.T) {
	s := storetest.New(t)
	ctx := t.Context()
	set := relabel.Taskset{ID: relabel.NewID(), Name: "grows", Digest: strings.Repeat("1", 64)}
	first, held := fullTask("a"), fullTask("b")
	held.HeldOut = true
	must(t, s.CreateTaskset(ctx, set, relabel.TaskList([]relabel.Task{first, held})))
	got, err := s.FindTask(ctx, first.ID)
	must(t, err)
	want := first
	want.TasksetID, want.AddedIn = set.ID, 1
	if !reflect.DeepEqual(got, want) {
		t.Errorf("stored %+v\nwant %+v", got, want)
	}

	added, unchanged, err := s.AppendTasks(ctx, set.ID, strings.Repeat("2", 64), relabel.TaskList([]relabel.Task{fullTask("c"), fullTask("a"), fullTask("b")}))
	after, _ := s.FindTaskset(ctx, set.ID)
	if err != nil || added != 1 || unchanged != 2 || after.Revision != 2 || after.Tasks != 3 || after.HeldOut != 1 {
		t.Errorf("%d added, %d unchanged, %v: %+v", added, unchanged, err, after)
	}
	added, unchanged, err = s.AppendTasks(ctx, set.ID, strings.Repeat("2", 64), relabel.TaskList([]relabel.Task{fullTask("c")}))
	after, _ = s.FindTaskset(ctx, set.ID)
	if err != nil || added != 0 || unchanged != 1 || after.Revision != 2 {
		t.Errorf("the same again: %d added, %d unchanged, %v: %+v", added, unchanged, err, after)
	}
	for name, change := range map[string]func(*relabel.Task){
		"patch": func(t *relabel.Task) { t.Patch = "other" }, "list": func(t *relabel.Task) { t.FailToPass = []string{"z"} }, "held out": func(t *relabel.Task) { t.HeldOut = true },
		"expected": func(t *relabel.Task) { t.Expected = nil }, "hidden": func(t *relabel.Task) { t.Hidden = nil },
	} {
		other := fullTask("a")
		change(&other)
		_, _, err = s.AppendTasks(ctx, set.ID, strings.Repeat("3", 64), relabel.TaskList([]relabel.Task{fullTask("d"), other}))
		want := "instance_id: the task set has these tasks with other content: a."
		if name == "held out" {
			want = "held_out: the task set has these tasks, and they are not held out: a."
		}
		if relabel.CodeOf(err) != relabel.CodeConflict || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err = s.AppendTasks(ctx, relabel.NewID(), strings.Repeat("3", 64), relabel.TaskList(nil)); relabel.CodeOf(err) != relabel.CodeNotFound {
		t.Errorf("no such set: %v", err)
	}
	if after, _ = s.FindTaskset(ctx, set.ID); after.Revision != 2 || after.Tasks != 3 {
		t.Errorf("refused appends changed it: %+v", after)
	}
}

func TestATaskThatARevisionChangedIsRefusedWithThatReason(t *testing.T) {
	s := storetest.New(t)
	ctx := t.Context()
	set := relabel.Taskset{ID: relabel.NewID(), Name: "flaky", Digest: strings.Repeat("1", 64)}
	flaky := fullTask("a")
	flaky.PassToPass = []string{"y", "flickers"}
	must(t, s.CreateTaskset(ctx, set, relabel.TaskList([]relabel.Task{flaky, fullTask("b")})))
	steady := flaky
	steady.PassToPass = []string{"y"}
	_, err := s.ReviseTasks(ctx, set.ID, relabel.FlakyDropped, []relabel.Task{steady})
	must(t, err)
	_, _, err = s.AppendTasks(ctx, set.ID, strings.Repeat("1", 64), relabel.TaskList([]relabel.Task{flaky, fullTask("b")}))
	if relabel.CodeOf(err) != relabel.CodeConflict || !strings.Contains(err.Error(), "a revision of the task set changed these tasks, whose earlier content this is: a.") {
		t.Errorf("the first content: %v", err)
	}
	if added, unchanged, err := s.AppendTasks(ctx, set.ID, strings.Repeat("2", 64), relabel.TaskList([]relabel.Task{steady})); err != nil || added != 0 || unchanged != 1 {
		t.Errorf("the newest content: %d added, %d unchanged, %v", added, unchanged, err)
	}
}

func TestAStreamThatFailsStoresNothing(t *testing.T) {
	s := storetest.New(t)
	cause := errors.New("line 2 is wrong")
	stream := func(yield func(relabel.Task, error) bool) {
		_ = yield(fullTask("a"), nil) && yield(relabel.Task{}, cause)
	}
	set := relabel.Taskset{ID: relabel.NewID(), Name: "torn", Digest: strings.Repeat("1", 64)}
	if err := s.CreateTaskset(t.Context(), set, stream); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
	if _, err := s.FindTasksetByName(t.Context(), "torn"); relabel.CodeOf(err) != relabel.CodeNotFound {
		t.Errorf("it was stored: %v", err)
	}
}

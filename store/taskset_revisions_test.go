package store_test

import (
	"context"
	"testing"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// instances lists the tasks of a taskset at a revision by instance id.
func instances(t *testing.T, s *store.Store, set relabel.ID, revision int) map[string]relabel.Task {
	t.Helper()
	tasks, _, err := s.ListTasks(context.Background(), set, revision, relabel.Page{Limit: 100})
	must(t, err)
	found := map[string]relabel.Task{}
	for _, task := range tasks {
		found[task.InstanceID] = task
	}
	if len(found) != len(tasks) {
		t.Fatalf("revision %d has an instance twice", revision)
	}
	return found
}

func TestARevisionOfATasksetReplacesRowsAndKeepsEarlierOnes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 3)
	set := d.Taskset.ID
	first := instances(t, s, set, 0)
	names, err := s.ListTaskNames(ctx, set, 1)
	must(t, err)
	broken, err := s.FindTask(ctx, names[0].ID)
	must(t, err)

	broken.Excluded = "the gold patch does not resolve it"
	revised, err := s.ReviseTasks(ctx, set, relabel.TasksExcluded, []relabel.Task{broken})
	must(t, err)
	if revised.Revision != 2 || revised.Tasks != len(first) || revised.Excluded != 1 {
		t.Errorf("the newest revision is %+v", revised)
	}
	if old := instances(t, s, set, 1); old[broken.InstanceID].ID != broken.ID || old[broken.InstanceID].Excluded != "" || *old[broken.InstanceID].ReplacedIn != 2 {
		t.Errorf("revision 1 has %+v", old[broken.InstanceID])
	}
	for _, revision := range []int{0, 2} {
		row := instances(t, s, set, revision)[broken.InstanceID]
		if row.ID == broken.ID || row.Excluded != broken.Excluded || row.AddedIn != 2 || row.ReplacedIn != nil || row.Patch != broken.Patch {
			t.Errorf("revision %d has %+v", revision, row)
		}
	}
	newest, err := s.FindTaskByInstance(ctx, set, broken.InstanceID)
	must(t, err)
	if newest.Excluded == "" {
		t.Error("the newest task of the instance is not the excluded one")
	}

	_, err = s.ReviseTasks(ctx, set, relabel.TasksExcluded, []relabel.Task{broken})
	wantCode(t, err, relabel.CodeConflict)
	_, err = s.ReviseTasks(ctx, relabel.NewID(), relabel.TasksExcluded, []relabel.Task{broken})
	wantCode(t, err, relabel.CodeNotFound)
	newest.Excluded = ""
	_, err = s.ReviseTasks(ctx, set, relabel.TasksIncluded, []relabel.Task{newest})
	must(t, err)
	revisions, err := s.ListTasksetRevisions(ctx, set)
	must(t, err)
	if len(revisions) != 3 || revisions[0].Change != relabel.TasksIncluded || revisions[0].Excluded != 0 || revisions[1].Excluded != 1 || revisions[1].Changed != 1 || revisions[2].Digest != d.Taskset.Digest {
		t.Errorf("the revisions are %+v", revisions)
	}
	old, err := s.FindTasksetAt(ctx, set, 2)
	must(t, err)
	if old.Revision != 2 || old.Excluded != 1 || old.Name != d.Taskset.Name {
		t.Errorf("the task set at revision 2 is %+v", old)
	}
	_, err = s.FindTasksetAt(ctx, set, 4)
	wantCode(t, err, relabel.CodeNotFound)
}

func TestARunCountsTheTasksOfItsRevision(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 3)
	before, err := s.CountTasks(ctx, d.Run, nil)
	must(t, err)
	names, err := s.ListTaskNames(ctx, d.Taskset.ID, 0)
	must(t, err)
	broken, err := s.FindTask(ctx, names[0].ID)
	must(t, err)
	broken.Excluded = "flaky"
	_, err = s.ReviseTasks(ctx, d.Taskset.ID, relabel.TasksExcluded, []relabel.Task{broken})
	must(t, err)
	pinned, err := s.FindRun(ctx, d.Run.ID)
	must(t, err)
	if pinned.TasksetRevision != 1 {
		t.Errorf("the run draws from revision %d", pinned.TasksetRevision)
	}
	if after, err := s.CountTasks(ctx, pinned, nil); err != nil || after != before {
		t.Errorf("a run at revision 1 counts %+v after the change, and %+v before (%v)", after, before, err)
	}
	later := pinned
	later.ID, later.Name, later.TasksetRevision = relabel.NewID(), "later", 2
	must(t, s.CreateRun(ctx, later))
	later, err = s.FindRun(ctx, later.ID)
	must(t, err)
	if after, err := s.CountTasks(ctx, later, nil); err != nil || later.TasksetRevision != 2 || after.Open != before.Open-1 || after.Excluded != 1 {
		t.Errorf("a run at revision %d counts %+v (%v)", later.TasksetRevision, after, err)
	}
}

func TestOnlyReplacedInOfATaskChangesAndOnlyOnce(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	storetest.Seed(t, s, 1)
	for _, change := range []string{"replaced_in = 2, excluded = 'x'", "fail_to_pass = '[]'", "added_in = 1, held_out = NOT held_out"} {
		if got := violated(t, s, "UPDATE tasks SET "+change); got != "tasks_immutable" {
			t.Errorf("%s: refused by %q", change, got)
		}
	}
	exec(t, s, "UPDATE tasks SET replaced_in = 2")
	if got := violated(t, s, "UPDATE tasks SET replaced_in = 3"); got != "tasks_immutable" {
		t.Errorf("replaced again: refused by %q", got)
	}
	if got := violated(t, s, "UPDATE tasksets SET revision = revision + 2"); got != "tasksets_immutable" {
		t.Errorf("a revision that skips one: refused by %q", got)
	}
}

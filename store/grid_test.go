package store_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

func TestAGridHasACellForEachTaskAndIteration(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	storetest.Seed(t, s, 3) // another run's tasks
	d := storetest.Seed(t, s, 4)
	end := func(c relabel.Claim, reason relabel.EndReason, v relabel.Verdict) {
		must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: reason, Patch: []byte("p"), Submitted: reason == relabel.EndFinish}))
		must(t, s.BeginVerifying(ctx, c.Fence))
		must(t, s.Finish(ctx, c.Fence, v))
	}
	claim := func(tr relabel.Trajectory) relabel.Claim { return storetest.Claim(t, s, tr.ID, "w") }
	end(claim(d.Trajectories[0]), relabel.EndFinish, relabel.Verdict{Passed: true})
	end(claim(d.Trajectories[1]), relabel.EndWallClock, relabel.Verdict{})
	must(t, s.Fail(ctx, claim(d.Trajectories[2]).Fence, relabel.FailEndpoint, "gone"))
	claim(d.Trajectories[3])
	second := relabel.PlannedIteration{Iteration: d.Iteration} // of two tasks, three generations of one of them
	second.Iteration.ID, second.Iteration.Number, second.Iteration.Generations = relabel.NewID(), 2, 3
	for g, task := range []relabel.Task{d.Tasks[1], d.Tasks[1], d.Tasks[1], d.Tasks[3]} {
		second.Trajectories = append(second.Trajectories, relabel.Trajectory{ID: relabel.NewID(), TaskID: task.ID, Generation: g, Executors: "sss"})
	}
	must(t, s.CreateIteration(ctx, second))
	end(claim(second.Trajectories[0]), relabel.EndMaxTurns, relabel.Verdict{Passed: true})
	end(claim(second.Trajectories[1]), relabel.EndFinish, relabel.Verdict{Infra: "the disk is full"})
	exec(t, s, "UPDATE trajectories SET state = 'cancelled', ended_at = now() WHERE id = $1", second.Trajectories[3].ID)

	only := func(tr relabel.Trajectory) *relabel.ID { return &tr.ID }
	first, last := d.Trajectories, second.Trajectories
	want := [][]relabel.GridCell{
		{{Resolved: 1, Only: only(first[0])}, {}},
		{{TimeLimit: 1, Only: only(first[1])}, {PassedUnsubmitted: 1, Error: 1, Queued: 1}},
		{{Error: 1, Only: only(first[2])}, {}},
		{{Running: 1, Only: only(first[3])}, {Cancelled: 1, Only: only(last[3])}},
	}
	var got []relabel.GridRow
	for p := (relabel.Page{Limit: 3}); ; {
		g, next, err := s.ListGrid(ctx, d.Run.ID, "", p)
		must(t, err)
		if g.Tasks != 4 || len(g.Iterations) != 2 || g.Iterations[1].ID != second.Iteration.ID {
			t.Errorf("%d tasks, iterations %+v", g.Tasks, g.Iterations)
		}
		if got = append(got, g.Rows...); next == "" {
			break
		}
		p.After = next
	}
	for i, cells := range want {
		if got[i].InstanceID != d.Tasks[i].InstanceID || got[i].TaskID != d.Tasks[i].ID || !reflect.DeepEqual(got[i].Cells, cells) {
			t.Errorf("row %d is %+v, not %+v", i, got[i], cells)
		}
	}
	if g, next, err := s.ListGrid(ctx, d.Run.ID, "REPO-0002", relabel.Page{}); err != nil || len(g.Rows) != 1 || g.Tasks != 1 || next != "" || g.Rows[0].TaskID != d.Tasks[2].ID {
		t.Errorf("one of them: %+v, %q, %v", g, next, err)
	}
	_, _, err := s.ListGrid(ctx, relabel.NewID(), "", relabel.Page{})
	wantCode(t, err, relabel.CodeNotFound)
	_, _, err = s.ListGrid(ctx, d.Run.ID, "", relabel.Page{After: "!"})
	wantCode(t, err, relabel.CodeInvalid)
}

// An evaluation's benchmark may have a task of another task set with the instance id of one of the run's.
func TestAGridHasTasksWithOneInstanceIDOfTwoTaskSets(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	d := storetest.Seed(t, s, 2)
	set := relabel.Taskset{ID: relabel.NewID(), Name: "other", Digest: "other"}
	twin := d.Tasks[0]
	twin.ID, twin.TasksetID = relabel.NewID(), set.ID
	must(t, s.CreateTaskset(ctx, set, relabel.TaskList([]relabel.Task{twin})))
	must(t, s.CreateIteration(ctx, evaluationOf(d, 1, twin)))
	sets := map[relabel.ID]relabel.ID{}
	for p := (relabel.Page{Limit: 1}); ; {
		g, next, err := s.ListGrid(ctx, d.Run.ID, "", p)
		must(t, err)
		for _, row := range g.Rows {
			sets[row.TaskID] = row.TasksetID
		}
		if next == "" {
			break
		}
		p.After = next
	}
	if len(sets) != 3 || sets[twin.ID] != set.ID || sets[d.Tasks[0].ID] != d.Run.TasksetID || sets[d.Tasks[1].ID] != d.Run.TasksetID {
		t.Errorf("tasks and their sets: %v", sets)
	}
}

// A page of the grid of 2,000 tasks and 20 iterations reads what it shows, by an index.
func TestAGridIsReadByIndices(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 2000)
	exec(t, s, "ALTER TABLE trajectories DISABLE TRIGGER USER")
	exec(t, s, `INSERT INTO iterations (id, run_id, number, kind, student_id, generations, trajectories, open)
		SELECT gen_random_uuid(), $1, n, 'collect', $2, 1, 1000, 1 FROM generate_series(2, 20) n`, d.Run.ID, d.Student.ID)
	exec(t, s, `INSERT INTO trajectories (id, run_id, iteration_id, kind, task_id, generation, executors)
		SELECT gen_random_uuid(), it.run_id, it.id, it.kind, ta.id, 0, 'sss' FROM iterations it, tasks ta WHERE it.number > 1`)
	exec(t, s, "VACUUM ANALYZE trajectories, tasks, iterations")
	g, next, err := s.ListGrid(ctx, d.Run.ID, "", relabel.Page{Limit: 100})
	must(t, err)
	if len(g.Rows) != 100 || next == "" || g.Tasks != 2000 || len(g.Rows[99].Cells) != 20 || g.Rows[99].Cells[19].Queued != 1 {
		t.Fatalf("%d rows of %d", len(g.Rows), g.Tasks)
	}
	var tasks, iterations []relabel.ID
	for _, r := range g.Rows {
		tasks = append(tasks, r.TaskID)
	}
	for _, it := range g.Iterations {
		iterations = append(iterations, it.ID)
	}
	plans, err := s.ExplainGrid(ctx, d.Run.ID, iterations, tasks)
	must(t, err)
	for _, plan := range plans {
		if strings.Contains(plan, "Seq Scan on trajectories") {
			t.Errorf("all trajectories are read:\n%s", plan)
		}
	}
}

package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/evaluation"
	"relabel/store"
	"relabel/store/storetest"
)

// tasksetOf stores a task set of tasks NAME@C, of which C is a digit of the base commit.
func tasksetOf(t testing.TB, s *store.Store, kind relabel.TaskKind, repo string, names ...string) (relabel.Taskset, []relabel.Task) {
	t.Helper()
	set := relabel.Taskset{ID: relabel.NewID(), Name: "set " + relabel.NewID().String(), Kind: kind, Digest: strings.Repeat("ef", 32)}
	var tasks []relabel.Task
	for _, name := range names {
		instance, digit, _ := strings.Cut(name, "@")
		tasks = append(tasks, relabel.Task{ID: relabel.NewID(), TasksetID: set.ID, Kind: kind, InstanceID: instance, Repo: repo, BaseCommit: strings.Repeat(digit, 40),
			Image: "relabel/test", Workdir: "/testbed", ProblemStatement: "It does not work.", TestCmd: "pytest -rA", LogParser: "pytest", FailToPass: []string{"t.py::t"}, PassToPass: []string{}})
	}
	must(t, s.CreateTaskset(context.Background(), set, relabel.TaskList(tasks)))
	return set, tasks
}

// located stores an evaluation of tasks to localise. The first rollout of each names NAME.py::f, the second
// one, with the better score, NAME.py::g.
func located(t testing.TB, s *store.Store, names ...string) relabel.HintSource {
	t.Helper()
	d := storetest.SeedLocalise(t, s, 1)
	_, tasks := tasksetOf(t, s, relabel.Localise, "https://github.com/Owner/Repo.git", names...)
	p := evaluationOf(d, 1, append(slices.Clone(tasks), tasks...)...)
	for i := range p.Trajectories {
		p.Trajectories[i].Generation = i / len(tasks)
	}
	must(t, s.CreateIteration(context.Background(), p))
	for i, tr := range p.Trajectories {
		name := tasks[i%len(tasks)].InstanceID
		c := storetest.Claim(t, s, tr.ID, "w")
		switch {
		case strings.HasPrefix(name, "silent"):
			storetest.Localise(t, s, c, 0)
		case tr.Generation == 0:
			storetest.Localise(t, s, c, 0, name+".py::f", "x.py", "y.py", "z.py")
		default:
			storetest.Localise(t, s, c, 1, name+".py::g")
		}
	}
	return relabel.HintSource{RunID: d.Run.ID, Run: d.Run.Name, IterationID: p.Iteration.ID, Evaluation: 1, Top: 3}
}

// seedHinted stores a run to repair tasks NAME@C with hints, whose collect iteration rolls out all of them.
func seedHinted(t testing.TB, s *store.Store, from *relabel.HintSource, names ...string) storetest.Seeded {
	t.Helper()
	return storetest.SeedWith(t, s, len(names), func(d *storetest.Seeded) {
		d.Taskset, d.Tasks = tasksetOf(t, s, relabel.Repair, "owner/repo", names...)
		d.Run.TasksetID, d.Run.HintsFrom = d.Taskset.ID, from
		d.Run.Prompts.First = "{problem_statement}{hints?}\n<hints>\n{hints_text}\n</hints>{/hints?}"
		for i, task := range d.Tasks {
			d.Trajectories[i].TaskID = task.ID
		}
	})
}

func TestHintsAreOfTheSameInstanceOrOfAnUnambiguousCommit(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	from := located(t, s, "same@1", "silent@2", "pull-3@3", "pull-4@4", "pull-5@5", "pull-6@5", "Spelt@7", "pull-8@8", "far@9")
	d := seedHinted(t, s, &from, "same@0", "silent@2", "three@3", "four@4", "vier@4", "five@5", "spelt@7", "pull-8@0", "acht@8")
	want := map[string]string{"same": "same.py::f", "three": "pull-3.py::f", "spelt": "Spelt.py::f", "pull-8": "pull-8.py::f", "acht": "pull-8.py::f"}
	for _, tr := range d.Trajectories {
		task, err := s.FindTaskOf(ctx, tr.ID)
		must(t, err)
		var first string
		if len(task.Located) > 0 {
			first = task.Located[0]
		}
		if first != want[task.InstanceID] || first != "" && !slices.Equal(task.Located[1:], []string{"x.py", "y.py"}) {
			t.Errorf("%s has %q, want %q", task.InstanceID, task.Located, want[task.InstanceID])
		}
	}
	run, err := s.FindRun(ctx, d.Run.ID)
	must(t, err)
	from.Instances, from.Answers, from.Tasks = 9, 8, 5
	if run.HintsFrom == nil || *run.HintsFrom != from {
		t.Errorf("the hints are from %+v, want %+v", run.HintsFrom, from)
	}
}

func TestHintsLastLongerThanTheRunThatLocated(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	from := located(t, s, "a@1", "b@2")
	d := seedHinted(t, s, &from, "a@1", "c@3")
	_, measured := tasksetOf(t, s, relabel.Repair, "owner/repo", "b@2")
	deleteRun(t, s, from.RunID)
	// An iteration that begins later, on tasks of another task set.
	p := evaluationOf(d, 1, measured...)
	must(t, s.CreateIteration(ctx, p))
	c := storetest.Claim(t, s, d.Trajectories[0].ID, "w")
	text := "It does not work.\n<hints>\nA search of the repository found these places for the change, the most probable one first:\n\n1. %s.py::f\n2. x.py\n3. y.py\n</hints>"
	wantFirst(t, "claim", c.Run, c.Task, fmt.Sprintf(text, "a"))
	late := storetest.Claim(t, s, p.Trajectories[0].ID, "w")
	wantFirst(t, "claim on a benchmark", late.Run, late.Task, fmt.Sprintf(text, "b"))
	other := storetest.Claim(t, s, d.Trajectories[1].ID, "w")
	wantFirst(t, "claim without hints", other.Run, other.Task, "It does not work.")
	for _, c := range []relabel.Claim{c, late, other} {
		storetest.Finish(t, s, c, 4, true)
	}

	_, err := s.RelabelTrajectory(ctx, c.TrajectoryID, storetest.Policy(t, s, "other").ID, 0)
	must(t, err)
	again, err := s.ClaimRelabeling(ctx, "labeller", storetest.Lease)
	must(t, err)
	wantFirst(t, "relabeling", again.Run, again.Task, fmt.Sprintf(text, "a"))
	exported := 0
	for tr, err := range s.Exported(ctx, relabel.ExportSelection{RunID: d.Run.ID}) {
		must(t, err)
		if exported++; tr.Trajectory.ID == c.TrajectoryID {
			wantFirst(t, "export", c.Run, tr.Task, fmt.Sprintf(text, "a"))
		}
	}
	if exported != 2 {
		t.Errorf("%d trajectories are exported", exported)
	}
}

// wantFirst checks the first message to the agent.
func wantFirst(t testing.TB, where string, run relabel.Run, task relabel.Task, want string) {
	t.Helper()
	opening := run.Prompts.Opening(task)
	if got := opening[len(opening)-1].Content; got != want {
		t.Errorf("%s: the first message is\n%s\nwant\n%s", where, got, want)
	}
}

func TestRunsWithAndWithoutHintsCompareOnOneBenchmark(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	from := located(t, s, "a@1", "b@2")
	with := seedHinted(t, s, &from, "a@1", "b@2", "c@3")
	without := storetest.Seed(t, s, 1)
	evaluations := map[bool]relabel.Iteration{}
	for hinted, d := range map[bool]storetest.Seeded{true: with, false: without} {
		p := evaluationOf(d, 1, with.Tasks...)
		must(t, s.CreateIteration(ctx, p))
		for i, tr := range p.Trajectories {
			storetest.Finish(t, s, storetest.Claim(t, s, tr.ID, "w"), 1, hinted && i == 0)
		}
		it, _, err := s.FindIteration(ctx, p.Iteration.ID)
		must(t, err)
		evaluations[hinted] = it
	}
	c, err := evaluation.CompareStored(ctx, s, evaluations[true], evaluations[false])
	must(t, err)
	if c.Tasks != 3 || c.Better != 1 || c.Evaluation.Hinted != 2 || c.Evaluation.HintsFrom != from.Run || c.With.Hinted != 0 || c.With.HintsFrom != "" {
		t.Errorf("%+v, %+v, %+v", c, c.Evaluation, c.With)
	}
}

func TestHintsForNoTaskAreRefused(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	from := located(t, s, "a@1", "silent@2")
	_, measured := tasksetOf(t, s, relabel.Repair, "owner/repo", "a@1")
	d := storetest.Seed(t, s, 1)
	run := d.Run
	run.ID, run.Name, run.HintsFrom = relabel.NewID(), "hinted", &from
	err := s.CreateRun(ctx, run)
	wantCode(t, err, relabel.CodeInvalid)
	if !strings.Contains(err.Error(), "answers for 1 of 2 instances") || !strings.Contains(err.Error(), "by instance id, then by repository and base commit") {
		t.Error(err)
	}
	_, err = s.FindRun(ctx, run.ID)
	wantCode(t, err, relabel.CodeNotFound)
	benchmarkOf(t, s, "measured", measured...)
	must(t, s.CreateRun(ctx, run))
	deleteRun(t, s, run.ID)
	for _, table := range []string{"run_hints", "hint_answers", "task_hints"} {
		if n := value[int](t, s, "SELECT count(*) FROM "+table); n > 0 {
			t.Errorf("%d rows of %s are left", n, table)
		}
	}
}

package storetest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"relabel"
	"relabel/chat"
	"relabel/store"
)

// Seeded is a run with one collect iteration whose trajectories are queued.
type Seeded struct {
	Taskset      relabel.Taskset
	Tasks        []relabel.Task // one for each trajectory
	Teacher      relabel.Policy
	Student      relabel.Policy
	Run          relabel.Run
	Iteration    relabel.Iteration
	Trajectories []relabel.Trajectory // in the order of Tasks
}

// Seed stores a DAgger run whose iteration 1 has n queued trajectories of six turns; the
// student executes turns 1, 3 and 5.
func Seed(t testing.TB, s *store.Store, n int) Seeded {
	t.Helper()
	return SeedWith(t, s, n, nil)
}

// SeedWith is Seed with its parts changed before they are stored. change is called when
// the iteration is drawn, with nothing stored yet but taskset and policies.
func SeedWith(t testing.TB, s *store.Store, n int, change func(*Seeded)) Seeded {
	t.Helper()
	ctx := context.Background()
	d := Seeded{Taskset: relabel.Taskset{ID: relabel.NewID(), Name: "tasks of " + relabel.NewID().String(), Digest: strings.Repeat("ab", 32)}}
	for i := range n {
		d.Tasks = append(d.Tasks, relabel.Task{ID: relabel.NewID(), TasksetID: d.Taskset.ID, InstanceID: fmt.Sprintf("owner__repo-%04d", i),
			Repo: "owner/repo", Image: "relabel/test", Workdir: "/testbed", ProblemStatement: fmt.Sprintf("Issue %d: it does not work.", i),
			TestCmd: "pytest -rA", LogParser: "pytest", FailToPass: []string{"tests/test_a.py::test_it"}, PassToPass: []string{}})
	}
	must(t, s.CreateTaskset(ctx, d.Taskset, relabel.TaskList(d.Tasks)))
	d.Teacher, d.Student = Policy(t, s, "teacher"), Policy(t, s, "student")
	d.Run = relabel.Run{ID: relabel.NewID(), Name: "run " + relabel.NewID().String(), Recipe: relabel.DAgger, Scaffold: "openhands", Draw: relabel.DrawAnew,
		Prompts:   relabel.Prompts{System: "You fix bugs.", First: "In {workdir}: {problem_statement}", Tools: []relabel.Tool{{Name: "finish", Parameters: "{}"}}},
		TasksetID: d.Taskset.ID, TeacherID: d.Teacher.ID, Labels: relabel.LabelsInline, Limits: relabel.PaperLimits, Seed: 7,
		Beta: &relabel.BetaSchedule{Kind: "constant", Start: 0.5}}
	beta := 0.5
	d.Iteration = relabel.Iteration{ID: relabel.NewID(), RunID: d.Run.ID, Number: 1, Kind: relabel.Collect,
		StudentID: d.Student.ID, Beta: &beta, Generations: 1}
	for _, task := range d.Tasks {
		d.Trajectories = append(d.Trajectories, relabel.Trajectory{ID: relabel.NewID(), TaskID: task.ID, Executors: "sTsTsT"})
	}
	if change != nil {
		change(&d)
	}
	must(t, s.CreateRun(ctx, d.Run))
	must(t, s.CreateIteration(ctx, relabel.PlannedIteration{Iteration: d.Iteration, Trajectories: d.Trajectories}))
	return d
}

// Policy stores a scripted policy of this name.
func Policy(t testing.TB, s *store.Store, name string) relabel.Policy {
	t.Helper()
	p, err := s.CreatePolicy(context.Background(), relabel.Policy{Name: name, BaseURL: "http://127.0.0.1:9/v1", Model: name,
		Server: relabel.ServerScripted, Sampling: relabel.PaperSampling, Limits: relabel.DefaultPolicyLimits})
	must(t, err)
	return p
}

// Lease is how long a test's worker owns what it claims.
const Lease = time.Minute

// Claim claims a trajectory for a worker.
func Claim(t testing.TB, s *store.Store, trajectory relabel.ID, owner string) relabel.Claim {
	t.Helper()
	c, err := s.Claim(context.Background(), trajectory, owner, Lease)
	must(t, err)
	return c
}

// Received is an action of a policy that says content and calls nothing.
func Received(policy relabel.ID, content string) relabel.Action {
	m := relabel.Message{Role: relabel.RoleAssistant, Content: content}
	return relabel.Action{PolicyID: policy, Status: relabel.Received, Raw: chat.AppendMessage(nil, m), Message: m,
		FinishReason: "stop", Parse: relabel.NoCall}
}

// Turn is turn t of a claim by the executor that was drawn. A student's turn carries the
// label; if that is nil, it owes it.
func Turn(c relabel.Claim, t int, label *relabel.Action) relabel.Turn {
	turn := relabel.Turn{T: t, Executor: c.Trajectory.Executors.At(t), Tree: fmt.Sprintf("tree-%d", t),
		Observations: []relabel.Observation{{Content: fmt.Sprintf("observation %d", t)}}}
	if turn.Executor == relabel.Teacher {
		turn.Action = Received(c.Teacher.ID, fmt.Sprintf("action %d", t))
		return turn
	}
	turn.Action = Received(c.Student.ID, fmt.Sprintf("action %d", t))
	if turn.Label = label; label == nil {
		turn.Label = &relabel.Action{PolicyID: c.Teacher.ID, Status: relabel.Pending}
	}
	return turn
}

// Finish takes a claimed trajectory through its turns, labelled, to done.
func Finish(t testing.TB, s *store.Store, c relabel.Claim, turns int, resolved bool) {
	t.Helper()
	ctx := context.Background()
	for i := 1; i <= turns; i++ {
		label := Received(c.Teacher.ID, fmt.Sprintf("label %d", i))
		turn := Turn(c, i, &label)
		if !c.Trajectory.Kind.Labelled() {
			turn.Label = nil
		}
		must(t, s.CommitTurn(ctx, c.Fence, turn))
	}
	must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndFinish, Patch: []byte("diff --git a/a b/a\n"), Submitted: true}))
	must(t, s.BeginVerifying(ctx, c.Fence))
	must(t, s.Finish(ctx, c.Fence, relabel.Verdict{Passed: resolved, Reason: "tests",
		Tests: map[string]relabel.TestStatus{"tests/test_a.py::test_it": relabel.TestPassed}, Output: []byte("1 passed")}))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

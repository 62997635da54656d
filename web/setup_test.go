package web_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/chat"
	"relabel/mixer/schedule"
	"relabel/server"
	"relabel/shard"
	"relabel/shard/shardtest"
	"relabel/store"
	"relabel/store/storetest"
	"relabel/web"
)

// site is the pages over real HTTP, in front of a real database.
type site struct {
	*httptest.Server
	t         testing.TB
	store     *store.Store
	run       relabel.Run
	iteration relabel.Iteration
	rows      web.Exports           // what rows are read by
	searched  int64                 // bytes that a search reads for a page; 0: as many as it does
	mend      []string              // tests of its tasks that fail before the patch
	keep      []string              // and those that pass
	terminal  *relabel.TerminalTask // of its tasks, which are in a terminal then
}

// Row implements web.Exports.
func (s *site) Row(ctx context.Context, e relabel.Export, view relabel.View, n int) (relabel.ShownRow, error) {
	return s.rows.Row(ctx, e, view, n)
}

// Manifest implements web.Exports.
func (s *site) Manifest(ctx context.Context, e relabel.Export) (relabel.Manifest, error) {
	return s.rows.Manifest(ctx, e)
}

// Holds implements web.Exports.
func (s *site) Holds(ctx context.Context, e relabel.Export, view relabel.View, trajectory relabel.ID, in func(string) bool) ([]relabel.HeldLabel, error) {
	return s.rows.Holds(ctx, e, view, trajectory, in)
}

func start(t testing.TB, change ...func(*server.Config)) *site {
	t.Helper()
	s := &site{t: t, store: storetest.New(t), rows: shownRows{}, mend: []string{"t::a"}}
	log := zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.WarnLevel)
	var rest http.Handler
	config := server.Config{Store: s.store, Log: log, Plan: schedule.Plan, DrawHeldOut: schedule.DrawHeldOut,
		PrepareRun: func(r relabel.Run) (relabel.Run, error) { return r, schedule.ValidateRun(r) },
		ChooseScaffold: func(string, relabel.TaskKind) (string, relabel.Prompts, error) {
			return "openhands", relabel.Prompts{}, nil
		},
		Tokenizers: shardtest.Tokenizers(t),
		Exports:    shard.NewExporter(shard.Config{Tokenizers: shardtest.Tokenizers(t), Root: t.TempDir(), FolderID: "here"}), Overview: s.store.Overview,
		Pages: web.New(web.Config{Store: hasty{s.store, &s.searched}, Exports: s, Log: log, REST: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { rest.ServeHTTP(w, r) })})}
	for _, f := range change {
		f(&config)
	}
	rest = server.New(config)
	s.Server = httptest.NewUnstartedServer(nil)
	s.Config = server.NewHTTP("", rest) // with streams that end when it stops
	s.Start()
	t.Cleanup(s.stop)
	return s
}

// stop ends streams before it waits for requests.
func (s *site) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	if err := s.Config.Shutdown(ctx); err != nil {
		s.t.Error(err)
	}
	s.Close()
}

func (s *site) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) get(status int, path string) string {
	s.t.Helper()
	body, _ := s.fetch(status, path)
	return body
}

func (s *site) fetch(status int, path string) (string, http.Header) {
	s.t.Helper()
	res, err := http.Get(s.URL + path)
	s.must(err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	s.must(err)
	if res.StatusCode != status {
		s.t.Fatalf("%s: status %d, want %d: %s", path, res.StatusCode, status, b)
	}
	return string(b), res.Header
}

// begin makes a run with one iteration of queued trajectories, with the given
// executors, one task each.
func (s *site) begin(name string, executors ...string) []relabel.Trajectory {
	s.t.Helper()
	ctx := s.t.Context()
	set := relabel.Taskset{ID: relabel.NewID(), Name: name + " tasks", Digest: strings.Repeat("0", 64), Tasks: len(executors)}
	var tasks []relabel.Task
	for i := range executors {
		tasks = append(tasks, relabel.Task{ID: relabel.NewID(), TasksetID: set.ID, InstanceID: fmt.Sprintf("marshmallow__marshmallow-%d", 1300+i), Image: "relabel/python:1", Workdir: "/testbed",
			ProblemStatement: "TimeDelta serialization is off by one.\n\n```py\nassert f.serialize(345) == 345  # <b>fails</b>\n```", LogParser: "pytest", TestCmd: "pytest -rA", FailToPass: s.mend, PassToPass: s.keep})
	}
	if s.terminal != nil {
		set.Kind = relabel.Terminal
		for i := range tasks {
			tasks[i].Kind, tasks[i].Terminal, tasks[i].LogParser, tasks[i].TestCmd, tasks[i].FailToPass = relabel.Terminal, s.terminal, "", "", nil
		}
	}
	s.must(s.store.CreateTaskset(ctx, set, relabel.TaskList(tasks)))
	policy := func(kind string) relabel.Policy {
		p, err := s.store.CreatePolicy(ctx, relabel.Policy{ID: relabel.NewID(), Name: name + "-" + kind, BaseURL: "http://h/v1", Model: "m", Server: relabel.ServerGeneric, Sampling: relabel.PaperSampling, Limits: relabel.DefaultPolicyLimits})
		s.must(err)
		return p
	}
	teacher, student := policy("teacher"), policy("student")
	s.run = relabel.Run{ID: relabel.NewID(), Name: name, Recipe: relabel.DAgger, Scaffold: "openhands", TasksetID: set.ID, TeacherID: teacher.ID,
		Prompts: relabel.Prompts{System: "You work in a sandbox.", First: "{problem_statement}", Tools: []relabel.Tool{{Name: "finish", Description: "End.", Parameters: `{"type":"object"}`}}},
		Beta:    &relabel.BetaSchedule{Kind: "linear", Start: 1, Step: 0.2, Floor: 0.6}, Limits: relabel.PaperLimits, Seed: 7}
	if s.terminal != nil {
		s.run.TaskKind, s.run.Scaffold = relabel.Terminal, "terminal"
	}
	s.must(s.store.CreateRun(ctx, s.run))
	beta := 0.6
	s.iteration = relabel.Iteration{ID: relabel.NewID(), RunID: s.run.ID, Number: 1, Kind: relabel.Collect, StudentID: student.ID, Beta: &beta, Generations: 1, State: relabel.IterationRunning}
	var all []relabel.Trajectory
	for i, e := range executors {
		all = append(all, relabel.Trajectory{ID: relabel.NewID(), RunID: s.run.ID, IterationID: s.iteration.ID, TaskID: tasks[i].ID, InstanceID: tasks[i].InstanceID,
			Iteration: 1, Kind: relabel.Collect, State: relabel.Queued, Executors: relabel.Executors(e + strings.Repeat("T", relabel.PaperLimits.MaxTurns-len(e)))})
	}
	s.must(s.store.CreateIteration(ctx, relabel.PlannedIteration{Iteration: s.iteration, Trajectories: all}))
	return all
}

// evaluate adds an evaluation of the run's first task by the student alone.
func (s *site) evaluate() relabel.Trajectory { return s.evaluation(1) }

// evaluation is the evaluation with a number.
func (s *site) evaluation(number int) relabel.Trajectory {
	s.t.Helper()
	list, err := s.store.ListTrajectories(s.t.Context(), relabel.TrajectoryFilter{RunID: &s.run.ID}, relabel.Newest, relabel.Page{Limit: 1})
	s.must(err)
	it := relabel.Iteration{ID: relabel.NewID(), RunID: s.run.ID, Number: number, Kind: relabel.Evaluate, StudentID: s.iteration.StudentID, Generations: 1, State: relabel.IterationRunning}
	tr := relabel.Trajectory{ID: relabel.NewID(), RunID: s.run.ID, IterationID: it.ID, TaskID: list.Items[0].TaskID, InstanceID: list.Items[0].InstanceID,
		Iteration: number, Kind: relabel.Evaluate, State: relabel.Queued, Executors: relabel.Executors(strings.Repeat("s", relabel.PaperLimits.MaxTurns))}
	s.must(s.store.CreateIteration(s.t.Context(), relabel.PlannedIteration{Iteration: it, Trajectories: []relabel.Trajectory{tr}}))
	return tr
}

// claim makes a trajectory running.
func (s *site) claim(t relabel.Trajectory) relabel.Fence {
	s.t.Helper()
	c, err := s.store.Claim(s.t.Context(), t.ID, "worker", time.Hour)
	s.must(err)
	return c.Fence
}

// action is what a policy answered.
func (s *site) action(policy relabel.ID, m relabel.Message) relabel.Action {
	m.Role = relabel.RoleAssistant
	return relabel.Action{PolicyID: policy, Status: relabel.Received, Message: m, Raw: chat.AppendMessage(nil, m), FinishReason: "tool_calls", Parse: relabel.ParsedOK,
		Usage: &relabel.Usage{PromptTokens: 4211, CompletionTokens: 96}}
}

func bash(words, command string) relabel.Message {
	arguments := string(chat.AppendString([]byte(`{"command":`), command)) + "}"
	return relabel.Message{Content: words, ToolCalls: []relabel.ToolCall{{ID: "x", Name: "execute_bash", Arguments: arguments}}}
}

// turn is a student's turn with its label, or, without a label, the teacher's.
func (s *site) turn(t int, action relabel.Message, label *relabel.Action, output string) relabel.Turn {
	zero, at := 0, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	turn := relabel.Turn{T: t, Executor: relabel.Student, Action: s.action(s.iteration.StudentID, action), Label: label, Tree: "tree", StartedAt: at, EndedAt: at.Add(1234 * time.Millisecond)}
	if label == nil {
		turn.Executor, turn.Action.PolicyID = relabel.Teacher, s.run.TeacherID
		same := turn.Action
		turn.Label = &same
	}
	for k, c := range action.ToolCalls {
		turn.Observations = append(turn.Observations, relabel.Observation{CallID: relabel.CallID(t, k), Tool: c.Name, Content: output, ExitCode: &zero, Millis: 38})
	}
	return turn
}

func (s *site) label(m relabel.Message) *relabel.Action {
	a := s.action(s.run.TeacherID, m)
	return &a
}

// end finishes a trajectory with a patch and a verdict.
func (s *site) end(f relabel.Fence, patch string, v relabel.Verdict) {
	s.t.Helper()
	ctx := context.Background()
	s.must(s.store.EndRollout(ctx, f, relabel.Ending{Reason: relabel.EndFinish, Patch: []byte(patch), Submitted: patch != ""}))
	s.must(s.store.BeginVerifying(ctx, f))
	s.must(s.store.Finish(ctx, f, v))
}

const patch = `diff --git a/src/marshmallow/fields.py b/src/marshmallow/fields.py
index 1..2 100644
--- a/src/marshmallow/fields.py
+++ b/src/marshmallow/fields.py
@@ -1474,7 +1474,7 @@ class TimeDelta(Field):
         if value is None:
             return None
         base_unit = dt.timedelta(**{self.precision: 1})
-        return int(value.total_seconds() / base_unit.total_seconds())
+        return int(round(value.total_seconds() / base_unit.total_seconds()))
`

// rollout makes a trajectory of every kind of turn, resolved, and one that failed.
func (s *site) rollout() (done, failed relabel.Trajectory) {
	s.t.Helper()
	all := s.begin("demo", "TsssT", "TT", "s")
	f := s.claim(all[0])
	long := strings.Repeat("src/marshmallow/fields.py:1474: match\n", 600)
	missing := &relabel.Action{PolicyID: s.run.TeacherID, Status: relabel.Missing, Reason: "the endpoint answered 500 after 4 tries"}
	edit := relabel.Message{Content: "Round before the cast.", ReasoningContent: "The division is inexact.", ToolCalls: []relabel.ToolCall{{ID: "y", Name: "str_replace_editor",
		Arguments: `{"command":"str_replace","path":"/testbed/src/marshmallow/fields.py","old_str":"        return int(value.total_seconds() / base_unit.total_seconds())","new_str":"        return int(round(value.total_seconds() / base_unit.total_seconds()))"}`}}}
	broken := relabel.Message{Content: "Let me look around.", ToolCalls: []relabel.ToolCall{{ID: "z", Name: "execute_bash", Arguments: `{"command": "ls`}}}
	turns := []relabel.Turn{
		s.turn(1, bash("I look where time deltas are serialised.", "grep -rn total_seconds src/ | head"), nil, long),
		s.turn(2, bash("I run the tests first.", "python -m pytest tests -q\ngit status"), s.label(edit), "\x1b[32m12 passed\x1b[0m, \x1b[31m1 failed\x1b[0m in 0.31s"),
		s.turn(3, bash("Now check.", "git diff"), s.label(bash("Look at what changed.", "git diff")), patch),
		s.turn(4, broken, missing, "The arguments are not valid JSON: unexpected end."),
		s.turn(5, edit, nil, "The file was edited."),
	}
	turns[3].Action.Parse = relabel.MalformedCall
	turns[3].Action.ReadAs, turns[3].Action.NotGiven = []relabel.CallForm{relabel.ThinkTags, relabel.BareJSON}, []string{"logprobs"}
	turns[3].Observations[0].Failed = true
	for _, turn := range turns {
		s.must(s.store.CommitTurn(s.t.Context(), f, turn))
	}
	s.end(f, patch, relabel.Verdict{Passed: true, Reason: "passed", Tests: map[string]relabel.TestStatus{"tests/test_serialization.py::TestFieldSerialization::test_timedelta_field": relabel.TestPassed}, Output: []byte("PASSED tests\n"), Millis: 8123})
	g := s.claim(all[1])
	s.must(s.store.CommitTurn(s.t.Context(), g, s.turn(1, bash("", "ls"), nil, "a")))
	s.must(s.store.Fail(s.t.Context(), g, relabel.FailEnvironment, "the container died"))
	return all[0], all[1]
}

// read reads all of an answer.
func (s *site) read(r io.Reader) string {
	s.t.Helper()
	b, err := io.ReadAll(r)
	s.must(err)
	return string(b)
}

package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"relabel"
	"relabel/web/webtest"
)

// attacked fills every field that a model, a program, a task or a person writes with a text
// that attacks a page, and returns three trajectories: one that is done, another of its task,
// and one that failed.
func (s *site) attacked() (done, other, failed relabel.Trajectory) {
	s.t.Helper()
	ctx := s.t.Context()
	set := relabel.Taskset{ID: relabel.NewID(), Name: "attack " + hostile, Digest: strings.Repeat("0", 64), Tasks: 2}
	var tasks []relabel.Task
	for _, instance := range []string{"attack__one-1", "attack__two-2"} {
		tasks = append(tasks, relabel.Task{ID: relabel.NewID(), TasksetID: set.ID, InstanceID: instance, Image: hostile, Workdir: hostile, Repo: hostile, BaseCommit: hostile,
			ProblemStatement: hostile, HintsText: hostile, LogParser: "pytest", TestCmd: hostile, Patch: patch + "+" + hostile, TestPatch: patch + "+" + hostile,
			FailToPass: []string{"f " + hostile}, PassToPass: []string{"p " + hostile}})
	}
	s.must(s.store.CreateTaskset(ctx, set, relabel.TaskList(tasks)))
	policy := func(name string) relabel.ID {
		p, err := s.store.CreatePolicy(ctx, relabel.Policy{ID: relabel.NewID(), Name: name, BaseURL: "http://h/v1?" + hostile, Model: hostile, Server: relabel.ServerGeneric,
			Sampling: relabel.PaperSampling, Limits: relabel.DefaultPolicyLimits, Tokenizer: hostile, ChatTemplate: hostile})
		s.must(err)
		return p.ID
	}
	beta := 0.5
	s.run = relabel.Run{ID: relabel.NewID(), Name: "run " + hostile, Recipe: relabel.DAgger, Scaffold: "openhands", TasksetID: set.ID, TeacherID: policy("teacher " + hostile),
		Prompts: relabel.Prompts{System: hostile, First: hostile, Tools: []relabel.Tool{{Name: "finish", Description: hostile, Parameters: `{"type":"object"}`}}},
		Beta:    &relabel.BetaSchedule{Kind: "linear", Start: 1, Step: 0.2, Floor: 0.6}, Limits: relabel.PaperLimits}
	s.must(s.store.CreateRun(ctx, s.run))
	s.iteration = relabel.Iteration{ID: relabel.NewID(), RunID: s.run.ID, Number: 1, Kind: relabel.Collect, StudentID: policy("student " + hostile), Beta: &beta, Generations: 2, State: relabel.IterationRunning}
	plan := relabel.PlannedIteration{Iteration: s.iteration}
	for i, task := range []relabel.Task{tasks[0], tasks[0], tasks[1]} {
		plan.Trajectories = append(plan.Trajectories, relabel.Trajectory{ID: relabel.NewID(), RunID: s.run.ID, IterationID: s.iteration.ID, TaskID: task.ID, InstanceID: task.InstanceID, Generation: i % 2,
			Iteration: 1, Kind: relabel.Collect, State: relabel.Queued, Executors: relabel.Executors(strings.Repeat("s", relabel.PaperLimits.MaxTurns))})
	}
	s.must(s.store.CreateIteration(ctx, plan))
	for _, tr := range plan.Trajectories[:2] {
		s.attackTurns(tr)
	}
	claim, err := s.store.Claim(ctx, plan.Trajectories[2].ID, hostile, 1e12)
	s.must(err)
	s.must(s.store.Fail(ctx, claim.Fence, relabel.FailEnvironment, hostile))
	_, err = s.store.PauseRun(ctx, s.run.ID, relabel.PausedByUser, hostile)
	s.must(err)
	_, err = s.store.PauseIteration(ctx, s.iteration.ID, relabel.PausedByUser, hostile)
	if relabel.CodeOf(err) != relabel.CodeConflict { // it may be over
		s.must(err)
	}
	return plan.Trajectories[0], plan.Trajectories[1], plan.Trajectories[2]
}

// attackTurns makes a trajectory with an abandoned attempt, failed calls, reviews and a verdict.
func (s *site) attackTurns(tr relabel.Trajectory) {
	s.t.Helper()
	ctx := s.t.Context()
	f := s.claim(tr)
	s.must(s.store.CommitTurn(ctx, f, s.turn(1, bash(hostile, hostile), s.label(bash(hostile, "ls")), hostile)))
	s.must(s.store.Release(ctx, f))
	claim, err := s.store.Claim(ctx, tr.ID, "worker "+hostile, 1e12)
	s.must(err)
	f = claim.Fence
	s.must(s.store.Diverge(ctx, f, 1, hostile))
	m := relabel.Message{Content: hostile, ReasoningContent: hostile, ToolCalls: []relabel.ToolCall{{ID: hostile, Name: hostile, Arguments: hostile}, {Name: "b", Arguments: `{"` + "<script>" + `":"<script>"}`}}}
	turn := s.turn(1, m, s.label(bash(hostile, hostile)), hostile)
	turn.Action.FinishReason, turn.Action.Refusal, turn.Action.Model, turn.Action.NotGiven = hostile, hostile, hostile, []string{hostile}
	turn.Label.FinishReason, turn.Label.Refusal = hostile, hostile
	turn.Observations[0].Tool, turn.Observations[0].Failed = hostile, true
	s.must(s.store.CommitTurn(ctx, f, turn))
	missing := &relabel.Action{PolicyID: s.run.TeacherID, Status: relabel.Missing, Reason: hostile}
	s.must(s.store.CommitTurn(ctx, f, s.turn(2, m, missing, patch+"+"+hostile)))
	for t := 1; t <= 2; t++ {
		for policy, purpose := range map[relabel.ID]relabel.Purpose{s.iteration.StudentID: relabel.PurposeAct, s.run.TeacherID: relabel.PurposeLabel} {
			s.must(s.store.RecordCall(ctx, relabel.Call{PolicyID: policy, TrajectoryID: &tr.ID, Attempt: f.Attempt, T: t, Purpose: purpose, Tries: 2, Status: 500, FinishReason: hostile,
				Model: hostile, BaseURL: "http://h/" + hostile, Error: hostile, ErrorBody: []byte(hostile)}))
		}
	}
	at := 1
	s.must(s.store.CreateReview(ctx, relabel.Review{ID: relabel.NewID(), TrajectoryID: tr.ID, T: &at, Flag: "<script>", Note: hostile, Author: hostile}))
	s.end(f, patch+"+"+hostile, relabel.Verdict{Reason: hostile, Tests: map[string]relabel.TestStatus{"t " + hostile: relabel.TestFailed}, Output: []byte(hostile)})
}

// came finds what only an attack brings into a page: its elements, its handlers, and the
// characters that change what is seen.
var came = regexp.MustCompile(`<script>|<img|<[a-z](?:[^>"]|"[^"]*")* on[a-z]+=|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\x{202e}|ZgotmplZ`)

func TestAttackTextInEveryFieldIsInertOnEveryPage(t *testing.T) {
	t.Parallel()
	s := start(t)
	done, other, failed := s.attacked()
	e := s.exported()
	first, evaluation := s.evaluation(1), s.evaluation(2)
	benchmark := relabel.Benchmark{ID: relabel.NewID(), Name: hostile, TasksetID: s.run.TasksetID, Source: relabel.BenchmarkSource{Kind: relabel.FromAll}, Limits: relabel.PaperLimits,
		Excluded: []relabel.ExcludedTask{{InstanceID: hostile, Reason: hostile}}}
	s.must(s.store.CreateBenchmark(t.Context(), benchmark, []relabel.ID{done.TaskID}))
	run, iteration, base := "/runs/"+s.run.ID.String(), "/iterations/"+s.iteration.ID.String(), "/trajectories/"+done.ID.String()
	set, query := s.run.TasksetID.String(), url.QueryEscape(hostile)
	pages := []string{"/", run, run + "/tasks", run + "/tasks?q=" + query, run + "/divergence", run + "/scores?policy=" + query + "&iteration=" + query, iteration, run + "/start", run + "/start?student=" + query, run + "/pause?text=" + query, run + "/resume", run + "/cancel",
		run + "/export", run + "/export?views=tree&tokenizer=" + query + "&template=" + query + "&destination=" + query + "&label_policy=" + query + "&exclude_flags=" + query + "&template_text=" + query,
		"/runs/new?name=" + query + "&teacher=" + query + "&prompts.system=" + query, "/policies/new?name=" + "x" + "&model=" + query, run + "/scheduling?priority=1&webhook.url=" + query,
		iteration + "/relabel", iteration + "/retry", base + "/relabel?policy=" + query,
		"/trajectories", "/trajectories?run=" + s.run.ID.String() + "&instance=" + query, "/trajectories/search?text=script", "/trajectories/search?text=" + query, "/trajectories/search?part=found&text=" + query + "&instance_part=attack", base, base + "?attempt=1", base + "/turns?from=1&to=2", base + "/turns?part=cards&from=1&to=2&whole=1", base + "/turns/1", base + "/turns/2",
		base + "/find?q=script", base + "/find?q=" + query, base + "/patch", base + "/test-output", base + "/file.html", base + "/trainer", base + "/reviews", "/trajectories/" + failed.ID.String(),
		"/compare?a=" + done.ID.String() + "&b=" + other.ID.String(), "/compare?part=pairs&pairs=1-1,2-2&a=" + done.ID.String() + "&b=" + other.ID.String(),
		run + "/report", "/benchmarks", "/benchmarks?unnamed=true", "/benchmarks/" + benchmark.ID.String(), "/iterations/" + evaluation.IterationID.String() + "/comparison?with=" + first.IterationID.String(),
		"/benchmarks/new?name=" + query + "&taskset=" + set + "&excluded=" + query + "%3D" + query + "&instances=" + query,
		"/tasks", "/tasks/" + set, "/tasks/" + set + "?q=" + query, "/tasks/" + set + "/attack__one-1",
		"/policies", "/policies/" + s.run.TeacherID.String(), "/policies/" + s.iteration.StudentID.String(), "/exports", "/exports/" + e.ID.String(), "/exports/" + e.ID.String() + "/rows/tree/0", "/reviews", "/reviews?flag=" + url.QueryEscape("<script>")}
	for _, path := range pages {
		page := s.get(200, path)
		if m := came.FindString(page); m != "" {
			at := strings.Index(page, m)
			t.Errorf("%.80s: %q came through: %.200s", path, m, page[max(0, at-100):])
		}
	}
	for _, path := range []string{run + "/export?verdict_protections=" + query, "/runs/new?limits.max_turns=" + query + "&recipe=" + query, iteration + "/retry?reasons=" + query} { // refused at their fields
		if m := came.FindString(s.get(400, path)); m != "" {
			t.Errorf("%.80s: %q came through", path, m)
		}
	}
	for _, path := range []string{base, base + "/turns/1", base + "/turns/2"} { // what calls and attempts say is there, marked
		contains(t, s.get(200, path), "ended by &lt;/a&gt;", "‹U+202E›")
	}
	contains(t, s.get(200, base), "diverged: &lt;/a&gt;")
	contains(t, s.get(200, "/trajectories/"+failed.ID.String()), "Infrastructure error:</b> the sandbox or its engine failed before the first turn: &lt;/a&gt;")
	for _, path := range []string{"/trajectories/" + query, run + "/" + query, "/tasks/" + query, "/policies/" + query, "/compare?a=" + query, base + "/trainer?export=" + query} {
		answer, err := http.Get(s.URL + path)
		s.must(err)
		page := s.read(answer.Body)
		s.must(answer.Body.Close())
		if m := came.FindString(page); m != "" || answer.StatusCode < 400 {
			t.Errorf("%.80s: %q came through an error, %d", path, m, answer.StatusCode)
		}
	}
}

func TestATrajectoryIsRelabelledFromItsPage(t *testing.T) {
	t.Parallel()
	s := start(t)
	tr := s.trained()
	path := "/trajectories/" + tr.ID.String()
	contains(t, s.get(200, path), path+"/relabel")
	contains(t, s.get(200, path+"/relabel?policy=trained-student@1"), "<td class=\"n\">5</td>", "/v1"+path+"/relabel", "trained-student@1", "as many as its executed actions used")
	p := webtest.Open(t, s.URL+path+"/relabel?policy=trained-student@1")
	p.Click("main button.main")
	p.Wait("location.pathname === '" + path + "'")
	list, _, err := s.store.ListRelabelings(t.Context(), relabel.RelabelFilter{TrajectoryID: &tr.ID}, relabel.Page{Limit: 5})
	if err != nil || len(list) != 1 || list[0].PolicyID != s.iteration.StudentID {
		t.Errorf("relabelings: %+v, %v", list, err)
	}
}

package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/chat"
)

func TestARunGoesFromTasksToAnIterationThroughTheInterface(t *testing.T) {
	s := start(t)
	ids := s.seed()

	set := s.want(200, s.get("/v1/tasksets/"+ids.taskset))
	if set.field("tasks") != 3.0 || set.field("held_out") != 1.0 {
		t.Errorf("taskset %s", set.body)
	}
	tasks := s.want(200, s.get("/v1/tasksets/"+ids.taskset+"/tasks?limit=2"))
	rest := s.want(200, s.get("/v1/tasksets/"+ids.taskset+"/tasks?limit=2&after="+tasks.field("next").(string)))
	if len(tasks.field("items").([]any)) != 2 || len(rest.field("items").([]any)) != 1 || rest.field("next") != "" {
		t.Errorf("pages %s %s", tasks.body, rest.body)
	}
	run := s.want(200, s.get("/v1/runs/"+ids.run))
	if run.field("beta", "kind") != "linear" || run.field("limits", "max_turns") != 100.0 || run.field("teacher_id") != ids.teacher || run.field("seed") != 7.0 {
		t.Errorf("run %s", run.body)
	}
	it := s.want(200, s.get("/v1/iterations/"+ids.iteration))
	if it.field("number") != 1.0 || it.field("progress", "trajectories", "queued") != 2.0 {
		t.Errorf("a held-out task is rolled out, or one is missing: %s", it.body)
	}
	second := s.want(201, s.post("/v1/runs/"+ids.run+"/iterations", `{"student":"student","beta":0,"generations":2}`))
	if second.field("number") != 2.0 || second.field("beta") != 0.0 || second.field("generations") != 2.0 {
		t.Errorf("second iteration %s", second.body)
	}
	if n := len(s.want(200, s.get("/v1/runs/"+ids.run+"/iterations")).field("items").([]any)); n != 2 {
		t.Errorf("%d iterations", n)
	}
	cancelled := s.want(200, s.post("/v1/iterations/"+ids.iteration+"/cancel", ""))
	if cancelled.field("state") != "cancelled" || cancelled.field("progress", "trajectories", "cancelled") != 2.0 {
		t.Errorf("cancelled %s", cancelled.body)
	}
	for _, path := range []string{"/v1/policies/teacher", "/v1/policies/" + ids.teacher} {
		if p := s.want(200, s.get(path)); p.field("version") != 1.0 || p.field("sampling", "temperature") != 0.7 {
			t.Errorf("policy %s", p.body)
		}
	}
	again := s.want(201, s.post("/v1/policies", `{"name":"teacher","base_url":"http://127.0.0.1:1/v1","model":"t2","sampling":{"temperature":0}}`))
	if again.field("version") != 2.0 || again.field("sampling", "temperature") != 0.0 || again.field("sampling", "top_p") != 0.9 {
		t.Errorf("new version %s", again.body)
	}
}

func TestListsPageByKeyAndFilter(t *testing.T) {
	s := start(t)
	run := relabel.NewID()
	for i := range 7 {
		tr := relabel.Trajectory{ID: relabel.NewID(), RunID: run, State: relabel.Done, InstanceID: fmt.Sprint(i), Verdict: relabel.VerdictFailed}
		if i == 3 {
			tr.State, tr.Verdict = relabel.Failed, relabel.VerdictError
		}
		tr.Turns = i
		s.store.trajectories = append(s.store.trajectories, tr)
	}
	var seen []any
	address := "/v1/trajectories?limit=3&run=" + run.String()
	next, after := address, ""
	for range 3 {
		a := s.want(200, s.get(next))
		for _, item := range a.field("items").([]any) {
			seen = append(seen, item.(map[string]any)["instance_id"])
		}
		after = a.field("next").(string)
		next = address + "&after=" + after
	}
	if fmt.Sprint(seen) != "[6 5 4 3 2 1 0]" || after != "" {
		t.Errorf("paged through %v, then %q", seen, after)
	}
	for query, want := range map[string]int{"state=failed": 1, "verdict=failed": 6, "verdict=passed": 0, "verdict=error": 1, "run=" + relabel.NewID().String(): 0, "instance=4": 1, "turns_min=5": 2, "turns_min=0": 7} {
		if items := s.want(200, s.get("/v1/trajectories?"+query)).field("items").([]any); len(items) != want {
			t.Errorf("%s: %d items, want %d", query, len(items), want)
		}
	}
}

// rollout puts a trajectory of two turns into the store, full of awkward text.
func (s *service) rollout() relabel.Trajectory {
	ids := s.seed()
	tr := &s.store.trajectories[0]
	tr.Turns, tr.State, tr.Attempt = 2, relabel.Done, 1
	student := relabel.Message{Role: "assistant", Content: "<script>alert(1)</script> \u2028 \xed\xa0\x80", ToolCalls: []relabel.ToolCall{{ID: "x9", Name: "execute_bash", Arguments: `{"b":1, "b":2}`}}}
	label := relabel.Message{Role: "assistant", ToolCalls: []relabel.ToolCall{{ID: "y", Name: "finish", Arguments: `{"é":"<&>"}`}}}
	broken := relabel.Message{Role: "assistant", Content: "half \xff"}
	had := func(policy string, m relabel.Message, raw string) relabel.Action {
		return relabel.Action{PolicyID: must(relabel.ParseID("", policy)), Status: relabel.Received, Message: m, Raw: []byte(raw), Parse: relabel.ParsedOK}
	}
	teach, brk := had(ids.teacher, label, `{"role":"assistant"}`), had(ids.teacher, broken, "{\"content\":\"\xff\"}")
	teach.Said, teach.ReadAs, teach.NotGiven = []byte(`{"role":"assistant","content":"<function=finish>"}`), []relabel.CallForm{relabel.FunctionTags}, []string{"logprobs"}
	missing := relabel.Action{Status: relabel.Missing, Reason: "endpoint: 500 after 4 tries"}
	_ = missing
	s.store.turns[tr.ID] = []relabel.Turn{
		{T: 1, Executor: relabel.Student, Action: had(ids.student, student, `{"role": "assistant"}`), Label: &teach, Observations: []relabel.Observation{{CallID: "call_1_0", Tool: "execute_bash", Content: "<b>\x1b[31mred"}}},
		{T: 2, Executor: relabel.Teacher, Action: brk, Label: &brk},
	}
	return *tr
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestAStateIsTheExactMessagesOfTheTurnsBefore(t *testing.T) {
	s := start(t)
	tr := s.rollout()
	base := "/v1/trajectories/" + tr.ID.String()
	s.store.turns[tr.ID][1].Action.PromptTokenIDs = []int32{5, 6}
	a := s.want(200, s.get(base+"/states/2"))

	run, _ := s.store.FindRun(t.Context(), tr.RunID)
	task, _ := s.store.FindTask(t.Context(), tr.TaskID)
	want := chat.AppendMessages(nil, relabel.State(run.Prompts.Opening(task), s.store.turns[tr.ID][:1]))
	if !strings.Contains(string(a.body), `"messages":`+string(want)) {
		t.Errorf("messages are not those of the state:\n%s\nwant\n%s", a.body, want)
	}
	if strings.Contains(string(want), "finish") {
		t.Error("the label leaked into the state")
	}
	for _, exact := range []string{"<script>alert(1)</script>", `\ud800`, `"{\"b\":1, \"b\":2}"`, `"call_1_0"`, `<b>\u001b[31mred`, `"parameters":{"type":"object","b":1,"a":2}`} {
		if !strings.Contains(string(a.body), exact) {
			t.Errorf("%s does not stand in the answer as it was written", exact)
		}
	}
	if a.field("executor") != "teacher" || a.field("action", "prompt_token_ids", 1) != 6.0 || a.field("action", "exact") != false || a.field("label", "message", "role") != "assistant" {
		t.Errorf("state %s", a.body)
	}
	first := s.want(200, s.get(base+"/states/1?raw=true"))
	var messages []json.RawMessage
	if b, _ := json.Marshal(first.field("messages")); json.Unmarshal(b, &messages) != nil || len(messages) != 2 {
		t.Errorf("the first state is the opening alone: %s", first.body)
	}
	if first.field("label", "message", "tool_calls", 0, "id") != "call_1_0" || first.field("action", "raw", "role") != "assistant" {
		t.Errorf("first state %s", first.body)
	}
	if first.field("label", "raw", "content") != "<function=finish>" || first.field("label", "read_as", 0) != "function_tags" || first.field("label", "not_given", 0) != "logprobs" || first.field("action", "read_as") != nil {
		t.Errorf("what was read from text is not said: %s", first.body)
	}
	s.refused(s.get(base+"/states/3"), 404, relabel.CodeNotFound, "path.t")
	s.refused(s.get(base+"/states/0"), 422, relabel.CodeInvalid, "t")
	s.refused(s.get(base+"/states/x"), 422, relabel.CodeInvalid, "t")
}

func TestTurnsPageWithTheirLabels(t *testing.T) {
	s := start(t)
	tr := s.rollout()
	base := "/v1/trajectories/" + tr.ID.String()
	a := s.want(200, s.get(base+"/turns?limit=1"))
	if a.field("next_from") != 2.0 || a.field("items", 0, "executor") != "student" || a.field("items", 0, "label", "message", "tool_calls", 0, "function", "arguments") != `{"é":"<&>"}` {
		t.Errorf("turns %s", a.body)
	}
	b := s.want(200, s.get(base+"/turns?from=2&raw=true"))
	if b.field("next_from") != nil || b.field("items", 0, "t") != 2.0 || b.field("items", 0, "action", "raw_base64") != "eyJjb250ZW50Ijoi/yJ9" {
		t.Errorf("turns %s", b.body)
	}
}

func TestWhatCameOfATrajectory(t *testing.T) {
	s := start(t)
	tr := s.rollout()
	base := "/v1/trajectories/" + tr.ID.String()
	s.refused(s.get(base+"/verdict"), 404, relabel.CodeNotFound, "")
	s.store.patches[tr.ID] = []byte("diff --git\r\n\x00\xff<b>\n")
	s.store.verdicts[tr.ID] = relabel.Verdict{Passed: true, Reason: "passed", Tests: map[string]relabel.TestStatus{"t::a": relabel.TestPassed}, Output: []byte("<ok>\xff")}
	s.store.attempts[tr.ID] = []relabel.Attempt{{Number: 1, Worker: "v", Outcome: "lost"}, {Number: 2, Worker: "w", Outcome: "done"}}
	s.store.calls[tr.ID] = []relabel.Call{{ID: relabel.NewID(), Status: 200, ErrorBody: []byte("body")}, {ID: relabel.NewID(), Status: 500}}

	patch := s.want(200, s.get(base+"/patch"))
	if string(patch.body) != "diff --git\r\n\x00\xff<b>\n" || patch.Header.Get("Content-Type") != "text/x-diff" {
		t.Errorf("patch %q as %s", patch.body, patch.Header.Get("Content-Type"))
	}
	verdict := s.want(200, s.get(base+"/verdict"))
	if verdict.field("passed") != true || verdict.field("output") != "<ok>\uFFFD" || verdict.field("tests", "t::a") != "PASSED" {
		t.Errorf("verdict %s", verdict.body)
	}
	if a := s.want(200, s.get(base+"/attempts")); a.field("items", 0, "worker") != "v" || a.field("items", 1, "worker") != "w" || a.field("next") != "" {
		t.Errorf("attempts %s", a.body)
	}
	first := s.want(200, s.get(base+"/attempts?limit=1"))
	s.store.attempts[tr.ID] = append(s.store.attempts[tr.ID], relabel.Attempt{Number: 3, Worker: "x"})
	last := s.want(200, s.get(base+"/attempts?limit=2&after="+first.field("next").(string)))
	if first.field("items", 0, "number") != 1.0 || first.field("items", 1) != nil || last.field("items", 0, "number") != 2.0 || last.field("items", 1, "number") != 3.0 || last.field("next") != "" {
		t.Errorf("pages of attempts: %s then %s", first.body, last.body)
	}
	s.refused(s.get(base+"/attempts?after=9"), 422, relabel.CodeInvalid, "query.after")
	calls := s.want(200, s.get(base+"/calls?limit=1"))
	rest := s.want(200, s.get(base+"/calls?limit=1&after="+calls.field("next").(string)))
	if rest.field("items", 0, "status") != 500.0 || rest.field("next") != "" {
		t.Errorf("calls %s", rest.body)
	}
}

func TestTheTaskFileIsRefusedWhole(t *testing.T) {
	s := start(t)
	good := fmt.Sprintf(taskLine, "a__b-1")
	a := s.post("/v1/tasksets?name=x", good+"\n{\"instance_id\":\"b\"}\n", "Content-Type", "application/x-ndjson")
	s.want(422, a)
	if field, _ := a.field("field").(string); !strings.HasPrefix(field, "line 2") {
		t.Errorf("the bad line is not named: %s", a.body)
	}
	named := s.want(422, s.post("/v1/tasksets?name=x&file=a.jsonl", good+"\n{\"instance_id\":\"b\"}\n"))
	if field, _ := named.field("field").(string); !strings.HasPrefix(field, "a.jsonl: line 2") {
		t.Errorf("the file is not named: %s", named.body)
	}
	if len(s.store.tasks) != 0 {
		t.Error("tasks of a bad file were stored")
	}
	s.refused(s.post("/v1/tasksets", good), 422, relabel.CodeInvalid, "name")
	s.refused(s.post("/v1/tasksets?name=x&held_out=nope", good), 422, relabel.CodeInvalid, "held_out")
	s.refused(s.post("/v1/tasksets?name=x&held_out_count=2", good), 422, relabel.CodeInvalid, "held_out_count")
	s.refused(s.post("/v1/tasksets?name=x", ""), 400, "malformed", "")
	drawn := s.want(http.StatusCreated, s.post("/v1/tasksets?name=x&held_out_count=1&held_out_seed=3", good))
	if drawn.field("held_out") != 1.0 {
		t.Errorf("taskset %s", drawn.body)
	}
	s.refused(s.post("/v1/tasksets?name=x", good), 409, relabel.CodeConflict, "name")
}

func TestAnAppendDrawsHeldOutTasksAmongNewOnes(t *testing.T) {
	s := start(t)
	file := func(ids ...string) (lines string) {
		for _, id := range ids {
			lines += fmt.Sprintf(taskLine, id) + "\n"
		}
		return lines
	}
	s.want(http.StatusCreated, s.post("/v1/tasksets?name=x", file("a__b-1", "a__b-2", "a__b-3")))
	s.refused(s.post("/v1/tasksets?name=x&append=true&held_out_count=3", file("a__b-1", "a__b-2", "a__b-3", "a__b-4", "a__b-5")), 422, relabel.CodeInvalid, "held_out_count")
	s.want(http.StatusCreated, s.post("/v1/tasksets?name=x&append=true&held_out_count=2", file("a__b-1", "a__b-2", "a__b-3", "a__b-4", "a__b-5")))
	for _, task := range s.store.tasks {
		if old := slices.Contains([]string{"a__b-1", "a__b-2", "a__b-3"}, task.InstanceID); task.HeldOut == old {
			t.Errorf("%s is held out: %t", task.InstanceID, task.HeldOut)
		}
	}
	s.want(http.StatusCreated, s.post("/v1/tasksets?name=x&append=true&held_out_count=2", file("a__b-1", "a__b-4")))
}

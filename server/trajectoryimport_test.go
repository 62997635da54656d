package server_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"relabel"
	"relabel/atif"
	"relabel/server"
	"relabel/store/storetest"
)

// foreignDocument is a trajectory of another harness, on one line.
const foreignDocument = `{"schema_version":"ATIF-v1.7","trajectory_id":"t-1","agent":{"name":"other","version":"1","extra":{"k":1},"tool_definitions":[{"type":"function","function":{"name":"bash","description":"Runs.","parameters":{"type":"object"}}}]},` +
	`"steps":[{"step_id":1,"source":"system","message":"Be brief."},{"step_id":2,"source":"user","message":"Fix {hints?} é \ud800."},` +
	`{"step_id":3,"source":"agent","message":"","reasoning_content":"Hm.","tool_calls":[{"tool_call_id":"x","function_name":"bash","arguments":{"n": 12345678901234567890}}],` +
	`"observation":{"results":[{"source_call_id":"x","content":"out"}]},"metrics":{"prompt_tokens":5,"completion_tokens":2,"prompt_token_ids":[1,2],"completion_token_ids":[3]}},` +
	`{"step_id":4,"source":"user","message":"Go on."},{"step_id":5,"source":"agent","message":"Done."}]}` + "\n"

const importPath = "/v1/trajectories/import?name=others&student=student&teacher=teacher"

// Imported trajectories are states like others: they are shown, relabelled and written again.
func TestTrajectoriesOfAnotherHarnessAreImported(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	s := start(t, func(c *server.Config) { c.Store = db })
	s.seed()
	second := strings.Replace(strings.Replace(foreignDocument, `"Done."`, `"I stop."`, 1), `"t-1"`, `"t-2"`, 1)
	a := s.want(201, s.post(importPath, foreignDocument+"\n"+foreignDocument+second, "Content-Type", "application/x-ndjson"))
	if a.field("trajectories") != 3.0 || a.field("tasks") != 2.0 || a.field("turns") != 6.0 || a.field("labels") != 0.0 || a.field("ignored", "agent.extra") != 3.0 {
		t.Errorf("imported %s", a.body)
	}
	run := a.field("run", "id").(string)
	list := s.want(200, s.get("/v1/trajectories?sort=oldest&run="+run))
	if list.field("total") != 3.0 || list.field("items", 0, "state") != "done" || list.field("items", 0, "verdict") != "unverified" || list.field("items", 0, "labels_missing") != 2.0 || list.field("items", 0, "ribbon") != "ss" {
		t.Errorf("trajectories %s", list.body)
	}
	want, err := atif.Read([]byte(foreignDocument))
	if err != nil {
		t.Fatal(err)
	}
	id := list.field("items", 0, "id").(string)
	got, err := atif.Read(s.want(200, s.get("/v1/trajectories/"+id+"/atif?prompt_token_ids=true")).body)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(relabel.State(got.Opening, got.Turns), relabel.State(want.Opening, want.Turns)) || !reflect.DeepEqual(got.Tools, want.Tools) {
		t.Errorf("stored %+v, not %+v", got, want)
	}
	if first := got.Turns[0].Action; !reflect.DeepEqual(first.TokenIDs, []int32{3}) || !reflect.DeepEqual(first.PromptTokenIDs, []int32{1, 2}) || first.Usage.PromptTokens != 5 {
		t.Errorf("the first action is %+v", first)
	}
	it := a.field("iteration_id").(string)
	if p := s.want(200, s.get("/v1/iterations/"+it)); p.field("state") != "done" || p.field("progress", "trajectories", "done") != 3.0 {
		t.Errorf("iteration %s", p.body)
	}
	if p := s.want(201, s.post("/v1/iterations/"+it+"/relabel", `{"policy":"teacher"}`)); p.field("pending") != 6.0 {
		t.Errorf("relabelling %s", p.body)
	}
	s.refused(s.post("/v1/runs/"+run+"/iterations", `{"student":"student"}`), 409, "conflict", "")
}

// Documents of relabel come back with labels, executors and submissions.
func TestTrajectoriesOfAnotherRelabelAreImported(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	s := start(t, func(c *server.Config) { c.Store = db })
	d := storetest.Seed(t, db, 1)
	storetest.Finish(t, db, storetest.Claim(t, db, d.Trajectories[0].ID, "w"), 3, true)
	doc := s.want(200, s.get("/v1/trajectories/"+d.Trajectories[0].ID.String()+"/atif")).body
	path := "/v1/trajectories/import?name=again&student=" + d.Student.Name + "&teacher=" + d.Teacher.Name
	a := s.want(201, s.post(path, string(doc), "Content-Type", "application/x-ndjson"))
	if a.field("labels") != 3.0 || a.field("ignored", "extra.relabel.trajectory.resolved") != 1.0 {
		t.Errorf("imported %s", a.body)
	}
	list := s.want(200, s.get("/v1/trajectories?run="+a.field("run", "id").(string)))
	back, err := atif.Read(s.want(200, s.get("/v1/trajectories/"+list.field("items", 0, "id").(string)+"/atif")).body)
	if err != nil {
		t.Fatal(err)
	}
	was, err := atif.Read(doc)
	if err != nil {
		t.Fatal(err)
	}
	for n, turn := range was.Turns {
		if got := back.Turns[n]; got.Executor != turn.Executor || !same(got.Action, turn.Action) || !same(*got.Label, *turn.Label) || !reflect.DeepEqual(got.Observations, turn.Observations) {
			t.Errorf("turn %d is\n%+v, not\n%+v", n+1, got, turn)
		}
	}
	if string(back.Own.Patch) != string(was.Own.Patch) || *back.Own.Trajectory.Submitted != *was.Own.Trajectory.Submitted {
		t.Errorf("the submission is %q", back.Own.Patch)
	}
	verify := "/v1/runs/" + a.field("run", "id").(string) + "/verify"
	for _, again := range []answerOf{s.post(verify, `{"all":true}`), s.post(verify, `{"trajectory":"`+list.field("items", 0, "id").(string)+`","all":true}`), s.get(verify)} {
		s.refused(again, 409, relabel.CodeConflict, "")
		if !strings.Contains(again.fieldText("detail"), "imported trajectories are not graded again") {
			t.Errorf("grading again: %s", again.body)
		}
	}
	if _, err := db.ClaimRegrading(t.Context(), "w", time.Minute); relabel.CodeOf(err) != relabel.CodeNotFound {
		t.Errorf("a regrading is queued: %v", err)
	}
	s.refused(s.post(strings.Replace(path, "teacher="+d.Teacher.Name, "teacher="+d.Student.Name, 1), string(doc), "Content-Type", "application/x-ndjson"), 422, "invalid", "line 1: extra.relabel.teacher")
}

// A document that cannot be imported is named, and nothing of the others is stored.
func TestABadDocumentStopsTheWholeImport(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	s := start(t, func(c *server.Config) { c.Store = db })
	s.seed()
	for _, c := range []struct{ old, new, field string }{
		{`"Be brief."`, `"Be long."`, "line 2: steps[0].message"},
		{`"Runs."`, `"Walks."`, "line 2: agent.tool_definitions"},
		{`é \ud800.`, `another`, "line 2: trajectory_id"},
		{`"step_id":4`, `"step_id":9`, "line 2: steps[3].step_id"},
		{`"prompt_tokens":5`, `"prompt_tokens":3000000000`, "line 2: steps[2].metrics.prompt_tokens"},
		{`"completion_tokens":2`, `"completion_tokens":-2`, "line 2: steps[2].metrics.completion_tokens"},
		{`"completion_token_ids":[3]`, `"completion_token_ids":[3],"logprobs":[-1,-2]`, "line 2: steps[2].metrics.logprobs"},
		{`"t-1"`, `"t\u0000"`, "line 2: trajectory_id"},
		{`"t-1"`, `"` + strings.Repeat("x", 10_000) + `"`, "line 2: trajectory_id"},
		{`{"schema`, `["schema`, "line 2"},
	} {
		s.refused(s.post(importPath, foreignDocument+strings.Replace(foreignDocument, c.old, c.new, 1), "Content-Type", "application/x-ndjson"), 422, "invalid", c.field)
	}
	s.want(422, s.post("/v1/trajectories/import?name=others&student=nobody&teacher=teacher", foreignDocument, "Content-Type", "application/x-ndjson"))
	if sets, _, err := db.ListTasksets(context.Background(), relabel.Page{}); err != nil || len(sets) != 1 {
		t.Errorf("%v, %d task sets", err, len(sets))
	}
	s.want(201, s.post("/v1/exclusions", `{"name":"pro","entries":["t-1"]}`))
	s.refused(s.post(importPath, foreignDocument, "Content-Type", "application/x-ndjson"), 409, "conflict", "")
}

package server_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"relabel"
	"relabel/modelfiles"
	"relabel/server"
	"relabel/shard/shardtest"
	"relabel/shard/tokenizers"
	"relabel/store"
	"relabel/store/storetest"
)

// modelFiles are those of a small student, whose tokenizer.json change may edit.
func modelFiles(t *testing.T, change func(tokenizer []byte) []byte) relabel.TokenizerFiles {
	t.Helper()
	files, err := modelfiles.ReadFolder(shardtest.Student(t))
	if err != nil {
		t.Fatal(err)
	}
	files[relabel.TokenizerJSON] = change(files[relabel.TokenizerJSON])
	return files
}

// scoringPolicy stores a policy with a registered tokenizer, if files are given.
func scoringPolicy(t *testing.T, s *store.Store, name string, kind relabel.ServerKind, files relabel.TokenizerFiles) relabel.Policy {
	t.Helper()
	ctx, p := context.Background(), relabel.Policy{Name: name, BaseURL: "http://127.0.0.1:9/v1", Model: name, Server: kind,
		Sampling: relabel.PaperSampling, Limits: relabel.DefaultPolicyLimits, Price: &relabel.Price{Input: 2, Currency: "EUR"}}
	if files != nil {
		tokens, err := s.CreateTokenizer(ctx, name, files)
		if err != nil {
			t.Fatal(err)
		}
		p.Tokenizer, p.TokenizerHash = tokens.Name, tokens.Hash
	}
	p, err := s.CreatePolicy(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// rollOut adds an iteration of the student to the run, with one rollout of six turns.
func rollOut(t *testing.T, s *store.Store, d storetest.Seeded, number int, student relabel.Policy, executors relabel.Executors) {
	t.Helper()
	it, tr := d.Iteration, relabel.Trajectory{ID: relabel.NewID(), TaskID: d.Tasks[0].ID, Executors: executors}
	it.ID, it.Number, it.StudentID = relabel.NewID(), number, student.ID
	if err := s.CreateIteration(context.Background(), relabel.PlannedIteration{Iteration: it, Trajectories: []relabel.Trajectory{tr}}); err != nil {
		t.Fatal(err)
	}
	storetest.Finish(t, s, storetest.Claim(t, s, tr.ID, "roller"), 6, true)
}

func TestOnlyAPolicyWithTheStudentsVocabularyScores(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	opener, err := tokenizers.NewOpener(db, "")
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, func(c *server.Config) { c.Store, c.Tokenizers = db, opener })
	same := func(file []byte) []byte { return file }
	student := scoringPolicy(t, db, "the-student", relabel.ServerVLLM, modelFiles(t, same))
	d := storetest.SeedWith(t, db, 1, func(d *storetest.Seeded) { d.Student, d.Iteration.StudentID = student, student.ID })
	storetest.Finish(t, db, storetest.Claim(t, db, d.Trajectories[0].ID, "roller"), 6, true)
	scoringPolicy(t, db, "thinker", relabel.ServerSGLang, modelFiles(t, func(file []byte) []byte { return bytes.ReplaceAll(file, []byte("<think>"), []byte("<thought>")) }))
	scoringPolicy(t, db, "black-box", relabel.ServerOpenAI, modelFiles(t, same))
	rollOut(t, db, d, 2, scoringPolicy(t, db, "unknown", relabel.ServerVLLM, nil), "TTTTTT")
	scoringPolicy(t, db, "foreign", relabel.ServerVLLM, modelFiles(t, func(file []byte) []byte {
		return bytes.ReplaceAll(file, []byte(`"ignore_merges":false`), []byte(`"ignore_merges":true`))
	}))

	path := "/v1/runs/" + d.Run.ID.String() + "/scores"
	own, err := opener.Vocabulary(t.Context(), student)
	if err != nil {
		t.Fatal(err)
	}
	for policy, says := range map[string]string{"black-box": "can label", "unknown": "no registered tokenizer", "foreign": own, "nobody": "no policy"} {
		for _, a := range []answerOf{s.post(path, `{"policy":"`+policy+`"}`), s.get(path + "/estimate?policy=" + policy)} {
			if s.refused(a, 422, "invalid", "policy"); !strings.Contains(a.fieldText("detail"), says) {
				t.Errorf("%s: %s", policy, a.body)
			}
		}
	}
	estimate := s.want(200, s.get(path+"/estimate?policy=thinker&iteration=1"))
	if estimate.field("skipped") != nil || estimate.field("turns") != 3.0 || estimate.field("without_ids") != 3.0 || estimate.field("currency") != "EUR" {
		t.Errorf("estimate %s", estimate.body)
	}
	if a := s.want(200, s.get(path)); len(a.field("items").([]any)) != 0 {
		t.Errorf("an estimate queued %s", a.body)
	}
	started := s.want(200, s.post(path, `{"policy":"thinker","top_k":5,"priority":3}`))
	if started.field("items", 0, "pending") != 3.0 || started.field("items", 0, "kind") != "collect" {
		t.Errorf("started %s", started.body)
	}
	s.refused(s.post(path, `{"policy":"thinker","top_k":4}`), 409, "conflict", "top_k")
	s.refused(s.post(path, `{"policy":"thinker","top_k":21}`), 422, "invalid", "top_k")
	list := s.want(200, s.get("/v1/scorings?policy=thinker&run="+d.Run.ID.String()))
	if list.field("items", 0, "top_k") != 5.0 || list.field("items", 0, "priority") != 3.0 {
		t.Errorf("scorings %s", list.body)
	}
	s.want(200, s.get("/v1/scorings/"+list.field("items", 0, "id").(string)))
	if a := s.want(200, s.post(path+"/cancel", `{"policy":"thinker"}`)); a.field("cancelled") != 1.0 {
		t.Errorf("cancelled %s", a.body)
	}
	if a := s.want(200, s.get("/v1/trajectories/"+d.Trajectories[0].ID.String()+"/scores?policy=thinker")); len(a.field("items").([]any)) != 0 {
		t.Errorf("scores %s", a.body)
	}
	far := s.want(200, s.get("/v1/runs/"+d.Run.ID.String()+"/divergence"))
	if far.field("items", 0, "unscored") != 3.0 || far.field("items", 0, "agreement", "compared") != 3.0 || far.field("items", 0, "agreement", "tools", 0, "compared") != 3.0 {
		t.Errorf("divergence %s", far.body)
	}
	far = s.want(200, s.get("/v1/divergence?policy=thinker&runs="+d.Run.ID.String())) // the first labels are not the thinker's
	if items := far.field("runs", 0, "items").([]any); len(items) != 1 || items[0].(map[string]any)["agreement"] != nil || far.field("runs", 0, "teacher") != "thinker@1" {
		t.Errorf("divergence from another policy %s", far.body)
	}
	s.refused(s.get("/v1/divergence?runs=nothing"), 422, relabel.CodeInvalid, "query.runs[0]")
	s.refused(s.get("/v1/divergence"), 422, relabel.CodeInvalid, "runs")
}

func TestAStudentWithoutATokenizerIsSkippedUnlessItIsTheOnlyOne(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	opener, err := tokenizers.NewOpener(db, "")
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, func(c *server.Config) { c.Store, c.Tokenizers = db, opener })
	files := modelFiles(t, func(file []byte) []byte { return file })
	student := scoringPolicy(t, db, "the-student", relabel.ServerVLLM, files)
	d := storetest.SeedWith(t, db, 1, func(d *storetest.Seeded) { d.Student, d.Iteration.StudentID = student, student.ID })
	storetest.Finish(t, db, storetest.Claim(t, db, d.Trajectories[0].ID, "roller"), 6, true)
	scoringPolicy(t, db, "thinker", relabel.ServerSGLang, files)
	rollOut(t, db, d, 2, scoringPolicy(t, db, "unknown", relabel.ServerVLLM, nil), "ssssss")

	path := "/v1/runs/" + d.Run.ID.String() + "/scores"
	const why = "the turns of the student unknown@1 cannot be scored"
	estimate := s.want(200, s.get(path+"/estimate?policy=thinker"))
	if all, _ := estimate.field("skipped").([]any); len(all) != 1 || !strings.HasPrefix(all[0].(string), why) {
		t.Errorf("estimate %s", estimate.body)
	}
	a := s.get(path + "/estimate?policy=thinker&iteration=2")
	if s.refused(a, 422, "invalid", "policy"); !strings.Contains(a.fieldText("detail"), why) {
		t.Errorf("of its iteration alone: %s", a.body)
	}
	s.want(200, s.post(path, `{"policy":"thinker"}`))
}

package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relabel"
	"relabel/shard/shardtest"
)

func TestExportsAreQueuedAndShown(t *testing.T) {
	s := start(t)
	ids := s.seed()
	s.store.iterations[0].State = relabel.IterationDone
	a := s.want(201, s.post("/v1/exports", `{"run":"`+ids.run+`","iteration":1,"submitted":true}`))
	if a.field("state") != "queued" || a.field("form", "views").([]any)[0] != "messages" || a.field("selection", "submitted") != true || a.field("selection", "iteration") != 1.0 {
		t.Errorf("export %s", a.body)
	}
	id := a.field("id").(string)
	s.want(200, s.get("/v1/exports/"+id))
	if n := len(s.want(200, s.get("/v1/exports")).field("items").([]any)); n != 1 {
		t.Errorf("%d exports", n)
	}
	s.refused(s.get("/v1/exports/"+id+"/files/manifest.json"), 409, "conflict", "")
}

func TestNoPartOfAnIterationIsExported(t *testing.T) {
	s := start(t)
	ids := s.seed()
	for range 2 {
		s.want(201, s.post("/v1/runs/"+ids.run+"/iterations", `{"student":"student"}`))
	}
	is := func(states ...relabel.IterationState) {
		for i, state := range states {
			s.store.iterations[i].State = state
		}
	}
	ask := func(rest string) answerOf { return s.post("/v1/exports", `{"run":"`+ids.run+`"`+rest+`}`) }
	running := func(a answerOf, number string) {
		t.Helper()
		s.refused(a, 409, relabel.CodeConflict, "iteration")
		if said := a.fieldText("detail"); !strings.Contains(said, "iteration "+number+" is still running: wait until it is done, cancel it, or export its finished trajectories (unfinished)") {
			t.Errorf("it says %q", said)
		}
	}
	is(relabel.IterationRunning, relabel.IterationDone, relabel.IterationRunning)
	running(ask(`,"iteration":1`), "1")
	running(ask(`,"iteration":3`), "3")
	running(ask(`,"iteration":2,"aggregated":true`), "1")
	running(ask(`,"aggregated":true`), "1")
	s.want(201, ask(`,"iteration":2`))
	s.want(201, ask(``)) // the latest done one
	for _, rest := range []string{``, `,"iteration":1`, `,"aggregated":true`} {
		s.want(201, ask(rest+`,"unfinished":true`))
		if sel := s.store.exports[len(s.store.exports)-1].Selection; !sel.Unfinished {
			t.Errorf("%s: what is queued selects %+v", rest, sel)
		}
	}
	is(relabel.IterationCancelled)
	s.want(201, ask(`,"aggregated":true`))
	s.want(201, ask(`,"iteration":1`))
	s.want(201, s.post("/v1/runs/"+ids.run+"/iterations", `{"student":"student","kind":"evaluate"}`))
	s.want(201, ask(`,"iteration":1`)) // an evaluation that runs is in nobody's way
	s.store.iterations[2].State, s.store.iterations[2].BenchmarkID = relabel.IterationDone, new(relabel.NewID())
	s.want(201, ask(``)) // the latest only measures
	if sel := s.store.exports[len(s.store.exports)-1].Selection; sel.Iteration != 2 {
		t.Errorf("the latest iteration for training is %d", sel.Iteration)
	}
	s.refused(ask(`,"iteration":3`), 422, relabel.CodeInvalid, "iteration")
	if n := len(s.store.exports); n != 9 {
		t.Errorf("%d exports are queued, not 9", n)
	}
}

func TestExportFilesAreReadInRangesAndOnlyFromTheirDirectory(t *testing.T) {
	s := start(t)
	id := relabel.NewID()
	writeFile(t, s.exports, "secret.txt", "canary")
	writeFile(t, s.exports, id.String()+"/data/train-00000.parquet", "0123456789")
	if err := os.Symlink("../secret.txt", filepath.Join(s.exports, id.String(), "link")); err != nil {
		t.Fatal(err)
	}
	e := relabel.Export{ID: id, State: relabel.ExportDone, FolderID: "here", Files: []relabel.ExportFile{{Path: "data/train-00000.parquet", SHA256: "abc", Bytes: 10}}}
	s.store.exports = append(s.store.exports, e)
	base := "/v1/exports/" + e.ID.String() + "/files/"

	whole := s.want(200, s.get(base+"data/train-00000.parquet"))
	if string(whole.body) != "0123456789" || whole.Header.Get("ETag") != `"abc"` || whole.Header.Get("Accept-Ranges") != "bytes" {
		t.Errorf("file %q %v", whole.body, whole.Header)
	}
	part := s.want(206, s.get(base+"data/train-00000.parquet", "Range", "bytes=2-4"))
	if string(part.body) != "234" || part.Header.Get("Content-Range") != "bytes 2-4/10" {
		t.Errorf("part %q %v", part.body, part.Header)
	}
	s.want(304, s.get(base+"data/train-00000.parquet", "If-None-Match", `"abc"`))
	s.refused(s.get(base+"data/train-00000.parquet", "Range", "bytes=20-"), 416, "range_unsatisfiable", "header")
	s.refused(s.get(base+"data/train-00000.parquet", "If-Match", `"other"`), 412, "precondition_failed", "header")
	for _, path := range []string{"nothing", "data", "", "link", "../secret.txt", "%2e%2e/secret.txt", "..%2fsecret.txt", "data/../../secret.txt", "/etc/passwd", "%2fetc%2fpasswd"} {
		a := s.get(base + path)
		s.refused(a, 404, "not_found", "")
	}
	s.refused(s.get("/v1/exports/x/files/a"), 422, "invalid", "path.id")
}

func TestExportsAreRefusedWhereTheirFormCannotBe(t *testing.T) {
	s := start(t)
	ids := s.seed()
	s.store.iterations[0].State = relabel.IterationDone
	ask := func(rest string) answerOf { return s.post("/v1/exports", `{"run":"`+ids.run+`",`+rest+`}`) }
	for _, c := range []struct{ body, field, says string }{
		{`"views":["linear"]`, "tokenizer", "is required for all views but messages"},
		{`"capacity":65536`, "capacity", "does not apply to messages: omit it, or add linear, packed or tree"},
		{`"views":["messages"],"tokenizer":"/nowhere"`, "tokenizer", "does not apply to"},
		{`"reasoning":"keep"`, "reasoning", "does not apply to"},
		{`"views":["tree"],"tokenizer":"/nowhere","bare":true`, "bare", "the linear view"},
		{`"views":["linear"],"tokenizer":"/nowhere","capacity":1000,"max_length":1001`, "max_length", "exceeds the capacity"},
		{`"for":"nanogpt"`, "for", "choose trl, prime-rl, verl"},
		{`"for":"torchtitan"`, "for", "takes one message of the user"},
		{`"views":["chat"]`, "for", "must be named too: "},
		{`"for":"axolotl","views":["tree"],"tokenizer":"/nowhere"`, "views", "axolotl does not read the view tree"},
		{`"for":"axolotl","normalisation":"transition","tokenizer":"/nowhere"`, "for", "choose trl, verl"},
		{`"for":"openai","capacity":1000`, "capacity", "does not apply to"},
		{`"destination":"ftp://x/y"`, "destination", "use s3, azblob or hf"},
		{`"destination":"s3://key:secret@bucket"`, "destination", "must not contain a key"},
		{`"views":["linear"],"tokenizer":"` + t.TempDir() + `"`, "tokenizer", ""},
	} {
		a := ask(c.body)
		s.refused(a, 422, "invalid", c.field)
		if said := a.fieldText("detail"); !strings.Contains(said, c.says) {
			t.Errorf("%s: it says %q", c.body, said)
		}
	}
	student := shardtest.Student(t)
	if err := os.CopyFS(filepath.Join(s.tokenizers, "student"), os.DirFS(student)); err != nil {
		t.Fatal(err)
	}
	a := s.want(201, ask(`"views":["packed","linear"],"tokenizer":"student","destination":"s3://bucket/p?region=x"`))
	if a.field("directory") != "s3://bucket/p/"+a.field("id").(string) || a.field("form", "views").([]any)[0] != "linear" || a.field("form", "max_length") != 65536.0 {
		t.Errorf("export %s", a.body)
	}
	options := `{"depth":1.0,"more":{"z":1e3,"a":2}}` // numbers and order as they were written
	s.want(201, ask(`"views":["linear"],"tokenizer":"student","template_options":`+options))
	if kept := string(s.store.exports[len(s.store.exports)-1].Form.TemplateOptions); kept != options {
		t.Errorf("template_options are kept as %s", kept)
	}
	for i := range s.store.policies {
		s.store.policies[i].Tokenizer = filepath.Join(s.tokenizers, "student") // as older policies name it
	}
	if a = s.want(201, ask(`"views":["linear"]`)); a.field("form", "tokenizer") != filepath.Join(s.tokenizers, "student") {
		t.Errorf("export %s", a.body)
	}
}

func TestExportsAreOfARunByItsNameAndListedByIt(t *testing.T) {
	s := start(t)
	ids := s.seed()
	s.store.iterations[0].State = relabel.IterationDone
	name := s.store.runs[0].Name
	mine := s.want(201, s.post("/v1/exports", fmt.Sprintf(`{"run":%q,"reasoning":"drop"}`, name)))
	if mine.field("selection", "run_id") != ids.run || mine.field("form", "reasoning") != "drop" {
		t.Errorf("export %s", mine.body)
	}
	s.refused(s.post("/v1/exports", `{"run":"nobody's"}`), 422, "invalid", "run")
	other := s.store.runs[0]
	other.ID, other.Name = relabel.NewID(), "another"
	s.store.runs = append(s.store.runs, other)
	s.refused(s.post("/v1/exports", `{"run":"another"}`), 409, "conflict", "iteration") // there is nothing to export
	s.store.exports = append(s.store.exports, relabel.Export{ID: relabel.NewID(), Selection: relabel.ExportSelection{RunID: other.ID}})
	for run, want := range map[string]int{"": 2, "?run=" + ids.run: 1, "?run=" + other.ID.String(): 1, "?run=" + relabel.NewID().String(): 0} {
		if got := s.want(200, s.get("/v1/exports"+run)).field("items").([]any); len(got) != want {
			t.Errorf("%q lists %d, not %d", run, len(got), want)
		}
	}
	s.refused(s.get("/v1/exports?run=x"), 422, "invalid", "run")
}

func TestExportsAreCancelledAndDeleted(t *testing.T) {
	s := start(t)
	ids := s.seed()
	s.store.iterations[0].State = relabel.IterationDone
	id := s.want(201, s.post("/v1/exports", `{"run":"`+ids.run+`"}`)).field("id").(string)
	s.refused(s.send("DELETE", "/v1/exports/"+id, ""), 409, "conflict", "")
	if a := s.want(200, s.post("/v1/exports/"+id+"/cancel", "")); a.field("state") != "cancelled" {
		t.Errorf("export %s", a.body)
	}
	writeFile(t, s.exports, id+"/messages/00000.parquet", "PAR1")
	if a := s.want(200, s.send("DELETE", "/v1/exports/"+id, "")); a.field("id") != id || a.field("left") != nil {
		t.Errorf("deleted: %s", a.body)
	}
	s.refused(s.get("/v1/exports/"+id), 404, "not_found", "")
	if _, err := os.Stat(filepath.Join(s.exports, id)); !os.IsNotExist(err) {
		t.Errorf("its files: %v", err)
	}
	far := relabel.Export{ID: relabel.NewID(), State: relabel.ExportDone, FolderID: "another", Directory: "/far/away"}
	s.store.exports = append(s.store.exports, far)
	s.refused(s.send("DELETE", "/v1/exports/"+far.ID.String(), ""), 409, "conflict", "")
	a := s.want(200, s.send("DELETE", "/v1/exports/"+far.ID.String()+"?leave_files=true", ""))
	if left, _ := a.field("left").(string); !strings.Contains(left, "what there is in /far/away could not be removed: its files are in another data folder") {
		t.Errorf("deleted: %s", a.body)
	}
	s.refused(s.get("/v1/exports/"+far.ID.String()), 404, "not_found", "")
}

func TestAFinishedExportIsPushed(t *testing.T) {
	s := start(t)
	ids := s.seed()
	s.store.iterations[0].State = relabel.IterationDone
	id := s.want(201, s.post("/v1/exports", `{"run":"`+ids.run+`"}`)).field("id").(string)
	push := func(body string) answerOf { return s.post("/v1/exports/"+id+"/push", body) }
	s.refused(push(`{"destination":"hf://acme/set"}`), 409, relabel.CodeConflict, "") // it is queued
	s.store.exports[0].State = relabel.ExportDone
	writeFile(t, s.exports, id+"/manifest.json", `{"schema_version":1,"secrets":{"rules":1,"found":{"jwt":2},"first":[]}}`)
	s.refused(push(`{}`), 422, relabel.CodeInvalid, "destination")
	s.refused(push(`{"destination":"s3://bucket"}`), 422, relabel.CodeInvalid, "destination")
	s.refused(push(`{"destination":"hf://acme"}`), 422, relabel.CodeInvalid, "destination")
	s.refused(push(`{"destination":"hf://acme/set","allow_secrets":["fun"]}`), 422, relabel.CodeInvalid, "allow_secrets[0]")
	a := push(`{"destination":"hf://acme/set"}`)
	s.refused(a, 409, relabel.CodeConflict, "")
	if !strings.Contains(a.fieldText("detail"), "2 × jwt") {
		t.Errorf("with secrets: %s", a.body)
	}
	s.refused(s.post("/v1/exports/"+id+"/push/cancel", ""), 409, relabel.CodeConflict, "")
	for range 2 {
		a := s.want(200, push(`{"destination":"hf://acme/set@main","allow_secrets":["jwt"]}`))
		if pushes := a.field("pushes").([]any); len(pushes) != 1 || a.field("pushes", 0, "destination") != "hf://acme/set" || a.field("pushes", 0, "state") != "queued" {
			t.Errorf("it is %s", a.body)
		}
	}
	s.refused(s.send("DELETE", "/v1/exports/"+id, ""), 409, relabel.CodeConflict, "")
	if a := s.want(200, s.post("/v1/exports/"+id+"/push/cancel", "")); a.field("pushes", 0, "state") != "cancelled" {
		t.Errorf("cancelled it is %s", a.body)
	}
	s.refused(s.post("/v1/exports/"+relabel.NewID().String()+"/push", `{"destination":"hf://acme/set"}`), 404, "not_found", "")
}

package server_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"relabel/outbound"
	"relabel/server"
	"relabel/shard/shardtest"
)

// studentTar is a tar file of a student's folder, with files put over its own.
func studentTar(t *testing.T, over map[string]string) string {
	t.Helper()
	dir := shardtest.Student(t)
	files := map[string]string{}
	for _, name := range []string{"tokenizer.json", "tokenizer_config.json"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	for name, text := range over {
		files[name] = text
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for name, text := range files {
		_, err := w.Write(nil)
		err = errors.Join(err, w.WriteHeader(&tar.Header{Name: "./" + name, Mode: 0o644, Size: int64(len(text))}))
		if _, writeError := w.Write([]byte(text)); errors.Join(err, writeError) != nil {
			t.Fatal(err, writeError)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func (s *service) upload(name, body string) answerOf {
	return s.post("/v1/tokenizers?name="+name, body, "Content-Type", "application/x-tar")
}

func TestATokenizerIsRegisteredNamedAndDeleted(t *testing.T) {
	s := start(t)
	ids := s.seed()
	s.store.iterations[0].State = "done"
	first := s.want(201, s.upload("student", studentTar(t, nil)))
	hash := first.fieldText("hash")
	if first.field("version") != 1.0 || len(hash) != 64 || len(first.field("files").([]any)) != 2 {
		t.Errorf("%s", first.body)
	}
	if again := s.want(201, s.upload("student", studentTar(t, nil))); again.fieldText("id") != first.fieldText("id") {
		t.Errorf("the same files: %s", again.body)
	}
	moved := s.want(201, s.upload("student", studentTar(t, map[string]string{"config.json": "{}"})))
	if moved.field("version") != 2.0 || moved.fieldText("hash") == hash {
		t.Errorf("other files: %s", moved.body)
	}
	for word, version := range map[string]float64{"student": 2, "student@1": 1, hash: 1} {
		if one := s.want(200, s.get("/v1/tokenizers/"+word)); one.field("version") != version {
			t.Errorf("%s: %s", word, one.body)
		}
	}
	if list := s.want(200, s.get("/v1/tokenizers")).field("items").([]any); len(list) != 2 {
		t.Errorf("%d are listed", len(list))
	}
	if files := s.want(200, s.get("/v1/tokenizers/student@1/files")); files.Header.Get("Content-Type") != "application/x-tar" || !strings.Contains(string(files.body), "tokenizer_config.json") {
		t.Errorf("files: %v", files.Header)
	}
	for _, word := range []string{"student@1", hash} {
		e := s.want(201, s.post("/v1/exports", `{"run":"`+ids.run+`","views":["linear"],"tokenizer":"`+word+`"}`))
		if e.field("form", "tokenizer") != word || e.field("form", "tokenizer_hash") != hash {
			t.Errorf("export %s", e.body)
		}
	}
	p := s.want(201, s.post("/v1/policies", `{"name":"new-student","base_url":"http://x/v1","model":"m","tokenizer":"student@1","template_text":"{{ messages }}"}`))
	if p.fieldText("tokenizer_hash") != hash || p.fieldText("template_text") != "{{ messages }}" {
		t.Errorf("policy %s", p.body)
	}
	s.want(200, s.send("DELETE", "/v1/tokenizers/student", ""))
	s.refused(s.get("/v1/tokenizers/student"), 404, "not_found", "")
}

func TestUploadsThatAreNoTokenizersAreRefused(t *testing.T) {
	s := start(t)
	for name, c := range map[string]struct{ body, field string }{
		"text":      {"not a tar file", "body"},
		"unknown":   {studentTar(t, map[string]string{"tokenizer.json": `{"model":{"type":"Unigram"}}`}), "tokenizer.json"},
		"template":  {studentTar(t, map[string]string{"chat_template.jinja": "{% nonsense %}"}), "chat_template.jinja:1:4"},
		"weights":   {studentTar(t, map[string]string{"model.safetensors": "x"}), "body"},
		"traversal": {studentTar(t, map[string]string{"../../etc/passwd": "x"}), "body"},
		"deep":      {studentTar(t, map[string]string{"tokenizer_config.json": strings.Repeat("[", 100_000)}), "tokenizer_config.json"},
	} {
		s.refused(s.upload(name, c.body), 422, "invalid", c.field)
	}
	s.refused(s.upload("a/b", studentTar(t, nil)), 422, "invalid", "name")
	s.refused(s.upload(strings.Repeat("0", 64), studentTar(t, nil)), 422, "invalid", "name")
	s.refused(s.upload("none", ""), 400, "malformed", "")
}

// hostilePaths are what a request may name so that whoever reads it reads without end, waits
// without end, or reads what is not its own.
func hostilePaths(t *testing.T, below string) []string {
	t.Helper()
	outside := t.TempDir()
	err := errors.Join(syscall.Mkfifo(filepath.Join(below, "pipe"), 0o644), os.WriteFile(filepath.Join(below, "huge"), nil, 0o644), os.Truncate(filepath.Join(below, "huge"), 10<<30),
		os.Symlink(outside, filepath.Join(below, "out")), os.Symlink("/dev/zero", filepath.Join(below, "zero")), os.WriteFile(filepath.Join(outside, "tokenizer.json"), []byte("{}"), 0o644))
	for _, name := range []string{"pipe", "huge", "zero"} {
		dir := filepath.Join(below, "with-"+name)
		err = errors.Join(err, os.Mkdir(dir, 0o755), os.Rename(filepath.Join(below, name), filepath.Join(dir, "tokenizer.json")))
	}
	if err != nil {
		t.Fatal(err)
	}
	return []string{"/dev/zero", "/dev/random", "/proc/self/environ", "/etc/passwd", "/", "..", "../", outside, "/absent", "absent", "out",
		"with-pipe", "with-huge", "with-zero", filepath.Join(below, "with-huge"), "with-pipe/tokenizer.json"}
}

func TestHostilePathsAreRefusedAlikeAndUnread(t *testing.T) {
	s := start(t)
	ids := s.seed()
	s.store.iterations[0].State = "done"
	s.want(201, s.upload("student", studentTar(t, nil)))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	said := map[string]bool{}
	for _, path := range hostilePaths(t, s.tokenizers) {
		a := s.post("/v1/exports", `{"run":"`+ids.run+`","views":["linear"],"tokenizer":"`+path+`"}`)
		s.refused(a, 422, "invalid", "tokenizer")
		said[a.fieldText("detail")] = true
		a = s.post("/v1/policies", `{"name":"p","base_url":"http://x/v1","model":"m","tokenizer":"`+path+`"}`)
		s.refused(a, 422, "invalid", "tokenizer")
		said[a.fieldText("detail")] = true
		s.refused(s.post("/v1/exports", `{"run":"`+ids.run+`","views":["linear"],"tokenizer":"student","template":"`+path+`"}`), 422, "invalid", "template")
		s.refused(s.post("/v1/policies", `{"name":"p","base_url":"http://x/v1","model":"m","tokenizer":"student","chat_template":"`+path+`"}`), 422, "invalid", "chat_template")
	}
	if len(said) != 1 {
		t.Errorf("answers tell what exists: %v", said)
	}
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 256<<20 {
		t.Errorf("%d MB were allocated", allocated>>20)
	}
}

func TestAddressesThatMayNotBeDialledAreRefusedWhereTheyAreNamed(t *testing.T) {
	s := start(t, func(c *server.Config) { c.CheckAddress = outbound.Rule{}.CheckURL })
	ids := s.seed()
	for _, address := range []string{"http://169.254.169.254/v1", "http://[fe80::1]/v1", "http://metadata.google.internal/v1", "http://2852039166/v1", "http://0.0.0.0:80/v1"} {
		s.refused(s.post("/v1/policies", `{"name":"p","base_url":"`+address+`","model":"m"}`), 422, "address_refused", "base_url")
		s.refused(s.post("/v1/policies", `{"name":"p","base_url":"http://127.0.0.1/v1","replicas":["`+address+`"],"model":"m"}`), 422, "address_refused", "replicas[0]")
		s.refused(s.send("PATCH", "/v1/runs/"+ids.run, `{"webhook":{"url":"`+address+`"}}`), 422, "address_refused", "webhook.url")
	}
	s.want(201, s.post("/v1/policies", `{"name":"p","base_url":"http://127.0.0.1:8000/v1","replicas":["http://10.0.0.1/v1"],"model":"m"}`))
}

package scripted

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"relabel"
	"relabel/chat"
)

// reply is a response of the server.
type reply struct {
	status int
	body   []byte
	json   struct {
		ID             string
		Model          string
		PromptTokenIDs []int32 `json:"prompt_token_ids"`
		Choices        []struct {
			Message      json.RawMessage
			TokenIDs     []int32 `json:"token_ids"`
			FinishReason string  `json:"finish_reason"`
			Logprobs     *struct {
				Content []struct {
					Logprob float64
				}
			}
		}
		Usage struct {
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
			Total      int `json:"total_tokens"`
		}
		Error struct{ Message, Code string }
	}
}

func post(t *testing.T, s http.Handler, body string) reply {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(body))
	s.ServeHTTP(w, r)
	got := reply{status: w.Code, body: w.Body.Bytes()}
	if err := json.Unmarshal(got.body, &got.json); err != nil {
		t.Fatal(err)
	}
	return got
}

func toyServer(change func(*Config)) *Server {
	c := Config{Book: NewBook([]relabel.Task{{ProblemStatement: problem, Workdir: "/testbed", TestCmd: "python3 -m pytest tests/",
		TestPatch: "diff --git a/tests/test_core.py b/tests/test_core.py\n--- a/tests/test_core.py\n+++ b/tests/test_core.py\n@@ -1 +1 @@\n-a\n+b\n",
		Patch:     "diff --git a/core.py b/core.py\n--- a/core.py\n+++ b/core.py\n@@ -1,2 +1,2 @@ def frobnicate(items):\n a\n-b\n+c"}})}
	if change != nil {
		change(&c)
	}
	return NewServer(c)
}

var opening = []relabel.Message{{Role: "system", Content: "You repair code."}, {Role: "user", Content: "<issue>" + problem + "</issue>"}}

func TestTheSameRequestGetsTheSameBytes(t *testing.T) {
	for _, model := range []string{TeacherModel, StudentPrefix + "0.3"} {
		body := string(requestBody(model, 3, 0.7, opening))
		first := post(t, toyServer(nil), body)
		if again := post(t, toyServer(nil), body); first.status != 200 || !bytes.Equal(first.body, again.body) {
			t.Errorf("%s: %s\n%s", model, first.body, again.body)
		}
	}
}

func TestOtherSeedsAndStatesGetOtherDraws(t *testing.T) {
	s := toyServer(nil)
	answers := map[string]bool{}
	for seed := range int64(30) {
		answers[string(post(t, s, string(requestBody(StudentPrefix+"0", seed, 0.7, opening))).json.Choices[0].Message)] = true
	}
	if len(answers) < 15 {
		t.Errorf("30 seeds gave %d answers", len(answers))
	}
}

func TestGreedyAnswersDoNotDependOnTheSeed(t *testing.T) {
	s := toyServer(nil)
	for seed := range int64(10) {
		a := post(t, s, string(requestBody(StudentPrefix+"0.5", seed, 0, opening)))
		if b := post(t, s, string(requestBody(StudentPrefix+"0.5", 0, 0, opening))); !bytes.Equal(a.body, b.body) {
			t.Fatalf("seed %d: %s\n%s", seed, a.body, b.body)
		}
	}
}

func TestAnAnswerCountsItsTokens(t *testing.T) {
	body := strings.Replace(string(requestBody(TeacherModel, 1, 0.7, opening)), `{"model"`, `{"return_token_ids":true,"logprobs":true,"model"`, 1)
	got := post(t, toyServer(nil), body).json
	c := got.Choices[0]
	if got.Usage.Prompt != len(got.PromptTokenIDs) || got.Usage.Completion != len(c.TokenIDs) || len(c.Logprobs.Content) != len(c.TokenIDs) ||
		got.Usage.Total != got.Usage.Prompt+got.Usage.Completion || got.Usage.Prompt == 0 || c.FinishReason != "tool_calls" {
		t.Errorf("%+v", got)
	}
	var text strings.Builder
	for i, id := range c.TokenIDs[:len(c.TokenIDs)-1] {
		for n := range id >> 24 {
			text.WriteByte(byte(id >> (8 * n)))
		}
		if c.Logprobs.Content[i].Logprob > 0 || c.Logprobs.Content[i].Logprob < -1 {
			t.Errorf("logprob %v", c.Logprobs.Content[i].Logprob)
		}
	}
	m, err := chat.DecodeMessage(c.Message)
	if err != nil || !strings.HasPrefix(text.String(), m.Content) || !strings.Contains(text.String(), m.ToolCalls[0].Arguments) || c.TokenIDs[len(c.TokenIDs)-1] != toyEnd {
		t.Errorf("%q of %+v", text.String(), m)
	}
	plain := post(t, toyServer(nil), string(requestBody(TeacherModel, 1, 0.7, opening)))
	if bytes.Contains(plain.body, []byte("token_ids")) || bytes.Contains(plain.body, []byte("logprobs")) {
		t.Errorf("unasked: %s", plain.body)
	}
}

func TestMaxTokensTruncatesAnAnswerAnywhere(t *testing.T) {
	body := string(requestBody(TeacherModel, 1, 0.7, opening))
	whole := post(t, toyServer(nil), body).json
	for limit := 1; limit < whole.Usage.Completion; limit++ {
		got := post(t, toyServer(nil), strings.Replace(body, `{"model"`, `{"max_tokens":`+strconv.Itoa(limit)+`,"model"`, 1)).json
		if len(got.Choices) != 1 || got.Choices[0].FinishReason != "length" || got.Usage.Completion != limit {
			t.Fatalf("limit %d: %+v", limit, got)
		}
		if _, err := chat.DecodeMessage(got.Choices[0].Message); err != nil {
			t.Fatal(err)
		}
	}
}

func TestInvalidRequestsAreRefused(t *testing.T) {
	s := toyServer(func(c *Config) { c.ContextTokens = 100 })
	for body, want := range map[string]int{
		"":  400,
		"{": 400,
		`{"model":"scripted-teacher","messages":[]}`:                                                                 400,
		`{"model":"scripted-teacher","messages":["x"]}`:                                                              400,
		`{"model":"scripted-teacher","messages":[{"role":"user"}],"stream":true}`:                                    400,
		`{"model":"scripted-teacher","messages":[{"role":"user"}],"n":2}`:                                            400,
		`{"model":"scripted-teacher","messages":[{"role":"user"}],"max_tokens":-1}`:                                  400,
		`{"model":"gpt","messages":[{"role":"user"}]}`:                                                               404,
		`{"model":"scripted-student-2","messages":[{"role":"user"}]}`:                                                404,
		`{"model":"scripted-student-NaN","messages":[{"role":"user"}]}`:                                              404,
		`{"model":"scripted-teacher","messages":[{"role":"user","content":"hello"}]}`:                                200,
		`{"model":"scripted-student-0.25","messages":[{"role":"user","content":"hello"}]}`:                           200,
		`{"model":"scripted-teacher","messages":[{"role":"user","content":"` + strings.Repeat("long ", 100) + `"}]}`: 400,
	} {
		if got := post(t, s, body); got.status != want {
			t.Errorf("%.100s: HTTP %d, want %d: %s", body, got.status, want, got.body)
		}
	}
	over := post(t, s, string(requestBody(TeacherModel, 1, 0.7, append(slices.Clone(opening), relabel.Message{Role: "user", Content: strings.Repeat("x", 400)}))))
	if over.status != 400 || over.json.Error.Code != "context_length_exceeded" {
		t.Errorf("%s", over.body)
	}
}

func TestASlowAnswerEndsWithItsCaller(t *testing.T) {
	url, stop, err := Serve(t.Context(), "127.0.0.1:0", Config{TeacherDelay: time.Hour, StudentDelay: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for _, model := range []string{TeacherModel, StudentPrefix + "0"} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		req, _ := http.NewRequestWithContext(ctx, "POST", url+"/chat/completions", bytes.NewReader(requestBody(model, 1, 1, opening)))
		if resp, err := http.DefaultClient.Do(req); err == nil {
			t.Errorf("%s answered: %v", model, resp.Status)
		}
		cancel()
	}
}

func TestServeListensOnLoopbackUntilStopped(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:80", "nonsense", "example.org:80"} {
		if _, _, err := Serve(t.Context(), addr, Config{}); relabel.CodeOf(err) != relabel.CodeInvalid {
			t.Errorf("%s: %v", addr, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	url, stop, err := Serve(ctx, "localhost:0", Config{ContextTokens: 4096})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Get(url + "/models")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var list struct {
		Data []struct {
			ID     string
			Length int `json:"max_model_len"`
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil || list.Data[0].ID != TeacherModel || list.Data[0].Length != 4096 {
		t.Errorf("%+v, %v", list, err)
	}
	cancel()
	stop()
	stop()
	if _, err := http.Get(url + "/models"); err == nil {
		t.Error("it still answers after stop")
	}
}

func TestTheAnswerForAnUnknownTask(t *testing.T) {
	s := toyServer(nil)
	state := `"messages":[{"role":"user","content":"What is up?"}]`
	tools := `"tools":[{"type":"function","function":{"name":"look","parameters":{"required":["command"]}}}]`
	got := post(t, s, `{"model":"scripted-teacher",`+tools+`,`+state+`}`)
	m, err := chat.DecodeMessage(got.json.Choices[0].Message)
	if err != nil || len(m.ToolCalls) != 1 || m.ToolCalls[0].Name != "look" || m.ToolCalls[0].Arguments != `{"command": "ls"}` {
		t.Errorf("%+v, %v", m, err)
	}
	got = post(t, s, `{"model":"scripted-student-0.5",`+state+`}`)
	if m, err := chat.DecodeMessage(got.json.Choices[0].Message); err != nil || len(m.ToolCalls) != 0 || !strings.Contains(m.Content, "script") {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestTheLongestStatementNamesTheTask(t *testing.T) {
	patch := "diff --git a/x b/x\n"
	b := NewBook([]relabel.Task{{ProblemStatement: "It fails.", Patch: patch, Workdir: "/a"}, {ProblemStatement: " It fails. Always.\n", Patch: patch, Workdir: "/b"},
		{ProblemStatement: "", Patch: patch}, {ProblemStatement: "no patch"}, {ProblemStatement: "no patch", Patch: "nonsense"}})
	if e := b.find("Issue: It fails. Always. Repair it."); e == nil || e.workdir != "/b" {
		t.Errorf("%+v", e)
	}
	if e := b.find("It fails. Sometimes."); e == nil || e.workdir != "/a" {
		t.Errorf("%+v", e)
	}
	if e := b.find("no patch"); e != nil || len(b) != 2 {
		t.Errorf("%+v", e)
	}
}

func TestTheTeacherRunsTheRelevantTests(t *testing.T) {
	e := toyServer(nil).config.Book[0]
	if want := `export PYTHONDONTWRITEBYTECODE=1; (python3 -m pytest tests/ -k "test_core") 2>&1 | tail -n 15`; e.tests != want {
		t.Errorf("%s", e.tests)
	}
	want := []arguments{{Command: "str_replace", Path: "/testbed/core.py", OldStr: "a\nb\n", NewStr: "a\nc\n"}}
	if !reflect.DeepEqual(e.edits, want) || e.search() != "grep -rn --include='*.py' frobnicate . | head -n 20" {
		t.Errorf("%+v, %s", e.edits, e.search())
	}
}

func TestOnlySimpleReadersCountAsReadOnly(t *testing.T) {
	for command, want := range map[string]bool{
		"ls -la": true, "cat a | head -n 3": true, "grep -rn x .": true, "sed -n 1,3p a": true, "git --no-pager diff": true, "git status": true,
		"cat a > b": false, "sed -i s/a/b/ c": false, "find . -delete": false, "echo $(rm a)": false, "ls; rm a": false, "ls | rm a": false,
		"git checkout a": false, "python3 x.py": false, "ls & rm a": false, "git log\nrm a": false, "lsof": false, "find . -exec rm {} +": false,
	} {
		if readsOnly(command) != want {
			t.Errorf("%q: %v", command, !want)
		}
	}
}

func FuzzNewBook(f *testing.F) {
	f.Add("diff --git a/x b/x\nindex 123..456\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ f\n a\n-b\n\\ No newline at end of file\n+c\n")
	f.Add("diff --git a/x b/y\nrename from x\nrename to \"y\\303\"\n@@ -0,0 +1 @@\n\\")
	f.Fuzz(func(_ *testing.T, diff string) {
		NewBook([]relabel.Task{{ProblemStatement: "x", Patch: diff}})
	})
}

package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"relabel"
	"relabel/cli"
	"relabel/taskbuild"
)

const fix = `diff --git a/src/shop/cart.py b/src/shop/cart.py
--- a/src/shop/cart.py
+++ b/src/shop/cart.py
@@ -1,4 +1,5 @@
 def total(items):
-    return sum(items)
+    known = drop_unpriced(items)
+    return sum(i.price for i in known)
 
 # end
`

var fixed = taskbuild.StatementRequest{
	Repo: "shop", Patch: fix, Failing: []string{"tests/test_cart.py::test_total"}, Output: "TypeError: unsupported operand",
}

const good = "The total of a cart cannot be computed\n\nCalling total([Item(2)]) raises a TypeError. It should return 2, the sum of the prices of all items."

// model is a chat-completions endpoint that gives fixed answers, one after the other, and keeps the requests.
type model struct {
	mu       sync.Mutex
	answers  []string
	finish   string
	requests []string
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var body struct {
		Model    string            `json:"model"`
		Messages []json.RawMessage `json:"messages"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Model != "writer" || r.URL.Path != "/v1/chat/completions" {
		http.Error(w, "not a request", http.StatusBadRequest)
		return
	}
	m.requests = append(m.requests, string(body.Messages[len(body.Messages)-1]))
	answer := m.answers[min(len(m.requests), len(m.answers))-1]
	if answer == "500" {
		http.Error(w, "broken", http.StatusInternalServerError)
		return
	}
	finish := m.finish
	if finish == "" {
		finish = "stop"
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"id": "1", "object": "chat.completion", "model": "writer",
		"choices": []any{map[string]any{"index": 0, "finish_reason": finish, "message": map[string]any{"role": "assistant", "content": answer}}}})
}

// write asks a model for the statement of the fix.
func (m *model) write(t *testing.T, hideFiles bool) (string, *taskbuild.Refusal) {
	t.Helper()
	server := httptest.NewServer(m)
	defer server.Close()
	writer, name, err := openStatements(cli.StatementFlags{StatementURL: server.URL + "/v1", StatementModel: "writer", StatementHideFiles: hideFiles})
	if err != nil || !strings.Contains(name, "writer") {
		t.Fatal(name, err)
	}
	text, refusal, err := writer.Write(context.Background(), fixed)
	if err != nil {
		t.Fatal(err)
	}
	return text, refusal
}

func TestAStatementIsWhatTheModelWrites(t *testing.T) {
	for _, answer := range []string{good, "<think>sum(i.price for i in known)</think>\n" + good, "```\n" + good + "\n```"} {
		m := &model{answers: []string{answer}}
		if text, refusal := m.write(t, false); text != good || refusal != nil {
			t.Errorf("%q, %v", text, refusal)
		}
		if len(m.requests) != 1 || !strings.Contains(m.requests[0], "drop_unpriced") || !strings.Contains(m.requests[0], "test_total") {
			t.Errorf("asked %q", m.requests)
		}
	}
}

func TestAStatementThatGivesTheFixAwayIsAskedForAgain(t *testing.T) {
	for leak, reason := range map[string]string{
		good + "\n\nUse `return sum(i.price for i in known)`.":  "it quotes a line of the change",
		good + "\n\nreturn sum(\n    i.price   for i in known)": "it quotes a line of the change",
		good + " There should be a function drop_unpriced.":     "it uses a name that only the change has",
		good + "\n\n@@ -1,4 +1,5 @@":                            "it contains a part of a diff",
		good + "\n\n```diff\n-a\n+b\n```":                       "it contains a part of a diff",
		good + " See src/shop/cart.py:2.":                       "it names a line of the file",
		good + " The cause is in cart.py, line 2.":              "it names a line of the file",
		"":              "it is empty",
		"It is broken.": "it has only 13 characters",
		strings.Repeat("The total of a cart cannot be computed, and that is bad. ", 1000): "more than 6000",
	} {
		m := &model{answers: []string{leak, good}}
		text, refusal := m.write(t, false)
		if text != good || refusal != nil || len(m.requests) != 2 {
			t.Errorf("after %.80q: %q, %v, %d requests", leak, text, refusal, len(m.requests))
			continue
		}
		if !strings.Contains(m.requests[1], reason) {
			t.Errorf("after %.80q it is told %s", leak, m.requests[1])
		}
	}
}

func TestAModelThatOnlyLeaksWritesNoStatement(t *testing.T) {
	m := &model{answers: []string{good + " drop_unpriced is missing."}}
	text, refusal := m.write(t, false)
	if text != "" || refusal == nil || refusal.Reason != taskbuild.ReasonLeak || !strings.Contains(refusal.Detail, "drop_unpriced") || len(m.requests) != 3 {
		t.Errorf("%q, %+v, %d requests", text, refusal, len(m.requests))
	}
	m = &model{answers: []string{good}, finish: "length"}
	if _, refusal := m.write(t, false); refusal == nil || refusal.Reason != taskbuild.ReasonNoStatement || !strings.Contains(refusal.Detail, "cut off") {
		t.Errorf("a cut statement: %+v", refusal)
	}
}

func TestNamesOfFilesAreRefusedOnRequest(t *testing.T) {
	for _, named := range []string{good + " It is in src/shop/cart.py.", good + " It is in cart.py"} {
		if text, refusal := (&model{answers: []string{named}}).write(t, false); text != named || refusal != nil {
			t.Errorf("%q, %v", text, refusal)
		}
		if _, refusal := (&model{answers: []string{named}}).write(t, true); refusal == nil || !strings.Contains(refusal.Detail, "cart.py") {
			t.Errorf("%q is accepted: %v", named, refusal)
		}
	}
}

func TestABrokenEndpointIsAnError(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	writer, _, err := openStatements(cli.StatementFlags{StatementURL: server.URL + "/v1", StatementModel: "writer"})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := writer.Write(context.Background(), fixed); relabel.CodeOf(err) != relabel.CodeEndpoint {
		t.Errorf("%v", err)
	}
}

func TestFlagsOfStatementsAreChecked(t *testing.T) {
	for _, f := range []cli.StatementFlags{{StatementModel: "m"}, {StatementURL: "http://h/v1"}, {StatementURL: "h", StatementModel: "m"}} {
		if _, _, err := openStatements(f); relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(err.Error(), "--statement-") {
			t.Errorf("%+v: %v", f, err)
		}
	}
	if w, name, err := openStatements(cli.StatementFlags{}); w != nil || name != "" || err != nil {
		t.Errorf("without flags: %v, %q, %v", w, name, err)
	}
}

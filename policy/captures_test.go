package policy

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"relabel"
	"relabel/chat"
)

var update = flag.Bool("update", false, "rewrite testdata/outcomes.txt")

// capture is one request and response of a real server.
type capture struct {
	Request struct {
		Body json.RawMessage `json:"body"`
	} `json:"request"`
	Response struct {
		Status  int               `json:"status"`
		Headers map[string]string `json:"headers"`
		Body    json.RawMessage   `json:"body"`
	} `json:"response"`
}

// bytes is the body as it went over the line.
func (c capture) bytes() []byte {
	var text string
	if json.Unmarshal(c.Response.Body, &text) == nil {
		return []byte(text)
	}
	return c.Response.Body
}

// tools are those that the server was given.
func (c capture) tools() []relabel.Tool {
	var body struct {
		Tools []struct {
			Function struct {
				Name       string
				Parameters json.RawMessage
			}
		}
	}
	var tools []relabel.Tool
	if json.Unmarshal(c.Request.Body, &body) == nil {
		for _, t := range body.Tools {
			tools = append(tools, relabel.Tool{Name: t.Function.Name, Parameters: string(t.Function.Parameters)})
		}
	}
	return tools
}

func (c capture) serve(w http.ResponseWriter, _ *http.Request) {
	for name, value := range c.Response.Headers {
		switch strings.ToLower(name) {
		case "content-length", "connection", "keep-alive", "date", "transfer-encoding":
		default:
			w.Header().Set(name, value)
		}
	}
	w.WriteHeader(c.Response.Status)
	_, _ = w.Write(c.bytes())
}

var captureKinds = map[string]relabel.ServerKind{
	"llama-server": relabel.ServerLlama, "transformers-serve": relabel.ServerTransformers, "llama-cpp-python": relabel.ServerLlamaCpp,
	"vllm": relabel.ServerVLLM}

// TestAnswersOfRealServersAreDecoded replays what four real servers answered. What
// the client makes of each is in testdata/outcomes.txt.
func TestAnswersOfRealServersAreDecoded(t *testing.T) {
	files, err := filepath.Glob("testdata/captures/*/*.json")
	if err != nil || len(files) < 120 {
		t.Fatalf("%d captures, %v", len(files), err)
	}
	var got strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var c capture
		if err := json.Unmarshal(data, &c); err != nil {
			t.Fatal(file, err)
		}
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(file), "testdata/captures/"), ".json")
		bubble(t, func(t *testing.T) { // 500s are retried
			fmt.Fprintf(&got, "%-48s %s\n", name, replay(t, c, captureKinds[filepath.Base(filepath.Dir(file))]))
		})
	}
	const golden = "testdata/outcomes.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	wantLines, gotLines := strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")
	for i := range max(len(wantLines), len(gotLines)) {
		if i >= len(wantLines) || i >= len(gotLines) || wantLines[i] != gotLines[i] {
			t.Fatalf("line %d:\ngot  %q\nwant %q", i+1, gotLines[min(i, len(gotLines)-1)], wantLines[min(i, len(wantLines)-1)])
		}
	}
}

// replay asks a server that answers as captured, and puts the outcome in a line.
func replay(t *testing.T, c capture, kind relabel.ServerKind) string {
	b := open(t, c.serve, func(p *relabel.Policy) { p.Server = kind })
	req := hello()
	req.Tools = c.tools()
	done, err := b.Complete(t.Context(), req)
	call := b.ledger.only(t)
	if call.Status != c.Response.Status {
		t.Errorf("status %d was recorded as %d", c.Response.Status, call.Status)
	}
	if err != nil {
		if call.Error != err.Error() || len(call.ErrorBody) == 0 || !bytes.HasPrefix(c.bytes(), call.ErrorBody) {
			t.Errorf("the error is recorded as %q with body %q", call.Error, call.ErrorBody)
		}
		return fmt.Sprintf("%s, tries %d: %s", relabel.CodeOf(err), call.Tries, clip(strings.ReplaceAll(err.Error(), "\n", " "), 160))
	}
	written := relabel.Action{Raw: done.Raw, Said: done.Said}.Written()
	if !bytes.Contains(c.bytes(), written) || !json.Valid(written) {
		t.Errorf("the message is not as the server wrote it: %s", written)
	}
	if m, err := chat.DecodeMessage(done.Raw); err != nil || !reflect.DeepEqual(m, done.Message) {
		t.Errorf("%v: the canonical message %s is not %+v", err, done.Raw, done.Message)
	}
	line := fmt.Sprintf("ok, finish %s, calls %d, ids %d, logprobs %d", done.FinishReason, len(done.Message.ToolCalls), len(done.TokenIDs), len(done.Logprobs))
	if u := done.Usage; u != nil {
		line += fmt.Sprintf(", usage %d+%d cached %d", u.PromptTokens, u.CompletionTokens, u.CachedTokens)
	}
	for _, form := range done.ReadAs {
		line += ", read as " + string(form)
	}
	if done.NotGiven != nil {
		line += ", not given " + strings.Join(done.NotGiven, " ")
	}
	for _, k := range done.Message.ToolCalls {
		line += fmt.Sprintf(", %s %s", k.Name, strings.ReplaceAll(k.Arguments, "\n", `\n`))
	}
	return fmt.Sprintf("%s, %q", line, clip(done.Message.Content, 60))
}

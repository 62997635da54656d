package policy

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"relabel"
	"relabel/chat"
)

func TestEachKindOfServerGetsTheFieldsItAccepts(t *testing.T) {
	seed := int64(7)
	req := relabel.ChatRequest{Seed: &seed, Sampling: relabel.Sampling{Temperature: 0.7, TopP: 0.9, MaxTokens: 100},
		Messages: []relabel.Message{{Role: "user", Content: "é<"}}, Tools: []relabel.Tool{{Name: "f", Description: "d", Parameters: `{"type": "object"}`}}}
	const tools = `{"model":"m","tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type": "object"}}}],"temperature":0.7,"top_p":0.9,`
	const messages = `"messages":[{"role":"user","content":"é<"}]`
	for kind, want := range map[relabel.ServerKind]string{
		relabel.ServerGeneric:      tools + `"max_tokens":100,` + messages + `}`,
		relabel.ServerOpenAI:       tools + `"max_completion_tokens":100,` + messages + `,"seed":7}`,
		relabel.ServerVLLM:         tools + `"max_tokens":100,"logprobs":true,"return_token_ids":true,` + messages + `,"seed":7}`,
		relabel.ServerSGLang:       tools + `"max_tokens":100,"logprobs":true,"return_token_ids":true,` + messages + `,"seed":7}`,
		relabel.ServerScripted:     tools + `"max_tokens":100,"logprobs":true,"return_token_ids":true,` + messages + `,"seed":7}`,
		relabel.ServerLlama:        tools + `"max_tokens":100,"logprobs":true,"top_logprobs":1,` + messages + `,"seed":7}`,
		relabel.ServerTransformers: tools + `"max_tokens":100,` + messages + `,"seed":7}`,
		relabel.ServerLlamaCpp:     tools + `"max_tokens":100,` + messages + `,"seed":7}`,
	} {
		if got := string(appendRequest(nil, relabel.Policy{Model: "m", Server: kind}, req)); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", kind, got, want)
		}
	}
	greedy := relabel.ChatRequest{Sampling: relabel.PaperSampling.Greedy()}
	if got := string(appendRequest(nil, relabel.Policy{Model: "m", Server: relabel.ServerVLLM}, greedy)); got != `{"model":"m","temperature":0,"top_p":1,"logprobs":true,"return_token_ids":true,"messages":[]}` {
		t.Error(got)
	}
}

func TestTextFormatPutsTheToolsIntoThePrompt(t *testing.T) {
	req := toolRequest("x")
	got := string(appendRequest(nil, relabel.Policy{Model: "m", Server: relabel.ServerVLLM, ToolFormat: relabel.ToolsText}, req))
	if strings.Contains(got, `"tools":`) || strings.Count(got, `## execute_bash\n`) != 1 || strings.Index(got, "## execute_bash") > strings.Index(got, `"role":"user"`) ||
		!strings.HasPrefix(got, `{"model":"m","temperature":0,"top_p":1,"max_tokens":1024,"logprobs":true,"return_token_ids":true,"messages":[{"role":"system","content":"You act through tools alone.\n\n# Tools`) {
		t.Error(got)
	}
}

func TestTheRequestBodyIsSentUnchanged(t *testing.T) {
	var got []byte
	b := open(t, func(w http.ResponseWriter, r *http.Request) {
		got, _ = io.ReadAll(r.Body)
		if r.URL.Path != "/v1/chat/completions" || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Authorization") != "" {
			t.Errorf("%s %v", r.URL, r.Header)
		}
		good(w, r)
	}, nil)
	req := hello()
	if _, err := b.Complete(t.Context(), req); err != nil || string(got) != string(appendRequest(nil, b.policy, req)) {
		t.Errorf("%v: %s", err, got)
	}
}

// TestARequestBeginsWithTheBytesOfThePreviousTurn is what prefix caches need; it holds for
// actions of any bytes.
func TestARequestBeginsWithTheBytesOfThePreviousTurn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := relabel.Policy{Model: "m", Server: rapid.SampledFrom(relabel.ServerKinds).Draw(t, "kind"), ToolFormat: rapid.SampledFrom(relabel.ToolFormats).Draw(t, "format")}
		bytes := rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })
		args := rapid.OneOf(bytes, rapid.SampledFrom([]string{"", "{", "[]", "null", `{"a": "\ud800"}`, `{"a":1,"a":2}`, " {} "}))
		req := relabel.ChatRequest{Messages: []relabel.Message{{Role: "user", Content: "x"}}, Sampling: relabel.PaperSampling, Tools: []relabel.Tool{probeTool}}
		for range rapid.IntRange(1, 4).Draw(t, "turns") {
			before := appendRequest(nil, p, req)
			kept := chat.AppendMessages(nil, req.Messages)
			req.Messages = append(req.Messages, relabel.Message{Role: "assistant", Content: bytes.Draw(t, "content"), ReasoningContent: bytes.Draw(t, "reasoning"),
				ToolCalls: []relabel.ToolCall{{ID: "call_1_0", Name: bytes.Draw(t, "name"), Arguments: args.Draw(t, "arguments")}}})
			after := appendRequest(nil, p, req)
			if !strings.HasPrefix(string(after), strings.TrimSuffix(string(before), "]}")) {
				t.Fatalf("%s\n%s", before, after)
			}
			if !json.Valid(after) {
				t.Fatalf("no JSON: %q", after)
			}
			if !strings.HasPrefix(string(chat.AppendMessages(nil, req.Messages)), strings.TrimSuffix(string(kept), "]")) {
				t.Fatal("the canonical messages were changed")
			}
		}
		checkWire(t, appendRequest(nil, p, req))
	})
}

// checkWire reads a request as a server does that wants every argument to be an object.
func checkWire(t *rapid.T, body []byte) {
	var w struct {
		Messages []struct {
			ToolCalls []struct {
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(body, &w); err != nil {
		t.Fatalf("%v", err)
	}
	for _, m := range w.Messages {
		for _, c := range m.ToolCalls {
			var object map[string]any
			if json.Unmarshal([]byte(c.Function.Arguments), &object) != nil || object == nil {
				t.Fatalf("arguments %q", c.Function.Arguments)
			}
			if n := len(c.Function.Name); n < 1 || n > 64 {
				t.Fatalf("name %q", c.Function.Name)
			}
		}
	}
}

func TestBrokenActionsAreSentInAFormThatServersAccept(t *testing.T) {
	for in, want := range map[string]string{
		`{"command": "ls"}`:             `{"command": "ls"}`,
		` {"b":1,"a":1.0,"b":2}`:        ` {"b":1,"a":1.0,"b":2}`,
		"":                              "{}",
		" \n":                           "{}",
		`{"command": "l`:                `{"malformed_arguments": "{\"command\": \"l"}`,
		`{'command': 'ls'}`:             `{"malformed_arguments": "{'command': 'ls'}"}`,
		"[1]":                           `{"malformed_arguments": "[1]"}`,
		"null":                          `{"malformed_arguments": "null"}`,
		"{\"a\":\"\xff\"}":              `{"malformed_arguments": "{\"a\":\"` + "\uFFFD" + `\"}"}`,
		"{\"a\":\"\xed\xa0\x80\"}":      `{"malformed_arguments": "{\"a\":\"` + "\uFFFD" + `\"}"}`,
		`{"a":NaN}`:                     `{"malformed_arguments": "{\"a\":NaN}"}`,
		`{"a":1}{"b":2}`:                `{"malformed_arguments": "{\"a\":1}{\"b\":2}"}`,
		strings.Repeat(`{"a":`, 100000): "",
	} {
		got := chat.ObjectArguments(in)
		if want == "" {
			if !json.Valid([]byte(got)) || !strings.HasPrefix(got, `{"malformed_arguments"`) {
				t.Errorf("deep nesting: %.60s", got)
			}
		} else if got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	original := relabel.Message{Role: "assistant", Content: "a\xff", ReasoningContent: "hm", ToolCalls: []relabel.ToolCall{{ID: "1", Name: "ok", Arguments: "{}"}, {ID: "2", Name: "bad name!", Arguments: "{"}}}
	state := []relabel.Message{{Role: "user"}, original}
	sent := wireMessages(relabel.ServerOpenAI, state)
	if state[1].ToolCalls[1].Arguments != "{" || state[1].ToolCalls[1].Name != "bad name!" || state[1].Content != "a\xff" {
		t.Error("the canonical message was changed")
	}
	if m := sent[1]; m.Content != "a\uFFFD" || m.ReasoningContent != "" || m.ToolCalls[1].Name != "bad_name_" || m.ToolCalls[0] != original.ToolCalls[0] {
		t.Errorf("%+v", m)
	}
	if m := wireMessages(relabel.ServerVLLM, state)[1]; m.ReasoningContent != "hm" {
		t.Errorf("%+v", m)
	}
	if clean := state[:1]; &wireMessages(relabel.ServerGeneric, clean)[0] != &clean[0] {
		t.Error("a clean state was copied")
	}
}

package policy

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/policy/scripted"
)

// probe asks handler.
func probe(t *testing.T, handler http.HandlerFunc, change func(*relabel.Policy)) (Report, error) {
	t.Helper()
	b := open(t, handler, change)
	return Probe(t.Context(), b.policy, Options{HTTP: b.server.Client()})
}

// expect compares findings.
func expect(t *testing.T, r Report, want map[Question]Answer) {
	t.Helper()
	for q, a := range want {
		if got := r.Found(q); got != a {
			t.Errorf("%s: %q, not %q", q, got, a)
		}
	}
	if t.Failed() {
		t.Logf("\n%s", r)
	}
}

func TestAProbeOfTheScriptedModels(t *testing.T) {
	for name, c := range map[string]struct {
		config scripted.Config
		server relabel.ServerKind
		tools  relabel.ToolFormat
		want   map[Question]Answer
		change func(*relabel.Policy) // what should be suggested
	}{
		"as vLLM": {scripted.Config{ContextTokens: 30000}, relabel.ServerVLLM, relabel.ToolsNative, map[Question]Answer{
			AskReachable: Yes, AskModel: Yes, AskNative: Yes, AskText: "", AskTwo: No, AskHistory: Yes, AskBroken: Yes, AskReasoning: No,
			AskIDs: Yes, AskPromptIDs: Yes, AskLogprobs: Yes, AskUsage: Yes, AskN: Refused, AskSeed: Unclear, AskContext: Yes}, nil},
		"in text": {scripted.Config{}, relabel.ServerVLLM, relabel.ToolsText, map[Question]Answer{
			AskNative: Yes, AskText: Yes, AskHistory: Yes, AskBroken: Yes, AskContext: NotSaid}, nil},
		"without a parser": {scripted.Config{Unparsed: true}, relabel.ServerVLLM, relabel.ToolsNative, map[Question]Answer{
			AskNative: Raw, AskText: Yes, AskHistory: Yes}, nil},
		"as SGLang, not known": {scripted.Config{IDs: scripted.IDsSGLang}, relabel.ServerGeneric, relabel.ToolsNative, map[Question]Answer{
			AskIDs: Yes, AskPromptIDs: Yes}, func(p *relabel.Policy) { p.Server = relabel.ServerSGLang }},
		"as vLLM, not known": {scripted.Config{}, relabel.ServerGeneric, relabel.ToolsNative, map[Question]Answer{
			AskIDs: Yes}, func(p *relabel.Policy) { p.Server = relabel.ServerVLLM }},
		"as llama-server, not known": {scripted.Config{IDs: scripted.IDsLlama}, relabel.ServerVLLM, relabel.ToolsNative, map[Question]Answer{
			AskIDs: Yes, AskPromptIDs: NotGiven, AskLogprobs: Yes}, func(p *relabel.Policy) { p.Server = relabel.ServerLlama }},
		"without ids": {scripted.Config{IDs: scripted.IDsNone}, relabel.ServerVLLM, relabel.ToolsNative, map[Question]Answer{
			AskIDs: NotGiven, AskLogprobs: NotGiven}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var p relabel.Policy
			r, err := probe(t, scripted.NewServer(c.config).ServeHTTP, func(to *relabel.Policy) {
				to.Server, to.Model, to.ToolFormat = c.server, scripted.TeacherModel, c.tools
			})
			p = relabel.Policy{Server: c.server, ToolFormat: c.tools}
			if err != nil || r.Problem != "" || r.Requests > 16 {
				t.Errorf("%v\n%s", err, r)
			}
			expect(t, r, c.want)
			if (r.Suggested != nil) != (c.change != nil) {
				t.Fatalf("%+v is suggested, %v", r.Suggested, r.Advice)
			}
			if c.change != nil {
				c.change(&p)
				if r.Suggested.Server != p.Server || r.Suggested.ToolFormat != p.ToolFormat || len(r.Advice) == 0 {
					t.Errorf("%+v", r.Suggested)
				}
			}
		})
	}
}

// captured answers as a real server did, by what the request holds.
func captured(t *testing.T, server string) http.HandlerFunc {
	answer := func(w http.ResponseWriter, name string) {
		data, err := os.ReadFile(filepath.Join("testdata/captures", server, name+".json"))
		var c capture
		if err == nil {
			err = json.Unmarshal(data, &c)
		}
		if err != nil {
			t.Error(err)
		}
		c.serve(w, nil)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			answer(w, "models")
			return
		}
		body, _ := io.ReadAll(r.Body)
		var q struct {
			Messages []struct {
				Role      string
				Content   *string
				ToolCalls []struct{ Function struct{ Arguments string } } `json:"tool_calls"`
			}
			Tools     []any
			N         int
			Seed      *int
			Logprobs  bool
			ReturnIDs *bool `json:"return_token_ids"`
			TopN      int   `json:"top_logprobs"`
			MaxTokens int   `json:"max_tokens"`
		}
		if err := json.Unmarshal(body, &q); err != nil {
			t.Error(err)
		}
		last := q.Messages[len(q.Messages)-1]
		calls := 0
		for _, m := range q.Messages {
			if m.Content == nil && server == "llama-cpp-python" {
				answer(w, "tool_history") // a 500
				return
			}
			for _, c := range m.ToolCalls {
				if calls++; !strings.HasPrefix(c.Function.Arguments, "{") || !json.Valid([]byte(c.Function.Arguments)) {
					answer(w, "tool_bad_arguments_history")
					return
				}
			}
		}
		switch {
		case last.Role == relabel.RoleAssistant:
			answer(w, "prefill_last_assistant")
		case q.ReturnIDs != nil && (q.Logprobs || server != "llama-server"): // it was captured with logprobs
			answer(w, "token_ids_vllm")
		case q.N > 1:
			answer(w, "n2")
		case q.Seed != nil && len(q.Tools) == 0:
			answer(w, "seed_temp1")
		case calls > 1 && server != "llama-cpp-python":
			answer(w, "tool_history_parallel")
		case calls > 0:
			answer(w, map[bool]string{true: "basic", false: "tool_history"}[server == "llama-cpp-python"])
		case q.TopN > 0 && len(q.Tools) == 0:
			answer(w, "logprobs")
		case len(q.Tools) > 0 && q.MaxTokens > 0 && q.MaxTokens <= 12:
			answer(w, "tools_cut")
		case len(q.Tools) > 0 && strings.Contains(*last.Content, "twice"):
			answer(w, "tools_two")
		case len(q.Tools) > 0:
			answer(w, "tools_auto")
		default:
			answer(w, "basic")
		}
	}
}

func TestAProbeOfRealServers(t *testing.T) {
	for server, c := range map[string]struct {
		asked  relabel.ServerKind
		want   map[Question]Answer
		kind   relabel.ServerKind
		format relabel.ToolFormat
	}{
		"llama-server": {relabel.ServerGeneric, map[Question]Answer{AskReachable: Yes, AskModel: Yes, AskNative: Yes, AskTwo: Yes, AskHistory: Yes, AskBroken: Yes,
			AskIDs: Yes, AskPromptIDs: NotGiven, AskLogprobs: Yes, AskN: Refused, AskSeed: Unclear, AskContext: Yes}, relabel.ServerLlama, relabel.ToolsNative},
		"transformers-serve": {relabel.ServerVLLM, map[Question]Answer{AskReachable: Yes, AskModel: Refused, AskNative: Yes, AskTwo: Yes, AskHistory: Refused,
			AskIDs: Refused, AskPromptIDs: Refused, AskLogprobs: NotGiven, AskN: NotGiven, AskContext: NotSaid}, relabel.ServerTransformers, relabel.ToolsText},
		"llama-cpp-python": {relabel.ServerLlamaCpp, map[Question]Answer{AskReachable: Yes, AskModel: Yes, AskNative: Raw, AskText: NoCall, AskTwo: Yes, AskHistory: Yes, AskBroken: Yes,
			AskIDs: NotGiven, AskLogprobs: Yes, AskN: NotGiven, AskContext: NotSaid}, "", ""},
	} {
		t.Run(server, func(t *testing.T) {
			r, err := probe(t, captured(t, server), func(p *relabel.Policy) { p.Server = c.asked })
			if err != nil || r.Problem != "" {
				t.Errorf("%v\n%s", err, r)
			}
			expect(t, r, c.want)
			switch s := r.Suggested; {
			case s == nil && c.kind != "":
				t.Errorf("nothing is suggested:\n%s", r)
			case s != nil && (s.Server != c.kind || s.ToolFormat != c.format && s.ToolFormat != ""):
				t.Errorf("%s and %s are suggested:\n%s", s.Server, s.ToolFormat, r)
			}
		})
	}
}

func TestAReportIsATableWithAdvice(t *testing.T) {
	r, err := probe(t, captured(t, "transformers-serve"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"student: tiny at http", "  reachable       yes\n", "  native calls    yes\n", "  call history    refused     HTTP 500 Internal Server Error\n",
		"  token ids       refused     HTTP 422 Unprocessable Entity: Unexpected fields", "  logprobs        not given   as vllm every call requests it, without effect\n",
		"\nWhat to change:\n  - the list of models is broken (HTTP 500 Internal Server Error): see the server's log\n",
		"  - the server refuses the fields that are requested as vllm (HTTP 422", "  - the server refuses states with such calls, but accepts them as text\n"} {
		if !strings.Contains(r.String(), want) {
			t.Errorf("no %q in\n%s", want, r)
		}
	}
	var back Report
	data, err := json.Marshal(r)
	if err == nil {
		err = json.Unmarshal(data, &back)
	}
	if back.Suggested = r.Suggested; err != nil || back.String() != r.String() || !slices.Equal(back.Findings, r.Findings) {
		t.Errorf("%v: %s", err, data)
	}
}

func TestAProbeOfADeadAddress(t *testing.T) {
	r, err := probe(t, say(404, `{"detail":"Not Found"}`), func(p *relabel.Policy) { p.Server = relabel.ServerGeneric })
	if relabel.CodeOf(err) != relabel.CodeEndpoint || !r.Reachable || r.Found(AskNative) != "" || !strings.Contains(r.String(), "HTTP 404") || len(r.Advice) != 1 {
		t.Errorf("%v\n%s", err, r)
	}
	b := open(t, good, nil)
	b.server.Close()
	r, err = Probe(t.Context(), b.policy, Options{HTTP: b.server.Client()})
	if relabel.CodeOf(err) != relabel.CodeEndpoint || r.Reachable || r.Problem == "" || r.Found(AskReachable) != No {
		t.Errorf("%v\n%s", err, r)
	}
	p := b.policy
	p.Model = ""
	if _, err := Probe(t.Context(), p, Options{}); relabel.CodeOf(err) != relabel.CodeInvalid {
		t.Error(err)
	}
}

func TestAProbeAsksEveryReplica(t *testing.T) {
	first, other := httptest.NewServer(good), httptest.NewServer(good)
	defer first.Close()
	gone := httptest.NewServer(good)
	gone.Close()
	defer other.Close()
	for url, want := range map[string]Answer{other.URL: Yes, gone.URL: No} {
		p := open(t, good, nil).policy
		p.BaseURL, p.Replicas = first.URL+"/v1", []string{url + "/v1"}
		r, err := Probe(t.Context(), p, Options{})
		if err != nil {
			t.Error(err)
		}
		expect(t, r, map[Question]Answer{AskReplicas: want})
	}
}

func TestAProbeFindsReasoningAndTools(t *testing.T) {
	call := `"tool_calls":[{"id":"x","function":{"name":"execute_bash","arguments":"{}"}}]`
	for body, want := range map[string]map[Question]Answer{
		`{"choices":[{"message":{"content":null,"reasoning":"hm",` + call + `}}]}`:     {AskReasoning: InField, AskNative: Yes, AskUsage: No},
		`{"choices":[{"message":{"content":"<think>hm</think>x",` + call + `}}]}`:      {AskReasoning: InContent, AskNative: Yes},
		`{"choices":[{"message":{"content":"I cannot."},"finish_reason":"stop"}]}`:     {AskReasoning: No, AskNative: NoCall, AskText: NoCall},
		`{"choices":[{"message":{"content":"{\"name\":\"f\",\"parameters\":{}}"}}]}`:   {AskNative: Raw},
		`{"choices":[{"message":{"content":"<function=execute_bash>\n</function>"}}]}`: {AskNative: Raw, AskText: Yes},
	} {
		r, err := probe(t, say(200, body), func(p *relabel.Policy) { p.Server = relabel.ServerGeneric })
		if err != nil {
			t.Error(err)
		}
		expect(t, r, want)
	}
}

func TestAServerThatRefusesToolsIsAskedInText(t *testing.T) {
	r, err := probe(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), `"tools"`) {
			say(400, `{"error":{"message":"\"auto\" tool choice requires --enable-auto-tool-choice"}}`)(w, r)
			return
		}
		say(200, `{"choices":[{"message":{"content":"<function=execute_bash>\n<parameter=command>\nls\n</parameter>\n</function>"}}]}`)(w, r)
	}, func(p *relabel.Policy) { p.Server = relabel.ServerGeneric })
	if err != nil || r.Suggested == nil || r.Suggested.ToolFormat != relabel.ToolsText {
		t.Errorf("%v\n%s", err, r)
	}
	expect(t, r, map[Question]Answer{AskNative: Refused, AskText: Yes, AskHistory: Yes})
}

// TestTheScriptedModelsOverHTTP drives them with the client, faults included.
func TestTheScriptedModelsOverHTTP(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const statement = "The frobnicator drops the last item."
		book := scripted.NewBook([]relabel.Task{{ProblemStatement: statement, Workdir: "/testbed",
			Patch: "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"}})
		server, n := scripted.NewServer(scripted.Config{Book: book}), 0
		b := open(t, func(w http.ResponseWriter, r *http.Request) {
			n++
			switch n % 4 {
			case 1:
				w.Header().Set("Retry-After", "3")
				w.WriteHeader(http.StatusTooManyRequests)
			case 2:
				w.Header().Set("Content-Length", "1000")
				_, _ = w.Write([]byte(`{"id":"chatcmpl-`))
				panic(http.ErrAbortHandler)
			case 3:
				_, _ = w.Write([]byte("garbage"))
			default:
				server.ServeHTTP(w, r)
			}
		}, func(p *relabel.Policy) {
			p.Server, p.Model = relabel.ServerScripted, scripted.TeacherModel
		})
		req := hello()
		req.Messages = []relabel.Message{{Role: relabel.RoleSystem, Content: "You repair code."}, {Role: relabel.RoleUser, Content: "<issue>\n" + statement + "\n</issue>"}}
		seed := int64(4)
		req.Seed = &seed
		done, err := b.Complete(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if call := b.ledger.only(t); call.Tries != 4 || call.Millis < 3000 || call.Usage == nil {
			t.Errorf("%+v", call)
		}
		if len(done.Message.ToolCalls) == 0 || done.FinishReason != "tool_calls" || len(done.TokenIDs) != done.Usage.CompletionTokens ||
			len(done.Logprobs) != len(done.TokenIDs) || len(done.PromptTokenIDs) != done.Usage.PromptTokens {
			t.Errorf("%+v", done)
		}
		again, err := b.Complete(t.Context(), req)
		if err != nil || string(again.Raw) != string(done.Raw) {
			t.Errorf("%v: %s\n%s", err, again.Raw, done.Raw)
		}
	})
}

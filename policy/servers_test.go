package policy

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/chat"
	"relabel/policy/scripted"
)

// The servers that were captured, as policies name them.
const (
	llamaServer  = "llama-server"
	transformers = "transformers-serve"
	llamaCpp     = "llama-cpp-python"
)

// replayed asks a server that answers with a capture, whatever it is asked.
func replayed(t *testing.T, server, name string, change func(*relabel.Policy)) (relabel.Completion, relabel.Call, error) {
	t.Helper()
	data, err := os.ReadFile("testdata/captures/" + server + "/" + name + ".json")
	var c capture
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, c.serve, func(p *relabel.Policy) {
		p.Server = captureKinds[server]
		if change != nil {
			change(p)
		}
	})
	req := hello()
	req.Tools = c.tools()
	done, err := b.Complete(t.Context(), req)
	return done, b.ledger.only(t), err
}

func TestAllServersGiveTheSameCalls(t *testing.T) {
	want := []relabel.ToolCall{{ID: "call_3_0", Name: "execute_bash", Arguments: `{"command": "ls"}`}, {ID: "call_3_1", Name: "execute_bash", Arguments: `{"command": "pwd -P"}`}}
	for server, forms := range map[string][]relabel.CallForm{llamaServer: nil, transformers: nil, llamaCpp: {relabel.ToolCallJSON}} {
		done, _, err := replayed(t, server, "tools_two", nil)
		if err != nil || !slices.Equal(done.Message.Canonical(3).ToolCalls, want) || done.Message.Content != "" || !slices.Equal(done.ReadAs, forms) {
			t.Errorf("%s: %v, %+v", server, err, done)
		}
		if (done.Said != nil) != (forms != nil) {
			t.Errorf("%s: said %s", server, done.Said)
		}
	}
}

func TestCallsTruncatedByTheLengthAreIncomplete(t *testing.T) {
	done, _, err := replayed(t, llamaServer, "tools_cut", nil)
	if err != nil || done.FinishReason != "length" || done.Message.ToolCalls[0].Arguments != "{" {
		t.Errorf("%v, %+v", err, done)
	}
	done, _, err = replayed(t, llamaCpp, "tools_cut", nil)
	if err != nil || done.FinishReason != "length" || len(done.Message.ToolCalls) != 1 || json.Valid([]byte(done.Message.ToolCalls[0].Arguments)) {
		t.Errorf("%v, %+v", err, done)
	}
	_, call, err := replayed(t, transformers, "tools_cut", nil)
	if relabel.CodeOf(err) != relabel.CodeEndpoint || call.Tries != 2 || string(call.ErrorBody) != "Internal Server Error" || !strings.Contains(err.Error(), "max_tokens") {
		t.Errorf("%v, %+v", err, call)
	}
}

func TestOverflowEndsTheStateInEachServersForm(t *testing.T) {
	for _, server := range []string{llamaServer, llamaCpp} {
		_, call, err := replayed(t, server, "context_overflow", nil)
		if relabel.CodeOf(err) != relabel.CodeContextOverflow || call.Tries != 1 || call.Status != 400 || len(call.ErrorBody) == 0 {
			t.Errorf("%s: %v, %+v", server, err, call)
		}
	}
	// transformers does not look; what it counted tells.
	done, _, err := replayed(t, transformers, "context_overflow", nil)
	if err != nil || done.Usage.PromptTokens != 6009 || done.FinishReason != "length" {
		t.Errorf("%v, %+v", err, done)
	}
}

func TestMissingIDsAndLogprobsAreReported(t *testing.T) {
	all := []string{"token_ids", "prompt_token_ids", "logprobs"}
	for _, c := range []struct {
		server, capture string
		as              relabel.ServerKind
		ids             int
		want            []string
	}{
		{llamaServer, "logprobs_top0", relabel.ServerLlama, 8, nil},
		{llamaServer, "basic", relabel.ServerLlama, 0, []string{"token_ids", "logprobs"}},
		{llamaServer, "logprobs", relabel.ServerVLLM, 8, []string{"prompt_token_ids"}},
		{transformers, "logprobs", relabel.ServerVLLM, 0, all},
		{transformers, "logprobs", relabel.ServerTransformers, 0, nil},
		{llamaCpp, "logprobs", relabel.ServerSGLang, 0, []string{"token_ids", "prompt_token_ids"}},
		{llamaCpp, "logprobs_top0", relabel.ServerVLLM, 0, all},
	} {
		done, _, err := replayed(t, c.server, c.capture, func(p *relabel.Policy) { p.Server = c.as })
		if err != nil || len(done.TokenIDs) != c.ids || !slices.Equal(done.NotGiven, c.want) {
			t.Errorf("%s %s as %s: %v, %d ids, not given %v", c.server, c.capture, c.as, err, len(done.TokenIDs), done.NotGiven)
		}
	}
	for ids, prompt := range map[scripted.IDs]bool{scripted.IDsVLLM: true, scripted.IDsSGLang: true, scripted.IDsLlama: false} {
		s := scripted.NewServer(scripted.Config{IDs: ids})
		b := open(t, s.ServeHTTP, func(p *relabel.Policy) { p.Model = scripted.TeacherModel })
		done, err := b.Complete(t.Context(), hello())
		if err != nil || len(done.TokenIDs) != done.Usage.CompletionTokens || len(done.Logprobs) != len(done.TokenIDs) || (done.PromptTokenIDs != nil) != prompt || (done.NotGiven == nil) != prompt {
			t.Errorf("%q: %v, %+v", ids, err, done)
		}
	}
}

func TestRefusalsAreFinalOrRetriedOnce(t *testing.T) {
	for _, c := range []struct {
		server, capture string
		tries           int // 0: it answers
	}{
		{llamaServer, "unknown_model", 0}, {transformers, "unknown_model", 1}, {llamaCpp, "unknown_model", 0},
		{llamaServer, "unknown_field", 0}, {transformers, "unknown_field", 1}, {llamaCpp, "unknown_field", 0},
		{transformers, "token_ids_vllm", 1}, {llamaServer, "n2", 1}, {llamaServer, "bad_json", 2}, {transformers, "temperature_string", 2},
		{llamaServer, "tool_bad_arguments_history", 2}, {transformers, "tool_bad_arguments_history", 2}, {llamaCpp, "tool_bad_arguments_history", 2},
		{llamaCpp, "tool_history", 2}, {transformers, "tool_history_parallel", 2},
	} {
		_, call, err := replayed(t, c.server, c.capture, nil)
		if c.tries == 0 {
			if err != nil || call.Tries != 1 {
				t.Errorf("%s %s: %v, %+v", c.server, c.capture, err, call)
			}
			continue
		}
		if relabel.CodeOf(err) != relabel.CodeEndpoint || call.Tries != c.tries || len(call.ErrorBody) == 0 {
			t.Errorf("%s %s: %v, %+v", c.server, c.capture, err, call)
		}
	}
}

func TestARefusalOfOptionalFieldsNamesDoctor(t *testing.T) {
	_, _, err := replayed(t, transformers, "token_ids_vllm", func(p *relabel.Policy) { p.Server = relabel.ServerVLLM })
	if err == nil || !strings.Contains(err.Error(), "Unexpected fields") || !strings.Contains(err.Error(), "relabel doctor --policy student") {
		t.Error(err)
	}
}

func TestTokensAreThoseThatTheServerCounts(t *testing.T) {
	for server, tokens := range map[string]int{llamaServer: 8, transformers: 8, llamaCpp: 7} { // without the end token
		done, _, err := replayed(t, server, "ends_by_itself", nil)
		if err != nil || done.Usage.CompletionTokens != tokens || done.Usage.PromptTokens != 20 || done.Message.Content != "Hello there, é世界🙂." {
			t.Errorf("%s: %v, %+v", server, err, done)
		}
	}
}

// TestEveryServerAcceptsBrokenHistories sends a state that each server of which histories with calls
// were recorded refuses as it is: no words beside the call, arguments that are not JSON.
func TestEveryServerAcceptsBrokenHistories(t *testing.T) {
	state := []relabel.Message{
		{Role: relabel.RoleSystem, Content: "You fix bugs."}, {Role: relabel.RoleUser, Content: "Say hello."},
		{Role: relabel.RoleAssistant, ToolCalls: []relabel.ToolCall{{ID: "call_1_0", Name: "execute_bash", Arguments: "{not json"}}},
		{Role: relabel.RoleTool, ToolCallID: "call_1_0", Content: "a.py\nb.py"},
	}
	for server, kind := range captureKinds {
		if server == "vllm" {
			continue // no history with calls was recorded of it
		}
		for _, format := range relabel.ToolFormats {
			sent := ""
			inner := captured(t, server)
			b := open(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				sent = string(body)
				r.Body = io.NopCloser(strings.NewReader(sent))
				inner(w, r)
			}, func(p *relabel.Policy) { p.Server, p.ToolFormat = kind, format })
			req := hello()
			req.Messages, req.Tools = state, []relabel.Tool{probeTool}
			kept := chat.AppendMessages(nil, state)
			if _, err := b.Complete(t.Context(), req); err != nil {
				t.Errorf("%s %s: %v", server, format, err)
			}
			if string(chat.AppendMessages(nil, state)) != string(kept) {
				t.Errorf("%s %s: the canonical messages were changed", server, format)
			}
			if strings.Contains(sent, `"stop"`) || strings.Contains(sent, `"content":null`) || strings.Contains(sent, `"role":"assistant"}]`) {
				t.Errorf("%s %s: %s", server, format, sent)
			}
			if native := strings.Contains(sent, `"tools":[`) && strings.Contains(sent, `"malformed_arguments`) || strings.Contains(sent, `\"malformed_arguments`); native != (format == relabel.ToolsNative) {
				t.Errorf("%s %s: %s", server, format, sent)
			}
			if format == relabel.ToolsText && !strings.Contains(sent, `<function=execute_bash>\n{not json\n</function>`) {
				t.Errorf("%s: %s", server, sent)
			}
		}
	}
}

func TestAnswersInTextGiveTheActionsThatServersParse(t *testing.T) {
	answers := map[string]struct {
		said  string
		calls []relabel.ToolCall
		forms []relabel.CallForm
	}{
		"in order": {"I look.\n\n<function=execute_bash>\n<parameter=command>\nls \"a\"\n</parameter>\n</function>",
			[]relabel.ToolCall{{ID: "call_3_0", Name: "execute_bash", Arguments: `{"command": "ls \"a\""}`}}, []relabel.CallForm{relabel.FunctionTags}},
		"thought through": {"<think>\nhm <function=x>\n</think>\n\nI look.\n<function=execute_bash>\n</function>",
			[]relabel.ToolCall{{ID: "call_3_0", Name: "execute_bash", Arguments: "{}"}}, []relabel.CallForm{relabel.ThinkTags, relabel.FunctionTags}},
		"malformed": {"I look.\n<function=execute_bash>\nls\n</function>",
			[]relabel.ToolCall{{ID: "call_3_0", Name: "execute_bash", Arguments: "ls"}}, []relabel.CallForm{relabel.FunctionTags}},
		"unknown": {"I look.\n<function=open>\n</function>", []relabel.ToolCall{{ID: "call_3_0", Name: "open", Arguments: "{}"}}, []relabel.CallForm{relabel.FunctionTags}},
		"none":    {"I look.", nil, nil},
	}
	for name, c := range answers {
		raw := chat.AppendMessage(nil, relabel.Message{Role: relabel.RoleAssistant, Content: c.said})
		b := open(t, say(200, `{"choices":[{"message":`+string(raw)+`,"finish_reason":"stop"}]}`), func(p *relabel.Policy) { p.ToolFormat = relabel.ToolsText })
		req := hello()
		req.Tools = []relabel.Tool{probeTool}
		done, err := b.Complete(t.Context(), req)
		if err != nil || !slices.Equal(done.Message.ToolCalls, c.calls) || done.Message.Content != "I look." || !slices.Equal(done.ReadAs, c.forms) {
			t.Errorf("%s: %v, %+v", name, err, done)
		}
		written := done.Raw
		if c.forms != nil {
			written = done.Said
		}
		if m, err := chat.DecodeMessage(done.Raw); err != nil || !reflect.DeepEqual(m, done.Message) || string(written) != string(raw) {
			t.Errorf("%s: %v, %s, said %s", name, err, done.Raw, done.Said)
		}
	}
}

// TestScriptedModelsActAlikeInEveryFormat asks them at the same state with many seeds.
func TestScriptedModelsActAlikeInEveryFormat(t *testing.T) {
	const statement = "The frobnicator drops the last item."
	book := scripted.NewBook([]relabel.Task{{ProblemStatement: statement, Workdir: "/testbed",
		Patch: "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n def f():\n-    return \"</parameter>\"\n+    return '<function=x>&lt;/function>'\n"}})
	ask := func(config scripted.Config, format relabel.ToolFormat, seed int64, state []relabel.Message) relabel.Completion {
		config.Book = book
		b := open(t, scripted.NewServer(config).ServeHTTP, func(p *relabel.Policy) { p.Model, p.ToolFormat = scripted.StudentPrefix+"0.5", format })
		req := hello()
		req.Tools, req.Seed, req.Messages = []relabel.Tool{probeTool, {Name: "str_replace_editor",
			Parameters: `{"type":"object","properties":{"insert_line":{"type":"integer"},"view_range":{"type":"array"}}}`}}, &seed, state
		done, err := b.Complete(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	state := []relabel.Message{{Role: relabel.RoleSystem, Content: "You repair code."}, {Role: relabel.RoleUser, Content: "<issue>\n" + statement + "\n</issue>"}}
	malformed := 0
	for turn := range 40 {
		native := ask(scripted.Config{}, relabel.ToolsNative, int64(turn), state)
		for name, other := range map[string]relabel.Completion{"text": ask(scripted.Config{}, relabel.ToolsText, int64(turn), state),
			"unparsed": ask(scripted.Config{Unparsed: true}, relabel.ToolsNative, int64(turn), state)} {
			if want, got := native.Message.Canonical(3), other.Message.Canonical(3); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s, turn %d: %+v, not %+v", name, turn, got, want)
			}
		}
		action := native.Message.Canonical(turn + 1)
		state = append(state, action)
		for _, c := range action.ToolCalls {
			if !json.Valid([]byte(c.Arguments)) {
				malformed++
			}
			state = append(state, relabel.Message{Role: relabel.RoleTool, ToolCallID: c.ID, Content: "x = 1\n[exit code: 0]"})
		}
		if len(action.ToolCalls) == 0 {
			state = append(state, relabel.Message{Role: relabel.RoleUser, Content: "Call a tool."})
		}
	}
	if malformed == 0 {
		t.Error("no call was malformed: this shows less than it should")
	}
}

package tracing_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"

	"relabel"
	"relabel/worker/tracing"
)

const secret = "sk-live-1234567890"

var (
	begun = time.Date(2026, 11, 2, 3, 4, 5, 0, time.UTC)
	claim = relabel.Claim{
		Fence:      relabel.Fence{TrajectoryID: relabel.NewID(), Attempt: 2},
		Trajectory: relabel.Trajectory{InstanceID: "a__b-1", Executors: "sT", Trail: 1},
		Iteration:  relabel.Iteration{Number: 3, Kind: relabel.Collect},
		Run:        relabel.Run{Name: "first", Scaffold: "openhands"},
	}
	student = relabel.Policy{Name: "student", Version: 4, Model: "small", Server: relabel.ServerVLLM, BaseURL: "http://user:" + secret + "@gpu-7:8000/v1?key=" + secret, Secret: "student"}
	state   = []relabel.Message{
		{Role: "system", Content: "Be brief."}, {Role: "user", Content: "Fix é \xed\xa0\x80."},
		{Role: "assistant", ReasoningContent: "Hm.", ToolCalls: []relabel.ToolCall{{ID: "call_1_0", Name: "bash", Arguments: `{"cut`}}},
		{Role: "tool", ToolCallID: "call_1_0", Content: "not JSON"},
	}
	answer = relabel.Completion{Message: relabel.Message{Content: "Look.", ToolCalls: []relabel.ToolCall{{ID: "x", Name: "bash", Arguments: `{"command":"ls"}`}}},
		FinishReason: "tool_calls", Model: "small-0911", Usage: &relabel.Usage{PromptTokens: 10, CompletionTokens: 3, CachedTokens: 4}}
)

// rollOne sends what one attempt with one turn of the student sends, with its label, and closes the tracer.
func rollOne(t *testing.T, tracer *tracing.Tracer) {
	t.Helper()
	ask := func(p relabel.Policy, purpose relabel.Purpose, m model) {
		seed := int64(7)
		_, _ = tracer.Client(p, m).Complete(context.Background(), relabel.ChatRequest{Messages: state, Tools: []relabel.Tool{{Name: "bash", Description: "Runs.", Parameters: `{"type":"object"}`}},
			Sampling: relabel.Sampling{Temperature: 0.5, TopP: 0.9, MaxTokens: 100}, Seed: &seed, TrajectoryID: claim.TrajectoryID, Attempt: claim.Attempt, T: 2, Purpose: purpose})
	}
	tracer.Started(claim, begun, nil)
	ask(student, relabel.PurposeAct, model{answer: answer})
	teacher := student
	teacher.Name, teacher.Model, teacher.Server = "teacher", "big", relabel.ServerOpenAI
	ask(teacher, relabel.PurposeLabel, model{err: relabel.Errorf(relabel.CodeEndpoint, "503 with %s", secret)})
	tracer.Turn(claim, relabel.Turn{T: 2, Executor: relabel.Student, Action: relabel.Action{Message: answer.Message, Parse: relabel.ParsedOK}, StartedAt: begun, EndedAt: begun.Add(2 * time.Second),
		Time:         relabel.TurnTime{Sandbox: 300, Database: 100},
		Observations: []relabel.Observation{{CallID: "call_2_0", Tool: "bash", Content: "a.go \xff", Millis: 250, ExitCode: new(1), Failed: true}}})
	tracer.Verified(claim, begun, relabel.Verdict{Passed: true, Reason: "passed"}, nil)
	tracer.Attempt(tracing.Attempt{Claim: claim, StartedAt: begun, Spent: relabel.TimeSpent{Model: 5}, Reason: relabel.EndFinish})
	tracer.Close()
}

// only returns the one span with a name.
func (r *receiver) only(t *testing.T, name string) *otlp.Span {
	t.Helper()
	found := r.named(name)
	if len(found) != 1 {
		t.Fatalf("%d spans are named %s", len(found), name)
	}
	return found[0]
}

func TestAnAttemptIsOneTraceOfTheConventions(t *testing.T) {
	r := newReceiver(t, nil)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer "+secret)
	tracer := newTracer(t, tracing.Spans)
	rollOne(t, tracer)
	if c := tracer.Counts(); c != (tracing.Counts{Sent: 7}) {
		t.Errorf("counted %+v", c)
	}
	if r.headers.Get("Authorization") != "Bearer "+secret || r.resource["service.name"] != "relabel" || r.resource["service.instance.id"] != "w-1" || r.resource["service.version"] != "1.2" {
		t.Errorf("sent %v with %v", r.resource, r.headers)
	}
	root, turn := r.only(t, "invoke_agent openhands"), r.only(t, "turn student")
	act, label, tool := r.only(t, "chat small"), r.only(t, "chat big"), r.only(t, "execute_tool bash")
	for child, parent := range map[*otlp.Span]*otlp.Span{turn: root, act: turn, label: turn, tool: turn, r.only(t, "start sandbox"): root, r.only(t, "verify"): root} {
		if !bytes.Equal(child.ParentSpanId, parent.SpanId) || !bytes.Equal(child.TraceId, root.TraceId) {
			t.Errorf("%s is not below %s", child.Name, parent.Name)
		}
	}
	if len(root.ParentSpanId) != 0 || len(root.Links) != 1 || bytes.Equal(root.Links[0].TraceId, root.TraceId) {
		t.Errorf("the attempt has parent %x and links %v", root.ParentSpanId, root.Links)
	}
	wantAttributes(t, root, map[string]string{"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "openhands", "gen_ai.conversation.id": claim.TrajectoryID.String(),
		"relabel.run": "first", "relabel.instance_id": "a__b-1", "relabel.attempt": "2", "relabel.end_reason": "finish", "relabel.outcome": "ended", "relabel.time.model_ms": "5"})
	wantAttributes(t, act, map[string]string{"gen_ai.operation.name": "chat", "gen_ai.provider.name": "vllm", "gen_ai.request.model": "small", "gen_ai.response.model": "small-0911",
		"gen_ai.request.temperature": "0.5", "gen_ai.request.top_p": "0.9", "gen_ai.request.max_tokens": "100", "gen_ai.request.seed": "7",
		"gen_ai.usage.input_tokens": "10", "gen_ai.usage.output_tokens": "3", "gen_ai.usage.cache_read.input_tokens": "4", "gen_ai.response.finish_reasons": "[tool_calls]",
		"server.address": "gpu-7", "server.port": "8000", "relabel.purpose": "act", "relabel.policy": "student@4", "relabel.turn": "2"})
	wantAttributes(t, label, map[string]string{"gen_ai.provider.name": "openai", "relabel.purpose": "label", "error.type": "endpoint"})
	wantAttributes(t, tool, map[string]string{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "bash", "gen_ai.tool.call.id": "call_2_0", "gen_ai.tool.type": "function",
		"relabel.exit_code": "1", "error.type": "tool"})
	wantAttributes(t, r.only(t, "verify"), map[string]string{"gen_ai.evaluation.name": "verdict", "gen_ai.evaluation.score.value": "1", "gen_ai.evaluation.score.label": "passed"})
	if act.Kind != otlp.Span_SPAN_KIND_CLIENT || label.Status.Code != otlp.Status_STATUS_CODE_ERROR || act.Status.Code == otlp.Status_STATUS_CODE_ERROR {
		t.Errorf("kind %v, status %v and %v", act.Kind, label.Status, act.Status)
	}
	if from, to := time.Unix(0, int64(tool.StartTimeUnixNano)).UTC(), time.Unix(0, int64(tool.EndTimeUnixNano)).UTC(); !from.Equal(begun.Add(1600*time.Millisecond)) || to.Sub(from) != 250*time.Millisecond {
		t.Errorf("the tool ran from %s to %s", from, to)
	}
}

// wantAttributes compares attributes by their text.
func wantAttributes(t *testing.T, s *otlp.Span, want map[string]string) {
	t.Helper()
	got := attributesOf(s)
	for key, value := range want {
		text := ""
		switch v := got[key]; {
		case v == nil:
		case v.GetArrayValue() != nil:
			text = fmt.Sprintf("[%s]", v.GetArrayValue().Values[0].GetStringValue())
		case v.GetStringValue() != "":
			text = v.GetStringValue()
		case v.GetDoubleValue() != 0:
			text = fmt.Sprint(v.GetDoubleValue())
		default:
			text = fmt.Sprint(v.GetIntValue())
		}
		if text != value {
			t.Errorf("%s: %s is %q, not %q", s.Name, key, text, value)
		}
	}
}

// Without content no text of prompts, models and tools is sent; secrets are sent in neither mode.
func TestTextsAreSentOnlyIfAskedFor(t *testing.T) {
	for _, mode := range []tracing.Mode{tracing.Spans, tracing.Content} {
		r := newReceiver(t, nil)
		rollOne(t, newTracer(t, mode))
		all := ""
		for _, s := range r.spans {
			all += s.String()
		}
		for _, text := range []string{"Be brief", "Fix", "not JSON", "Look.", "a.go", "Hm."} {
			if strings.Contains(all, text) != (mode == tracing.Content) {
				t.Errorf("%s: %q is or is not in %s", mode, text, all)
			}
		}
		if strings.Contains(all, secret) {
			t.Errorf("%s: the secret is in %s", mode, all)
		}
	}
}

func TestTextsHaveTheFormOfTheConventions(t *testing.T) {
	r := newReceiver(t, nil)
	rollOne(t, newTracer(t, tracing.Content))
	wantAttributes(t, r.only(t, "chat small"), map[string]string{
		"gen_ai.system_instructions": `[{"type":"text","content":"Be brief."}]`,
		"gen_ai.input.messages": `[{"role":"user","parts":[{"type":"text","content":"Fix é \ud800."}]},` +
			`{"role":"assistant","parts":[{"type":"reasoning","content":"Hm."},{"type":"tool_call","id":"call_1_0","name":"bash","arguments":"{\"cut"}]},` +
			`{"role":"tool","parts":[{"type":"tool_call_response","id":"call_1_0","response":"not JSON"}]}]`,
		"gen_ai.output.messages":  `[{"role":"assistant","parts":[{"type":"text","content":"Look."},{"type":"tool_call","id":"x","name":"bash","arguments":{"command":"ls"}}],"finish_reason":"tool_calls"}]`,
		"gen_ai.tool.definitions": `[{"type":"function","name":"bash","description":"Runs.","parameters":{"type":"object"}}]`,
	})
	wantAttributes(t, r.only(t, "execute_tool bash"), map[string]string{"gen_ai.tool.call.arguments": `{"command":"ls"}`, "gen_ai.tool.call.result": "a.go \uFFFD"})
}

// A collector that takes requests and does not answer delays nobody: this test would not end. What does not fit into
// the queue is counted.
func TestASilentCollectorDelaysNothing(t *testing.T) {
	hold := make(chan struct{})
	newReceiver(t, func(r *receiver) { r.hold = hold })
	var log bytes.Buffer
	tracer, err := tracing.New(tracing.Config{Mode: tracing.Spans, Log: zerolog.New(&log)})
	if err != nil {
		t.Fatal(err)
	}
	const spans = 20_000
	for range spans {
		tracer.Started(claim, begun, nil)
	}
	if c := tracer.Counts(); c.Dropped < spans-10_000 || c.Sent != 0 {
		t.Errorf("counted %+v", c)
	}
	close(hold)
	tracer.Close()
	if c := tracer.Counts(); c.Sent+c.Failed+c.Dropped != spans || c.Sent == 0 {
		t.Errorf("of %d spans it counted %+v", spans, c)
	}
	if text := log.String(); !strings.Contains(text, "rollouts continue without them") || !strings.Contains(text, "not all spans") {
		t.Errorf("it logs %s", text)
	}
}

// Texts that wait are bounded in bytes, not only in spans.
func TestLargeSpansThatWaitAreBounded(t *testing.T) {
	hold := make(chan struct{})
	newReceiver(t, func(r *receiver) { r.hold = hold })
	tracer := newTracer(t, tracing.Content)
	large := relabel.Turn{T: 1, Executor: relabel.Student, StartedAt: begun, EndedAt: begun,
		Observations: []relabel.Observation{{CallID: "call_1_0", Tool: "bash", Content: strings.Repeat("x", 10<<20)}}}
	for range 20 {
		tracer.Turn(claim, large)
	}
	if c := tracer.Counts(); c.Dropped < 13 {
		t.Errorf("200 MB wait in 64: %+v", c)
	}
	close(hold)
	tracer.Close()
}

func TestARefusingCollectorIsCounted(t *testing.T) {
	newReceiver(t, func(r *receiver) { r.refuse = 403 })
	tracer := newTracer(t, tracing.Spans)
	rollOne(t, tracer)
	if c := tracer.Counts(); c != (tracing.Counts{Failed: 7}) {
		t.Errorf("counted %+v", c)
	}
}

func TestWithoutTracesNothingChanges(t *testing.T) {
	tracer := newTracer(t, tracing.Off)
	if tracer != nil {
		t.Fatal("there is a tracer")
	}
	inner := model{answer: answer}
	if _, same := tracer.Client(student, inner).(model); !same {
		t.Error("the client is another one")
	}
	rollOne(t, tracer)
}

func TestAnotherProtocolIsRefused(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
	_, err := tracing.New(tracing.Config{Mode: tracing.Spans})
	if relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(fmt.Sprint(err), "http/protobuf only") {
		t.Errorf("%v", err)
	}
}

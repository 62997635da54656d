package atif_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"relabel"
	"relabel/atif"
)

// foreign is a document as another harness writes it, with all that relabel can read.
const foreign = `{
  "schema_version": "ATIF-v1.6", "session_id": "s-1", "notes": "a note",
  "agent": {"name": "other-agent", "version": "2.0", "model_name": "some-model", "extra": {"k": 1},
    "tool_definitions": [{"type": "function", "function": {"name": "bash", "description": "Runs.", "parameters": {"type": "object"}}}]},
  "steps": [
    {"step_id": 1, "source": "system", "message": "You are an agent."},
    {"step_id": 2, "source": "user", "message": [{"type": "text", "text": "Fix "}, {"type": "text", "text": "it."}]},
    {"step_id": 3, "timestamp": "2026-11-02T03:04:05.25", "source": "agent", "message": "Two calls.", "reasoning_content": "Hm.", "reasoning_effort": "high", "extra": null,
     "tool_calls": [{"tool_call_id": "toolu_1", "function_name": "bash", "arguments": {"command": "ls", "n": 12345678901234567890}},
                    {"tool_call_id": "toolu_2", "function_name": "bash", "arguments": {}, "extra": {"timeout": 3}}],
     "observation": {"results": [{"source_call_id": "toolu_2", "content": null}, {"source_call_id": "toolu_1", "content": "a\nb"}]},
     "metrics": {"prompt_tokens": 10, "completion_tokens": 3, "cost_usd": 0.5, "completion_token_ids": [1, 2, 3], "logprobs": [-0.5, -0.25, 0]}},
    {"step_id": 4, "source": "user", "message": "Go on."},
    {"step_id": 5, "source": "agent", "message": "Done.", "extra": {"mood": "good"}}
  ],
  "final_metrics": {"total_prompt_tokens": 10, "total_steps": 5}
}`

func TestATrajectoryOfAnotherHarnessBecomesTurns(t *testing.T) {
	r, err := atif.Read([]byte(foreign))
	if err != nil {
		t.Fatal(err)
	}
	if r.Own != nil || r.AgentName != "other-agent" || r.Model != "some-model" || len(r.Tools) != 1 || r.Tools[0].Parameters != `{"type": "object"}` {
		t.Errorf("read %+v", r)
	}
	want := []relabel.Message{
		{Role: "system", Content: "You are an agent."},
		{Role: "user", Content: "Fix it."},
		{Role: "assistant", Content: "Two calls.", ReasoningContent: "Hm.", ToolCalls: []relabel.ToolCall{
			{ID: "call_1_0", Name: "bash", Arguments: `{"command": "ls", "n": 12345678901234567890}`},
			{ID: "call_1_1", Name: "bash", Arguments: "{}"}}},
		{Role: "tool", ToolCallID: "call_1_1"},
		{Role: "tool", ToolCallID: "call_1_0", Content: "a\nb"},
		{Role: "user", Content: "Go on."},
		{Role: "assistant", Content: "Done.", ToolCalls: []relabel.ToolCall{}},
	}
	if got := relabel.State(r.Opening, r.Turns); !reflect.DeepEqual(got, want) {
		t.Errorf("the state is\n%+v, not\n%+v", got, want)
	}
	first := r.Turns[0].Action
	if first.Usage.PromptTokens != 10 || len(first.TokenIDs) != 3 || first.Logprobs[1] != -0.25 || first.Parse != relabel.ParsedOK || r.Turns[1].Action.Parse != relabel.NoCall {
		t.Errorf("the first action is %+v", first)
	}
	ignored := map[string]int{"agent.extra": 1, "notes": 1, "steps.extra": 1, "steps.metrics.cost_usd": 1, "steps.reasoning_effort": 1, "steps.tool_calls.extra": 1}
	if !reflect.DeepEqual(r.Ignored, ignored) {
		t.Errorf("ignored %v, not %v", r.Ignored, ignored)
	}
}

// Written by relabel, a foreign trajectory is the same each time it is read and written again.
func TestATrajectoryOfAnotherHarnessStaysTheSame(t *testing.T) {
	r, err := atif.Read([]byte(foreign))
	if err != nil {
		t.Fatal(err)
	}
	first := written(t, r)
	back, err := atif.Read(first)
	if err != nil {
		t.Fatalf("%v in %s", err, first)
	}
	if second := written(t, back); !bytes.Equal(first, second) {
		t.Errorf("\n%s\n%s", first, second)
	}
	if len(back.Ignored) > 0 {
		t.Errorf("ignored %v of what relabel wrote", back.Ignored)
	}
}

func TestWhatRelabelCannotHaveIsRefusedByName(t *testing.T) {
	image := `[{"type": "image", "source": {"media_type": "image/png", "path": "a.png"}}]`
	for _, c := range []struct{ old, new, field, message string }{
		{`"ATIF-v1.6"`, `"ATIF-v2.0"`, "schema_version", `is "ATIF-v2.0": relabel reads ATIF-v1.0 to ATIF-v1.8`},
		{`"notes": "a note"`, `"continued_trajectory_ref": "b.json"`, "continued_trajectory_ref", "continues in another document"},
		{`"notes": "a note"`, `"subagent_trajectories": []`, "subagent_trajectories", "import each as a document"},
		{`"notes": "a note"`, `"note": 1`, "", `unknown field "note"`},
		{`"Go on."`, image, "steps[3]", `part 0 is of type "image"`},
		{`"a\nb"`, image, "steps[2]", `part 0 is of type "image"`},
		{`"Go on."`, `7`, "steps[3].message", "number instead of string"},
		{`"step_id": 4`, `"step_id": 5`, "steps[3].step_id", "without gaps"},
		{`4, "source": "user"`, `4, "source": "system"`, "steps[3].source", "system after the agent's first step"},
		{`4, "source": "user"`, `4, "source": "tool"`, "steps[3].source", "must be system, user or agent"},
		{`4, "source": "user"`, `4, "llm_call_count": 0, "source": "agent"`, "steps[3].llm_call_count", "no model chose this action"},
		{`4, "source": "user"`, `4, "is_copied_context": true, "source": "user"`, "steps[3].is_copied_context", "belongs to another trajectory"},
		{`"source_call_id": "toolu_1"`, `"source_call_id": "toolu_9"`, "steps[2].observation.results[1].source_call_id", `is "toolu_9"`},
		{`"source_call_id": "toolu_2", `, ``, "steps[4]", `follows the call "toolu_2" (bash), which has no result`},
		{`"tool_call_id": "toolu_2"`, `"tool_call_id": "toolu_1"`, "steps[2].observation.results", "two calls with the id"},
		{`"arguments": {}`, `"arguments": "{}"`, "steps[2].tool_calls[1].arguments", "is not an object"},
		{`"content": "a\nb"`, `"subagent_trajectory_ref": [{"trajectory_id": "x"}]`, "steps[2].observation.results[1].subagent_trajectory_ref", "no sub-agents"},
		{`2026-11-02T03:04:05.25`, `yesterday`, "steps[2].timestamp", "not a time in ISO 8601"},
		{`"total_steps": 5}`, `"total_steps": 5}} {`, "", "more than one JSON value"},
	} {
		doc := strings.Replace(foreign, c.old, c.new, 1)
		if doc == foreign {
			t.Fatalf("%q is not in the document", c.old)
		}
		_, err := atif.Read([]byte(doc))
		text := fmt.Sprint(err)
		if relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(text, c.message) || !strings.Contains(text, c.field) {
			t.Errorf("%s: got %v, want %q on %q", c.new, err, c.message, c.field)
		}
	}
}

// An edit of what relabel says twice is refused: nobody knows which of both is meant.
func TestAnEditedDocumentIsRefused(t *testing.T) {
	r := ownRecord()
	r.Turns = []relabel.Turn{{T: 1, Executor: relabel.Student, Action: relabel.Action{PolicyID: student, Status: relabel.Received, Message: relabel.Message{
		Content: "bytes \xff", ToolCalls: []relabel.ToolCall{{ID: "x", Name: "bash", Arguments: `{"command":"ls"}`}}}},
		Observations: []relabel.Observation{{CallID: "call_1_0", Content: "out \xff"}}}}
	doc := string(written(t, r))
	for _, c := range []struct{ old, new, field string }{
		{`"arguments":{"command":"ls"}`, `"arguments":{"command":"rm"}`, "steps[2].tool_calls[0].extra.relabel.arguments"},
		{`"message":"bytes `, `"message":"other `, "steps[2].extra.relabel.action.message_base64"},
		{`"content":"out `, `"content":"other `, "steps[2].observation.results[0].extra.relabel.content"},
		{`"t":1,`, `"t":2,`, "steps[2].extra.relabel.t"},
		{`"format":1`, `"format":2`, "extra.relabel.format"},
	} {
		edited := strings.Replace(doc, c.old, c.new, 1)
		if edited == doc {
			t.Fatalf("%q is not in %s", c.old, doc)
		}
		if _, err := atif.Read([]byte(edited)); relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(fmt.Sprint(err), c.field) {
			t.Errorf("%s: %v, want an error on %s", c.new, err, c.field)
		}
	}
}

// Reading any file ends with a record that can be written, or with CodeInvalid.
func FuzzRead(f *testing.F) {
	f.Add([]byte(foreign))
	f.Add(written(f, ownRecord()))
	f.Add([]byte(`{"schema_version":"ATIF-v1.8","agent":{"name":"a","version":""},"steps":[{"step_id":1,"source":"agent","message":"","tool_calls":[{"arguments":{}}]}]}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		r, err := atif.Read(doc)
		if err != nil {
			if relabel.CodeOf(err) != relabel.CodeInvalid {
				t.Fatalf("not CodeInvalid: %v", err)
			}
			return
		}
		first := written(t, r)
		back, err := atif.Read(first)
		if err != nil {
			t.Fatalf("%v in our own %s", err, first)
		}
		if second := written(t, back); !bytes.Equal(first, second) {
			t.Fatalf("\n%s\n%s", first, second)
		}
	})
}

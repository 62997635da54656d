package atif_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"relabel"
	"relabel/atif"
	"relabel/chat"
)

// hardTexts are texts that encoders of JSON lose or change.
var hardTexts = []string{
	"", "plain", "<a href=\"x\">&amp;</a>", "é 漢 😀 \u2028", "tab\tline\nnull\x00bell\x07",
	"\xed\xa0\x80 unpaired high", "unpaired low \xed\xb0\x80", "\xed\xa0\xbd\xed\xb8\x80 pair in three-byte forms", "not UTF-8: \xff\xfe",
}

// hardArguments are the texts of arguments as models write them.
var hardArguments = []string{
	`{}`, ` { "a" : 1 } `, `{"n":123456789012345678901234567890,"x":1e400,"y":1.0}`, `{"k":"\ud800","k":"twice"}`, `{"t":"é\u00e9"}`,
	``, `null`, `[1]`, `{"cut":"off`, "{\"bytes\":\"\xff\"}", "\"text\"",
}

var (
	student = relabel.NewID()
	teacher = relabel.NewID()
)

func actions(policy relabel.ID) *rapid.Generator[relabel.Action] {
	return rapid.Custom(func(t *rapid.T) relabel.Action {
		texts, arguments := rapid.SampledFrom(hardTexts), rapid.SampledFrom(hardArguments)
		a := relabel.Action{PolicyID: policy, Status: relabel.Received, FinishReason: "tool_calls", Refusal: texts.Draw(t, "refusal"), Parse: relabel.ParsedOK,
			Model: "m", Fingerprint: "fp", Millis: int64(rapid.IntRange(0, 3).Draw(t, "millis"))}
		a.Message = relabel.Message{Role: relabel.RoleAssistant, Content: texts.Draw(t, "content"), ReasoningContent: texts.Draw(t, "reasoning")}
		for range rapid.IntRange(0, 3).Draw(t, "calls") {
			a.Message.ToolCalls = append(a.Message.ToolCalls, relabel.ToolCall{ID: "x", Name: "execute_bash", Arguments: arguments.Draw(t, "arguments")})
		}
		if rapid.Bool().Draw(t, "ids") {
			a.TokenIDs, a.Logprobs, a.PromptTokenIDs = []int32{1, 151643}, []float32{-0.1, -1e-7}, []int32{5, 6}
			a.Usage = &relabel.Usage{PromptTokens: 2, CompletionTokens: 2, CachedTokens: 1}
		}
		return a
	})
}

func turns() *rapid.Generator[relabel.Turn] {
	return rapid.Custom(func(t *rapid.T) relabel.Turn {
		at := time.Date(2026, 11, 2, 3, 4, 5, 678901000, time.UTC)
		turn := relabel.Turn{Executor: relabel.Student, Action: actions(student).Draw(t, "action"), Tree: "tree", StartedAt: at, EndedAt: at.Add(time.Second),
			Time: relabel.TurnTime{Sandbox: 7}}
		label := actions(teacher).Draw(t, "label")
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			turn.Executor, turn.Label = relabel.Teacher, &turn.Action
		case 1:
			turn.Label, turn.LabelChance = &label, new(0.25)
		case 2:
			turn.Label = &relabel.Action{PolicyID: teacher, Status: relabel.Missing, Reason: "the endpoint is down"}
		}
		if rapid.Bool().Draw(t, "others") {
			turn.Others = []relabel.Action{label}
		}
		return turn
	})
}

// record draws a trajectory with one observation for each call.
func record(t *rapid.T) atif.Record {
	r := ownRecord()
	for i, turn := range rapid.SliceOfN(turns(), 0, 4).Draw(t, "turns") {
		turn.T = i + 1
		for k := range turn.Action.Message.ToolCalls {
			turn.Observations = append(turn.Observations, relabel.Observation{CallID: relabel.CallID(turn.T, k), Tool: "execute_bash",
				Content: rapid.SampledFrom(hardTexts).Draw(t, "output"), ExitCode: new(k), Failed: k > 0, Millis: 3})
		}
		if len(turn.Action.Message.ToolCalls) == 0 {
			turn.Observations = []relabel.Observation{{Content: "Call a tool."}}
		}
		r.Turns = append(r.Turns, turn)
	}
	return r
}

func ownRecord() atif.Record {
	price := &relabel.Price{Input: 1, Cached: 0.1, Output: 4, Currency: "USD"}
	id := relabel.NewID()
	return atif.Record{
		AgentName: "openhands", AgentVersion: "0a1b2c", Model: "small", SessionID: id.String(), TrajectoryID: id.String() + "/1",
		Opening: []relabel.Message{{Role: relabel.RoleSystem, Content: "Be brief <b>."}, {Role: relabel.RoleUser, Content: "Fix é.\n"}},
		Tools:   []relabel.Tool{{Name: "execute_bash", Description: "Runs.", Parameters: `{"type":"object","properties":{"z":{},"a":{}}}`}, {Name: "finish"}},
		Own: &atif.Own{
			Trajectory: relabel.Trajectory{ID: id, InstanceID: "a__b-1", Kind: relabel.Collect, State: relabel.Done, Resolved: new(true), Score: new(0.1), Flags: []string{},
				CreatedAt: time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)},
			Run:     atif.RunRef{ID: relabel.NewID(), Name: "first", Recipe: relabel.DAgger, Scaffold: "openhands"},
			Student: &atif.PolicyRef{ID: student, Name: "student", Version: 2, Model: "small", Price: price},
			Teacher: &atif.PolicyRef{ID: teacher, Name: "teacher", Version: 1, Model: "big"},
			Patch:   []byte("diff --git a b\n+\xff\n"),
		},
	}
}

func written(t interface{ Fatal(...any) }, r atif.Record) []byte {
	var b bytes.Buffer
	if err := atif.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Out, in and out again gives the same bytes, and in between the same messages, ids and labels.
func TestADocumentIsReadBackWithoutLoss(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := record(t)
		first := written(t, r)
		if bytes.ContainsRune(first, '\n') {
			t.Fatal("a document is not one line")
		}
		back, err := atif.Read(first)
		if err != nil {
			t.Fatalf("%v\n%s", err, first)
		}
		if second := written(t, back); !bytes.Equal(first, second) {
			t.Fatalf("written again:\n%s\n%s", first, second)
		}
		for i, turn := range r.Turns {
			sameTurn(t, turn, back.Turns[i])
		}
		if !reflect.DeepEqual(back.Own, r.Own) || !reflect.DeepEqual(back.Opening, r.Opening) || !reflect.DeepEqual(back.Tools, r.Tools) {
			t.Fatalf("read %+v, not %+v", back, r)
		}
		if len(back.Ignored) != 0 {
			t.Fatalf("ignored %v of our own document", back.Ignored)
		}
	})
}

func sameTurn(t *rapid.T, want, got relabel.Turn) {
	sameAction(t, want.T, want.Action, got.Action)
	if (want.Label == nil) != (got.Label == nil) {
		t.Fatalf("turn %d has label %+v, not %+v", want.T, got.Label, want.Label)
	}
	if want.Label != nil {
		sameAction(t, want.T, *want.Label, *got.Label)
	}
	for i := range want.Others {
		sameAction(t, want.T, want.Others[i], got.Others[i])
	}
	want.Action, want.Label, want.Others = got.Action, got.Label, got.Others
	if !reflect.DeepEqual(want, got) {
		t.Fatalf("read %+v, not %+v", got, want)
	}
}

// sameAction compares actions with canonical call ids, which a document has.
func sameAction(t *rapid.T, turn int, want, got relabel.Action) {
	if want.Status == relabel.Received {
		again, err := chat.DecodeMessage(got.Raw)
		if err != nil || !reflect.DeepEqual(again.Canonical(turn), want.Message.Canonical(turn)) {
			t.Fatalf("%v: the raw message is %q, not %+v", err, got.Raw, want.Message)
		}
		want.Message, got.Message = want.Message.Canonical(turn), got.Message.Canonical(turn)
	}
	want.Raw, got.Raw = nil, nil
	if !reflect.DeepEqual(want, got) {
		t.Fatalf("read %+v, not %+v", got, want)
	}
}

func TestCostsAreInDollarsOnly(t *testing.T) {
	r := ownRecord()
	r.Turns = []relabel.Turn{{T: 1, Executor: relabel.Student, Action: relabel.Action{PolicyID: student, Status: relabel.Received,
		Usage: &relabel.Usage{PromptTokens: 1000, CompletionTokens: 100, CachedTokens: 500}}}}
	if doc := string(written(t, r)); !strings.Contains(doc, `"cost_usd":0.00095`) || !strings.Contains(doc, `"total_cost_usd":0.00095`) {
		t.Errorf("no cost in %s", doc)
	}
	r.Own.Student.Price.Currency = "EUR"
	if doc := string(written(t, r)); strings.Contains(doc, "cost_usd") {
		t.Errorf("euros as dollars in %s", doc)
	}
}

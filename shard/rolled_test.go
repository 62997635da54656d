package shard

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/chat"
	"relabel/shard/render"
	"relabel/shard/shardtest"
	"relabel/store"
	"relabel/store/storetest"
)

// rolledMix draws random trajectories of a student into a real database.
type rolledMix struct {
	*rand.Rand
	student *render.Student
	store   *store.Store
	seeded  storetest.Seeded
	large   bool // one turn of some 60,000 tokens
	plain   bool // a call's arguments have no < as \u003c, which not every checker looks for special tokens in
	alone   bool // one call a message: what Llama's template takes

	compared, differ int // prompts of the student's server, and how many of them are not as rendered
}

// mixTokenizers are the students whose exports are tried, with what their templates need.
var mixTokenizers = map[string]relabel.ExportForm{
	"qwen3":    {},
	"qwen2_5":  {},
	"llama3_2": {TemplateOptions: json.RawMessage(`{"date_string":"26 Jul 2024"}`)}, // it takes one call a message; 3.1's package has no tools
}

var mixWords = []string{"def", "return", "self", "\n", "\n\n", "    ", "the", "naïve", "日本語", "🗝", "é", "<tool_call>", "<think>", "</think>", "<|im_end|>",
	"<|im_start|>user", "<|eot_id|>", "<|endoftext|>", "</tool_response>", "{", "}", "\"", "\\", "{{ x }}", "1.0", "1e5", "\t", "  ", "\u2028", "ﬁ", "e\u0301", "…", "None", "\r\n", "𝒳"}

// text is n words or so.
func (m *rolledMix) text(n int) string {
	var b strings.Builder
	for range n {
		if m.Intn(3) == 0 {
			b.WriteString(mixWords[m.Intn(len(mixWords))])
		} else {
			fmt.Fprintf(&b, "w%d", m.Intn(4000))
		}
		if m.Intn(4) > 0 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// length is mostly short.
func (m *rolledMix) length() int {
	switch m.Intn(8) {
	case 0:
		return 0
	case 1:
		return 200 + m.Intn(300)
	}
	return 3 + m.Intn(30)
}

// message is an action: words, reasoning, and calls.
func (m *rolledMix) message() relabel.Message {
	a := relabel.Message{Role: relabel.RoleAssistant, Content: m.text(m.length())}
	if m.Intn(4) == 0 {
		a.ReasoningContent = m.text(3 + m.Intn(40))
	}
	calls := 1 + m.Intn(10)/8
	if m.alone {
		calls = 1
	}
	for k := range calls {
		text := m.text(m.length())
		value, _ := json.Marshal(text) // a string always has JSON
		if m.plain {
			value = chat.AppendString(nil, text)
		}
		arguments := fmt.Sprintf(`{"command": %s, "n":  1.0}`, value)
		if m.Intn(3) == 0 {
			arguments = fmt.Sprintf(`{"z":[1, 2.50,{"a":null}],"command":%s}`, value)
		}
		a.ToolCalls = append(a.ToolCalls, relabel.ToolCall{ID: fmt.Sprintf("x%d", k), Name: "execute_bash", Arguments: arguments})
	}
	return a
}

// action is a policy's answer at a state.
func (m *rolledMix) action(policy relabel.ID, message relabel.Message) relabel.Action {
	return relabel.Action{PolicyID: policy, Status: relabel.Received, Raw: chat.EncodeMessage(message), Message: message, FinishReason: "tool_calls", Parse: relabel.ParsedOK}
}

// turn draws turn t; c is the conversation up to it.
func (m *rolledMix) turn(claim relabel.Claim, t int, c *render.Conversation, asked *bool) relabel.Turn {
	turn := storetest.Turn(claim, t, nil)
	message := m.message()
	turn.Action = m.action(claim.Student.ID, message)
	if turn.Executor == relabel.Teacher {
		turn.Action = m.action(claim.Teacher.ID, message)
		turn.Label = nil
	} else {
		turn.Label = m.label(claim.Teacher.ID, message)
		*asked = m.serve(c, &turn, t) || *asked
	}
	turn.Observations = nil
	for k := range message.ToolCalls {
		n := m.length()
		if m.large && t == 2 {
			n = 22_000
		}
		turn.Observations = append(turn.Observations, relabel.Observation{CallID: relabel.CallID(t, k), Tool: "execute_bash", Content: m.text(n)})
	}
	return turn
}

// label is the teacher's at a state in which the student did what message says.
func (m *rolledMix) label(teacher relabel.ID, message relabel.Message) *relabel.Action {
	switch m.Intn(12) {
	case 0:
		a := relabel.MissingAction(teacher, relabel.Errorf(relabel.CodeEndpoint, "timeout"))
		return &a
	case 1:
		a := m.action(teacher, m.message())
		a.Parse, a.FinishReason = relabel.CutByLength, "length"
		return &a
	case 2, 3, 4:
		a := m.action(teacher, message) // they agree
		return &a
	}
	a := m.action(teacher, m.message())
	return &a
}

// serve gives the student's action the ids that its server would give, of some turns
// those of a server with another template.
func (m *rolledMix) serve(c *render.Conversation, turn *relabel.Turn, t int) bool {
	if m.Intn(3) > 0 {
		return false
	}
	prompt, _, err := c.Prompt()
	if err != nil {
		return false
	}
	answer, err := c.Label(turn.Action.Message.Canonical(t))
	if err != nil {
		return false
	}
	turn.Action.PromptTokenIDs, turn.Action.TokenIDs = slices.Clone(prompt), answer
	if m.Intn(3) == 0 {
		turn.Action.PromptTokenIDs[len(prompt)/2]++
		m.differ++
	}
	m.compared++
	return true
}

// roll takes a trajectory through its turns, to done.
func (m *rolledMix) roll(t testing.TB, id relabel.ID) {
	t.Helper()
	ctx := context.Background()
	claim := storetest.Claim(t, m.store, id, "w")
	c := m.student.Converse(m.seeded.Run.Prompts.Opening(claim.Task), m.seeded.Run.Prompts.Tools)
	asked, leaves, compared, differ := false, false, m.compared, m.differ
	for n := range 1 + m.Intn(len(claim.Trajectory.Executors)) {
		turn := m.turn(claim, n+1, c, &asked)
		if err := m.store.CommitTurn(ctx, claim.Fence, turn); err != nil {
			t.Fatal(err)
		}
		c.Advance(turn)
		leaves = leaves || turn.Label == nil || turn.Label.Status == relabel.Received && turn.Label.Parse == relabel.ParsedOK
	}
	submitted := m.Intn(5) > 0
	if !submitted || !leaves { // nothing of it is in the export, so its prompts are not compared
		m.compared, m.differ = compared, differ
	}
	err := errors.Join(m.store.EndRollout(ctx, claim.Fence, relabel.Ending{Reason: relabel.EndFinish, Patch: []byte("diff --git a/a b/a\n"), Submitted: submitted}),
		m.store.BeginVerifying(ctx, claim.Fence), m.store.Finish(ctx, claim.Fence, relabel.Verdict{Passed: m.Intn(2) == 0, Reason: "tests"}))
	if err != nil {
		t.Fatal(err)
	}
}

// newMix fills a database: an iteration each of β 0, 0.3 and 1. One whose export is kept
// has a turn of some 60,000 tokens.
func newMix(t testing.TB, seed int64, form relabel.ExportForm, kept, alone bool) *rolledMix {
	t.Helper()
	student, err := render.Open(form)
	if err != nil {
		t.Fatal(err)
	}
	m := &rolledMix{Rand: rand.New(rand.NewSource(seed)), student: student, store: storetest.New(t), alone: alone, plain: kept}
	m.seeded = storetest.SeedWith(t, m.store, 4, func(d *storetest.Seeded) {
		d.Run.Prompts.Tools = []relabel.Tool{{Name: "execute_bash", Description: "Runs <it>, naïvely.", Parameters: `{"type":"object","properties":{"z":{},"command":{"type":"string"}}}`}}
		beta := 0.0
		d.Iteration.Beta = &beta
		for i := range d.Trajectories {
			d.Trajectories[i].Executors = "ssssss"
		}
	})
	ids := []relabel.ID{}
	for _, tr := range m.seeded.Trajectories {
		ids = append(ids, tr.ID)
	}
	for i, beta := range []float64{0.3, 1} {
		p := relabel.PlannedIteration{Iteration: m.seeded.Iteration}
		p.Iteration.ID, p.Iteration.Number, p.Iteration.Beta = relabel.NewID(), i+2, &beta
		for k, task := range m.seeded.Tasks {
			executors := make([]byte, 6)
			for at := range executors {
				executors[at] = 's'
				if m.Float64() < beta {
					executors[at] = 'T'
				}
			}
			p.Trajectories = append(p.Trajectories, relabel.Trajectory{ID: relabel.NewID(), TaskID: task.ID, Generation: k, Executors: relabel.Executors(executors)})
			ids = append(ids, p.Trajectories[k].ID)
		}
		if err := m.store.CreateIteration(context.Background(), p); err != nil {
			t.Fatal(err)
		}
	}
	for i, id := range ids {
		m.large = kept && i == 5
		m.roll(t, id)
	}
	return m
}

// exportMix exports all that there is, in all views, as the queue's workers would. A form
// without a capacity gets one that every row is within.
func exportMix(t testing.TB, m *rolledMix, form relabel.ExportForm) relabel.Export {
	t.Helper()
	ctx := context.Background()
	x := NewExporter(Config{Tokenizers: shardtest.Tokenizers(t), Store: m.store, Root: t.TempDir(), FolderID: "here", Version: "test"})
	x.partBytes = 60_000
	form.Views, form.Normalisation, form.Capacity, form.Divide = relabel.Views, relabel.PerToken, cmp.Or(form.Capacity, 262144), 2
	sel := relabel.ExportSelection{RunID: m.seeded.Run.ID, Aggregated: true, Submitted: true}
	e, err := x.Prepare(context.Background(), relabel.DAgger, relabel.Export{ID: relabel.NewID(), Form: form, Selection: sel})
	if err == nil {
		err = m.store.CreateExport(ctx, e)
	}
	if err == nil {
		err = x.Step(ctx, relabel.ExportJob{ExportID: e.ID, Step: relabel.CutExport})
	}
	if err != nil {
		t.Fatal(err)
	}
	if e, err = m.store.FindExport(ctx, e.ID); err != nil {
		t.Fatal(err)
	}
	for part := range e.Parts {
		if err := x.Step(ctx, relabel.ExportJob{ExportID: e.ID, Step: relabel.BuildPart, Part: part}); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.Step(ctx, relabel.ExportJob{ExportID: e.ID, Step: relabel.FinishExport}); err != nil {
		t.Fatal(err)
	}
	if e, err = m.store.FindExport(ctx, e.ID); err != nil || e.State != relabel.ExportDone {
		t.Fatalf("%+v, %v", e, err)
	}
	selected, err := m.store.CountSelected(ctx, e.ID)
	in := 0
	for _, it := range selected {
		in += it.Left()
	}
	if err != nil || in != e.Rows {
		t.Errorf("%d states by iteration, %d in it: %v", in, e.Rows, err)
	}
	return e
}

// tokenizerFolder is a tokenizer of scripts/tokenizers.sh.
func tokenizerFolder(t testing.TB, name string) string {
	t.Helper()
	cmd := exec.Command("../scripts/tokenizers.sh")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), name)
}

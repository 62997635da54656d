package verify

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"relabel"
	"relabel/chat"
	"relabel/shard/rows"
)

// labelled is a parsed row of the messages view.
type labelled struct {
	trajectory string
	turn       int
	state      []relabel.Message
	label      relabel.Message
	weights    []float32 // nil: null
}

// message checks a row of the messages view and adds its facts.
func (f *fileCheck) message(row *relabel.ExportRow) {
	l, err := f.readLabelled(row)
	if err != nil {
		f.broken = true
		f.reject(row, "messages", "%v", err)
		return
	}
	f.addLabel(l.trajectory, l.turn)
	if !f.source.conversations {
		f.mu.Lock()
		f.source.tools.add(row.Tools, f.entry.Path, row.ID, "row", f.number)
		f.mu.Unlock()
	}
	f.stateOf(row, l)
	f.chain(row, l)
	f.comparePreferred(row, l)
	f.messageWeights(row, l)
	f.messageFacts(row, l, func(class class, v fact, _ int) { f.sums[class].add(v) }, true)
}

// readLabelled parses a row's JSON, which must be in the exporter's form, byte for byte.
func (f *fileCheck) readLabelled(row *relabel.ExportRow) (l labelled, err error) {
	if l.state, err = f.states.read(row.Messages); err != nil {
		return l, err
	}
	var label struct {
		Turn    int
		Message json.RawMessage
		Weights []float32
	}
	if err := readStrictly([]byte(row.Label), &label); err != nil {
		return l, fmt.Errorf("label_json: %w", err)
	}
	if l.label, err = chat.DecodeMessage(label.Message); err != nil {
		return l, fmt.Errorf("label_json does not contain a chat message")
	}
	l.turn, l.weights = label.Turn, label.Weights
	if !sameText(row.Label, rows.LabelText(l.turn, l.label, l.weights)) {
		return l, fmt.Errorf("label_json is not in canonical form: fields, order, spaces or numbers differ")
	}
	trajectory, turn, _ := strings.Cut(row.ID, "/")
	if l.trajectory = trajectory; trajectory == "" || turn != strconv.Itoa(l.turn) || l.turn < 1 {
		return l, fmt.Errorf("its label belongs to turn %d: the name of a row is <trajectory>/<turn>", l.turn)
	}
	return l, nil
}

// stateOf checks that the state belongs to the row's turn: it has an action for each earlier turn,
// and calls and answers are named by their turns.
func (f *fileCheck) stateOf(row *relabel.ExportRow, l labelled) {
	opening := f.opening(row, l)
	if opening < 0 {
		return
	}
	t, calls, answers := 0, 0, 0
	for i, m := range l.state[opening:] {
		if m.Role == relabel.RoleAssistant {
			t, calls, answers = t+1, len(m.ToolCalls), 0
		}
		wrong := wrongCalls(m, t)
		switch {
		case m.Role == relabel.RoleTool && (answers == calls || m.ToolCallID != relabel.CallID(t, answers)):
			wrong = fmt.Sprintf("answers the call %q after %d of the %d answers of turn %d", m.ToolCallID, answers, calls, t)
		case m.Role == relabel.RoleTool:
			answers++
		case m.Role != relabel.RoleAssistant && m.Role != relabel.RoleUser:
			wrong = fmt.Sprintf("has the role %q", m.Role)
		}
		if wrong != "" {
			f.reject(row, "messages", "message %d of its state %s", i+opening, wrong)
			return
		}
	}
	if t != l.turn-1 {
		f.reject(row, "messages", "its state has %d actions, but belongs to turn %d", t, l.turn)
	}
	if l.label.Role != relabel.RoleAssistant {
		f.reject(row, "messages", "its label has the role %q", l.label.Role)
	}
	if wrong := wrongCalls(l.label, l.turn); wrong != "" {
		f.reject(row, "messages", "its label %s", wrong)
	}
}

// opening returns the number of messages before the first action: a system and a user message, in a conversation
// any of these. It rejects other roles, and then returns -1.
func (f *fileCheck) opening(row *relabel.ExportRow, l labelled) int {
	if !f.source.conversations {
		if len(l.state) < 2 || l.state[0].Role != relabel.RoleSystem || l.state[1].Role != relabel.RoleUser {
			f.reject(row, "messages", "its state does not start with a system and a user message")
			return -1
		}
		return 2
	}
	for i, m := range l.state {
		switch m.Role {
		case relabel.RoleSystem, relabel.RoleUser:
		case relabel.RoleAssistant:
			return i
		default:
			f.reject(row, "messages", "message %d of its state, before the first action, has the role %q", i, m.Role)
			return -1
		}
	}
	return len(l.state)
}

// wrongCalls describes the first call of a message of turn t that has a wrong id, "" if none has.
func wrongCalls(m relabel.Message, t int) string {
	for k, call := range m.ToolCalls {
		if m.Role != relabel.RoleAssistant || call.ID != relabel.CallID(t, k) {
			return fmt.Sprintf("has a call %q, expected %s in a message of the assistant", call.ID, relabel.CallID(t, k))
		}
	}
	return ""
}

// chain checks that the state continues that of the trajectory's previous row.
func (f *fileCheck) chain(row *relabel.ExportRow, l labelled) {
	begun := f.order.trajectory == l.trajectory
	if wrong := f.order.next(l.trajectory, false, l.turn); wrong != "" {
		f.reject(row, "order", "%s", wrong)
	}
	if before := strings.TrimSuffix(f.state, "]"); begun && !strings.HasPrefix(row.Messages, before) {
		f.reject(row, "messages", "its state does not start with the state of the previous row")
	}
	f.state = row.Messages
}

// messageWeights checks the weights of the label.
func (f *fileCheck) messageWeights(row *relabel.ExportRow, l labelled) {
	if (l.weights == nil) != (f.manifest.Tokenizer == nil) {
		f.reject(row, "messages", "weights must be present if and only if the export has a token view")
	}
	for i, w := range l.weights {
		want := f.recipeWeights(len(l.weights), 0)
		if want != nil && !slices.Contains(want, w) {
			f.reject(row, "weights", "token %d of the label has the weight %v; the label rule and %s give each of its %d tokens %v", i, w, *f.manifest.Normalisation, len(l.weights), want)
			return
		}
	}
}

// messageFacts passes the facts of a row's weights and rendered tokens to emit. If first is set, it
// counts them and reports rendering errors.
func (f *fileCheck) messageFacts(row *relabel.ExportRow, l labelled, emit emit, first bool) {
	if f.dialect() == relabel.DialectWeight {
		emit(written, f.hash.fact(f.writtenPair(l.state, l.label)), 0)
	}
	if l.weights == nil {
		return
	}
	var sum text
	for _, w := range l.weights {
		sum = f.hash.then(sum, math.Float32bits(w))
	}
	whose := f.whose(l.trajectory, l.turn)
	emit(weights, f.hash.fact(f.hash.thenText(whose, sum)), 0)
	if f.Student == nil || f.served[f.hash.name(l.trajectory, l.turn)] {
		return
	}
	if f.pairs == nil || f.pairsOf != l.trajectory {
		f.pairs, f.pairsOf = f.Student.Pairs(), l.trajectory
	}
	prompt, answer, err := f.pairs.Render(l.state, row.Tools, l.label)
	if err == nil && len(answer) != len(l.weights) {
		err = fmt.Errorf("its label renders to %d tokens, but has %d weights", len(answer), len(l.weights))
	}
	if err != nil {
		if first {
			f.broken = true
			f.reject(row, "rendering", "%v", err)
		}
		return
	}
	var seen text
	for _, id := range prompt {
		seen = f.hash.then(seen, uint32(id))
	}
	for i, id := range answer {
		then := f.hash.then(seen, uint32(id))
		emit(rendered, f.hash.fact(f.hash.then(then, math.Float32bits(l.weights[i]))), len(prompt)+i)
		seen = then
	}
	emit(runs, f.hash.fact(f.hash.then(seen, uint32(len(answer)))), len(prompt)+len(answer)-1)
	emit(pairs, f.hash.fact(f.hash.thenText(f.hash.thenText(whose, seen), sum)), len(prompt)+len(answer)-1)
	if first {
		f.renderedTokens += len(answer)
		f.renderedLabels++
	}
}

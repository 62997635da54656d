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
	"relabel/shard/dialect"
)

// isText reports whether the rows of a view of the export are text, which a trainer renders or encodes itself.
func (c *check) isText(view relabel.View) bool {
	return view == relabel.ViewPromptCompletion || view == relabel.ViewChat && c.dialect() != relabel.DialectLoss
}

// dialect is the dialect of the export's rows of text, "" if it has none.
func (c *check) dialect() relabel.Dialect {
	if c.manifest.For == nil {
		return ""
	}
	return c.manifest.For.Dialect
}

// lineForm is the form that rows of text must have.
func (c *check) lineForm() dialect.Form {
	f := dialect.Form{Dialect: c.dialect()}
	if t := c.manifest.Template; t != nil {
		f.Arguments, f.Options = t.Arguments, t.Options
	}
	return f
}

// textRow checks a row of a view of text and adds its facts.
func (f *fileCheck) textRow(row *relabel.ExportRow) {
	err := f.textFacts(row, func(class class, v fact, _ int) { f.sums[class].add(v) }, true)
	if err != nil {
		f.broken = true
		f.reject(row, "text", "%v", err)
	}
}

// textFacts passes the facts of a row's labels to emit. If first is set, it also counts the labels and checks names
// and tools. The error says what is wrong with the row.
func (f *fileCheck) textFacts(row *relabel.ExportRow, emit emit, first bool) error {
	if f.entry.View == relabel.ViewPromptCompletion && f.dialect() == relabel.DialectText {
		return f.renderedText(row, emit, first)
	}
	c, err := f.conversation(row)
	if err != nil {
		return err
	}
	if wrong := wrongRoles(c, f.source.conversations); wrong != "" {
		return fmt.Errorf("%s", wrong)
	}
	if f.dialect() == relabel.DialectFlat {
		return f.flatFacts(c, emit, first)
	}
	if first {
		if !f.source.conversations {
			f.mu.Lock()
			f.source.tools.add(c.Tools, f.entry.Path, c.ID, "row", f.number)
			f.mu.Unlock()
		}
		if err := f.nameText(c); err != nil {
			return err
		}
	}
	for i, m := range c.Messages {
		if !c.Trained[i] {
			continue
		}
		if err := f.trainedMessage(c, i, m, emit, first); err != nil {
			return err
		}
	}
	return nil
}

// conversation reads a row as a conversation.
func (f *fileCheck) conversation(row *relabel.ExportRow) (c dialect.Conversation, err error) {
	if f.entry.View == relabel.ViewChat {
		c, err = f.lineForm().Read([]byte(row.Line))
		row.ID = c.ID
		return c, err
	}
	return f.promptCompletion(row)
}

// promptCompletion reads a row with a prompt and a completion as a conversation.
func (f *fileCheck) promptCompletion(row *relabel.ExportRow) (c dialect.Conversation, err error) {
	form := f.lineForm()
	c = dialect.Conversation{ID: row.ID, Tools: row.Tools}
	if len(row.Completion) != 1 {
		return c, fmt.Errorf("completion has %d messages, expected 1", len(row.Completion))
	}
	for i, text := range slices.Concat(row.Prompt, row.Completion) {
		m, err := chat.DecodeMessage(json.RawMessage(text))
		if err != nil || form.Object(m) != text {
			return c, fmt.Errorf("message %d is not a chat message as relabel writes it", i)
		}
		c.Messages, c.Trained = append(c.Messages, m), append(c.Trained, i == len(row.Prompt))
	}
	if want := string(form.Options); row.Variables != want && !(row.Variables == "{}" && want == "") {
		return c, fmt.Errorf("chat_template_kwargs is %.200s, the template's options are %.200s", row.Variables, want)
	}
	return c, nil
}

// wrongRoles describes the first message with a wrong role, "" if there is none: a system message, a user message,
// then actions and what they observed, and a label at the end. Only actions are trained on. A state that was not
// collected begins with any of the two.
func wrongRoles(c dialect.Conversation, notCollected bool) string {
	n, opening := len(c.Messages), 2
	if !notCollected && (n < 3 || c.Messages[0].Role != relabel.RoleSystem || c.Messages[1].Role != relabel.RoleUser) {
		return "its state does not start with a system and a user message"
	}
	if notCollected {
		opening = slices.IndexFunc(c.Messages, func(m relabel.Message) bool { return m.Role != relabel.RoleSystem && m.Role != relabel.RoleUser })
	}
	for i, m := range c.Messages {
		action := m.Role == relabel.RoleAssistant
		switch {
		case i >= opening && !action && m.Role != relabel.RoleTool && m.Role != relabel.RoleUser:
			return fmt.Sprintf("message %d has the role %q", i, m.Role)
		case c.Trained[i] && !action:
			return fmt.Sprintf("message %d has the role %q and is trained on", i, m.Role)
		}
	}
	if !c.Trained[n-1] {
		return "its last message is not trained on"
	}
	return ""
}

// nameText checks the name of a row, <trajectory>/<t>, and counts its labels.
func (f *fileCheck) nameText(c dialect.Conversation) error {
	turns := trainedTurns(c)
	if f.dialect() == relabel.DialectWeight { // whose rows have no names
		f.Labels += len(turns)
		return nil
	}
	trajectory, turn, _ := strings.Cut(c.ID, "/")
	t, err := strconv.Atoi(turn)
	if err != nil || strconv.Itoa(t) != turn || len(turns) != 1 || t != turns[0] {
		return fmt.Errorf("is named %q, but trains on the turns %v", c.ID, turns)
	}
	if wrong := f.order.next(trajectory, false, t); wrong != "" {
		return fmt.Errorf("%s", wrong)
	}
	f.rowIDs = append(f.rowIDs, f.hash.name(c.ID, 0))
	for _, t := range turns {
		f.addLabel(trajectory, t)
	}
	return nil
}

// trainedTurns are the turns of a conversation that are trained on.
func trainedTurns(c dialect.Conversation) (turns []int) {
	t := 0
	for i, m := range c.Messages {
		if m.Role == relabel.RoleAssistant {
			t++
		}
		if c.Trained[i] {
			turns = append(turns, t)
		}
	}
	return turns
}

// trainedMessage adds the facts of one label: its text without a tokenizer, else its tokens as rendered again.
func (f *fileCheck) trainedMessage(c dialect.Conversation, i int, label relabel.Message, emit emit, first bool) error {
	if f.dialect() == relabel.DialectWeight {
		emit(written, f.hash.fact(f.writtenPair(c.Messages[:i], label)), 0)
		return nil
	}
	if f.Student == nil {
		return nil
	}
	trajectory, _, _ := strings.Cut(c.ID, "/")
	if f.pairs == nil || f.pairsOf != trajectory {
		f.pairs, f.pairsOf = f.Student.Pairs(), trajectory
	}
	prompt, answer, err := f.pairs.Render(c.Messages[:i], c.Tools, label)
	if err != nil {
		return err
	}
	f.answerFacts(c.ID, prompt, answer, emit)
	if first {
		f.renderedLabels++
		f.renderedTokens += len(answer)
	}
	return nil
}

// writtenPair hashes a state and a label as text, without their reasoning.
func (f *fileCheck) writtenPair(state []relabel.Message, label relabel.Message) (t text) {
	for _, m := range append(state[:len(state):len(state)], label) {
		m.ReasoningContent = ""
		t = f.hash.thenString(t, string(chat.AppendMessage(nil, m)))
	}
	return t
}

// answerFacts passes the facts of the ids of a label, <trajectory>/<turn>, after a prompt to emit, each with weight 1.
func (f *fileCheck) answerFacts(name string, prompt, answer []int32, emit emit) {
	trajectory, turn, _ := strings.Cut(name, "/")
	t, _ := strconv.Atoi(turn) // checked before
	var weights text
	f.longest = max(f.longest, len(prompt)+len(answer))
	var seen text
	for _, id := range prompt {
		seen = f.hash.then(seen, uint32(id))
	}
	for i, id := range answer {
		then := f.hash.then(seen, uint32(id))
		one := f.hash.fact(f.hash.then(then, math.Float32bits(1)))
		emit(rendered, one, len(prompt)+i)
		emit(anyToken, one, len(prompt)+i)
		seen, weights = then, f.hash.then(weights, math.Float32bits(1))
	}
	emit(pairs, f.hash.fact(f.hash.thenText(f.hash.thenText(f.whose(trajectory, t), seen), weights)), len(prompt)+len(answer)-1)
	emit(runs, f.hash.fact(f.hash.then(seen, uint32(len(answer)))), len(prompt)+len(answer)-1)
}

// renderedText checks a row of rendered texts: encoded as one text they are the ids of the prompt and of the label.
func (f *fileCheck) renderedText(row *relabel.ExportRow, emit emit, first bool) error {
	trajectory, turn, _ := strings.Cut(row.ID, "/")
	t, err := strconv.Atoi(turn)
	if len(row.Prompt) != 1 || len(row.Completion) != 1 || err != nil || strconv.Itoa(t) != turn || t < 1 {
		return fmt.Errorf("has no prompt, no completion, or another name than <trajectory>/<turn>")
	}
	prompt, completion := row.Prompt[0], row.Completion[0]
	if stop := f.manifest.Tokenizer; stop != nil && !strings.HasSuffix(completion, stop.Stop) {
		return fmt.Errorf("its completion does not end with the stop token %s", stop.Stop)
	}
	if first {
		f.rowIDs = append(f.rowIDs, f.hash.name(row.ID, 0))
		f.addLabel(trajectory, t)
	}
	if f.Student == nil {
		return nil
	}
	ids, whole := f.Student.Tokens.Encode(nil, prompt), f.Student.Tokens.Encode(nil, prompt+completion)
	if len(whole) <= len(ids) || !slices.Equal(whole[:len(ids)], ids) {
		return fmt.Errorf("its prompt alone has other tokens than in front of its completion")
	}
	f.answerFacts(row.ID, ids, whole[len(ids):], emit)
	if first {
		f.renderedLabels++
		f.renderedTokens += len(whole) - len(ids)
	}
	return nil
}

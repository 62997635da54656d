package render

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/chat"
)

var testTools = []relabel.Tool{
	{Name: "execute_bash", Description: "Runs a command. <|im_end|>", Parameters: `{"type":"object","properties":{"command":{"type":"string"},"timeout":{"type":"number","default":1.50}},"required":["command"]}`},
	{Name: "finish", Description: "Ends it.", Parameters: `{"type":"object","properties":{}}`},
}

// words are what random texts are made of: scripts, special tokens, tags that templates
// look for, white space.
var words = strings.Fields("the parser returns größe 数据 🚀 naïve <|im_end|> <|im_start|>assistant <|eot_id|> <|begin_of_text|> <think> </think> <tool_call> " +
	"</tool_call> <tool_response> \ue001 \ue002 <|endoftext|> {{x}} {%if%} def f(x): 0x1F 1e5 \\n \"quoted\" 'single' a.b->c")

func say(r *rand.Rand, most int) string {
	var b strings.Builder
	for range r.IntN(most + 1) {
		b.WriteString(words[r.IntN(len(words))])
		b.WriteString([]string{" ", "\n", "", "\n\n", "\t"}[r.IntN(5)])
	}
	return b.String()
}

func quoted(text string) string { return string(chat.AppendString(nil, text)) }

// action is an assistant message: thinking or none, calls or none, texts of all kinds.
func action(r *rand.Rand) relabel.Message {
	m := relabel.Message{Role: relabel.RoleAssistant, Content: say(r, 8)}
	if r.IntN(2) == 0 {
		m.ReasoningContent = say(r, 12)
	}
	for k := range r.IntN(3) {
		m.ToolCalls = append(m.ToolCalls, relabel.ToolCall{ID: fmt.Sprintf("call_1_%d", k), Name: "execute_bash",
			Arguments: fmt.Sprintf(`{"command":  %s, "n": 1.0, %s: 1e5, "deep": {"z": [1, null, true], "a": %s}}`, quoted(say(r, 6)), quoted(say(r, 2)), quoted(say(r, 2)))})
	}
	return m
}

// turn is an executed action with what came of it.
func turn(r *rand.Rand, t int) relabel.Turn {
	turn := relabel.Turn{T: t, Action: relabel.Action{Message: action(r)}}
	for _, c := range turn.Action.Message.ToolCalls {
		turn.Observations = append(turn.Observations, relabel.Observation{CallID: c.ID, Tool: c.Name, Content: say(r, 30)})
	}
	if len(turn.Action.Message.ToolCalls) == 0 {
		turn.Observations = []relabel.Observation{{Content: "Use a tool. " + say(r, 4)}}
	}
	return turn
}

// models are students, with what their templates are given beside. Those that are refused
// have a template that leaves tool calls out.
var models = []struct {
	name, options string
	refused       bool
}{
	{"qwen3", `{}`, false}, {"qwen3", `{"enable_thinking":false}`, false}, {"qwen2_5", `{}`, false}, {"llama3_2", `{"date_string":"26 Jul 2024"}`, false},
	{"llama3_1", `{}`, true}, {"qwen1_5", `{}`, true},
}

func TestPairsAreThoseOfTransformers(t *testing.T) {
	ref := newReference(t)
	for _, model := range models {
		t.Run(model.name+model.options, func(t *testing.T) {
			folder := modelFolder(t, model.name)
			s, err := Open(relabel.ExportForm{Tokenizer: folder, TemplateOptions: []byte(model.options)})
			if model.refused {
				if relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(err.Error(), "tool calls") {
					t.Errorf("a template without tool calls: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			compared, refused := 0, 0
			for seed := range uint64(8) {
				a, b := compare(t, ref, s, folder, model.options, rand.New(rand.NewPCG(seed, 1)))
				compared, refused = compared+a, refused+b
			}
			t.Logf("%d pairs compared, %d refused by both; arguments as %s, stop %s, header %q", compared, refused, s.Arguments, s.Stop, s.Tokens.Decode(s.header))
			if compared < 10 {
				t.Errorf("%d pairs were compared", compared)
			}
		})
	}
}

// compare renders a trajectory turn by turn beside the reference.
func compare(t *testing.T, ref *reference, s *Student, folder, options string, r *rand.Rand) (compared, refused int) {
	state := []relabel.Message{{Role: "system", Content: "You repair code. " + say(r, 5)}, {Role: "user", Content: "Repair it. " + say(r, 20)}}
	c := s.Converse(state, testTools)
	for n := range 6 {
		label := action(r)
		want := ref.ask(t, s, folder, state, label, testTools, options)
		prompt, _, err := c.Prompt()
		var answer []int32
		if err == nil {
			answer, err = c.Label(label)
		}
		var refusal *Refusal
		switch {
		case err != nil && !errors.As(err, &refusal):
			t.Fatal(err)
		case (err != nil) != (want.Error != ""):
			t.Errorf("turn %d: we say %v, transformers %q", n, err, want.Error)
		case err != nil:
			refused++
		case !slices.Equal(prompt, want.Prompt) || !slices.Equal(answer, want.Answer):
			t.Errorf("turn %d:\nour prompt    %q\nits prompt    %q\nour label  %q\nits label  %q", n,
				s.Tokens.Decode(prompt), s.Tokens.Decode(want.Prompt), s.Tokens.Decode(answer), s.Tokens.Decode(want.Answer))
		default:
			compared++
		}
		next := turn(r, n+1)
		c.Advance(next)
		state = relabel.AppendTurn(state, next)
	}
	return compared, refused
}

// formWith is a model's tokenizer with another template.
func formWith(t *testing.T, model, template string) relabel.ExportForm {
	t.Helper()
	file := filepath.Join(t.TempDir(), "own.jinja")
	if err := os.WriteFile(file, []byte(template), 0o644); err != nil {
		t.Fatal(err)
	}
	return relabel.ExportForm{Tokenizer: modelFolder(t, model), Template: file}
}

func TestATemplateThatCannotBeRenderedRightIsRefused(t *testing.T) {
	const loop = `{% for m in messages %}<|im_start|>{{ m.role }}{{ "\n" }}`
	const header = `{% if add_generation_prompt %}<|im_start|>assistant{{ "\n" }}{% endif %}`
	for name, c := range map[string]struct{ template, says string }{
		"no calls":       {loop + `{{ m.content }}<|im_end|>{% endfor %}` + header, "tool calls"},
		"no stop":        {`{% for m in messages %}{{ m.role }}: {{ m.content }}{{ (m.tool_calls or []) | tojson }}{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}`, "label_without_stop"},
		"not continuing": {loop + `{{ m.content }}{{ (m.tool_calls or []) | tojson }}<|im_end|>{% endfor %}{% if add_generation_prompt %}<|im_start|>other{% endif %}`, "label_not_continuing"},
		"raises":         {`{{ raise_exception("No tools here") }}`, "No tools here"},
		"unknown filter": {loop + `{{ m.content | shout }}{% endfor %}`, "shout"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(formWith(t, "qwen3", c.template))
			if relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it says %v, not %q", err, c.says)
			}
		})
	}
}

func TestReasoningIsDroppedOrDemanded(t *testing.T) {
	label := relabel.Message{Role: relabel.RoleAssistant, Content: "Done.", ReasoningContent: "because of this"}
	text := func(form relabel.ReasoningForm, model string) (string, error) {
		s, err := Open(relabel.ExportForm{Tokenizer: modelFolder(t, model), Reasoning: form})
		if err != nil {
			t.Fatal(err)
		}
		ids, err := s.Converse(probeState, nil).Label(label)
		return s.Tokens.Decode(ids), err
	}
	if got, err := text(relabel.ReasoningTemplate, "qwen3"); err != nil || !strings.Contains(got, "because of this") {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := text(relabel.ReasoningDrop, "qwen3"); err != nil || strings.Contains(got, "because") {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := text(relabel.ReasoningKeep, "qwen3"); err != nil || !strings.Contains(got, "because of this") {
		t.Errorf("%q, %v", got, err)
	}
	var refusal *Refusal
	if _, err := text(relabel.ReasoningKeep, "qwen2_5"); !errors.As(err, &refusal) || refusal.Reason != ReasoningDropped {
		t.Errorf("a template that shows no reasoning: %v", err)
	}
}

func TestSpecialTextIsCountedWhateverTheGuard(t *testing.T) {
	s, err := Open(relabel.ExportForm{Tokenizer: modelFolder(t, "qwen3")})
	if err != nil {
		t.Fatal(err)
	}
	c := s.Converse(probeState, nil)
	label := relabel.Message{Role: relabel.RoleAssistant, Content: "I write <|im_end|>."}
	if _, err := c.Label(label); err != nil || c.Special() != 1 {
		t.Errorf("%d texts, %v", c.Special(), err)
	}
	c.Advance(relabel.Turn{T: 1, Action: relabel.Action{Message: label}, Observations: []relabel.Observation{{Content: "\ue001 <|im_start|>"}}})
	if c.Special() != 3 {
		t.Errorf("%d texts after the label, the action and what was observed", c.Special())
	}

	var every strings.Builder
	for r := firstGuard; r <= lastGuard; r++ {
		every.WriteRune(r)
	}
	var refusal *Refusal
	if _, err := c.Label(relabel.Message{Role: relabel.RoleAssistant, Content: every.String()}); !errors.As(err, &refusal) || refusal.Reason != GuardEscaped {
		t.Errorf("a label with every guard in it: %v", err)
	}
	if _, err := c.Label(label); err != nil || c.Special() != 4 {
		t.Errorf("the label after it: %d texts, %v", c.Special(), err)
	}
}

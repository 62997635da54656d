package render

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"relabel"
	"relabel/chat"
	"relabel/policy/texttools"
)

// learnTokenizer is the tokenizer of the student of examples/train/learn.
const learnTokenizer = "../../examples/train/learn/tokenizer"

func learnStudent(t testing.TB) *Student {
	t.Helper()
	s, err := Open(relabel.ExportForm{Tokenizer: learnTokenizer})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// repair is a rollout of the task family, as an opening and turns with a call and its observation each.
var repair = []struct{ call, arguments, observation string }{
	{"", "", "calm_bell(90, 59) returns 5310 but it should return 31. Fix the bug."},
	{"execute_bash", `{"command": "grep -n 'def calm_bell' *.py"}`, "atlas.py:2:def calm_bell(a, b):"},
	{"execute_bash", `{"command": "cat atlas.py"}`, "from hub import rare_kite\ndef calm_bell(a, b):\n    return rare_kite(a, b)"},
	{"execute_bash", `{"command": "cat hub.py"}`, "def rare_kite(a, b):\n    return a * b"},
	{"str_replace_editor", `{"command": "str_replace", "path": "hub.py", "old_str": "a * b", "new_str": "a - b"}`, "The file hub.py has been edited."},
	{"execute_bash", `{"command": "python3 check.py"}`, "FAIL calm_bell(46, 30): got 16, want 62"},
	{"execute_bash", `{"command": "git checkout hub.py"}`, "Updated 1 path from the index"},
	{"execute_bash", "<parameter=command>\ncat", "could not parse the tool call"},
	{"", "cat hub.py", "could not parse the tool call"},
	{"execute_bash", `{"command": "cat hub.py\n"}`, "def rare_kite(a, b):\n    return a * b"},
	{"finish", "{}", ""},
}

// repairState is the state of turn t of the rollout, and the action at t.
func repairState(t int) (state []relabel.Message, action relabel.Message) {
	state = []relabel.Message{{Role: relabel.RoleUser, Content: repair[0].observation}}
	for i := 1; ; i++ {
		turn := repair[i]
		m := relabel.Message{Role: relabel.RoleAssistant, Content: turn.arguments}
		if turn.call != "" {
			m = relabel.Message{ToolCalls: []relabel.ToolCall{{Name: turn.call, Arguments: turn.arguments}}}.Canonical(i)
		}
		if i == t {
			return state, m
		}
		seen := relabel.Message{Role: relabel.RoleUser, Content: turn.observation}
		if turn.call != "" {
			seen = relabel.Message{Role: relabel.RoleTool, ToolCallID: relabel.CallID(i, 0), Content: turn.observation}
		}
		state = append(state, m, seen)
	}
}

func TestTheSmallStudentHasTheTokensOfTransformersAndOfItsServer(t *testing.T) {
	s, ref := learnStudent(t), newReference(t)
	pairs := s.Pairs()
	for turn := 1; turn < len(repair); turn++ {
		state, label := repairState(turn)
		prompt, answer, err := pairs.Render(state, "[]", label)
		if err != nil {
			t.Fatalf("turn %d: %v", turn, err)
		}
		want := ref.ask(t, s, learnTokenizer, state, label, nil, "{}")
		if !slices.Equal(prompt, want.Prompt) || !slices.Equal(answer, want.Answer) {
			t.Errorf("turn %d: %q, %q\nnot %q, %q (%s)", turn, s.Tokens.Decode(prompt), s.Tokens.Decode(answer), s.Tokens.Decode(want.Prompt), s.Tokens.Decode(want.Answer), want.Error)
		}
		sent := promptOf(t, pairs, texttools.State(state, nil))
		if !slices.Equal(prompt, sent) {
			t.Errorf("turn %d: the server gets %q, an export has %q", turn, s.Tokens.Decode(sent), s.Tokens.Decode(prompt))
		}
		if said := texttools.Action(label, nil); s.Tokens.Decode(answer) != said+s.Stop {
			t.Errorf("turn %d: the label is %q, not %q", turn, s.Tokens.Decode(answer), said)
		}
	}
}

func promptOf(t fataler, pairs *Pairs, state []relabel.Message) []int32 {
	ids, _, err := pairs.Render(state, "[]", relabel.Message{Role: relabel.RoleAssistant, Content: "x"})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return ids
}

type fataler interface{ Fatalf(string, ...any) }

func TestTheTextsOfTheTaskFamilyAreWholePieces(t *testing.T) {
	const most = 13 // tokens of an action, the stop token included
	s := learnStudent(t)
	pairs := s.Pairs()
	for turn := 1; turn < len(repair); turn++ {
		if repair[turn].call == "" || strings.HasPrefix(repair[turn].arguments, "<") {
			continue
		}
		state, label := repairState(turn)
		prompt, answer, err := pairs.Render(state, "[]", label)
		if err != nil {
			t.Fatal(err)
		}
		if len(answer) > most {
			t.Errorf("turn %d: %q has %d tokens", turn, s.Tokens.Decode(answer), len(answer))
		}
		if turn == 7 && len(prompt) > 124 {
			t.Errorf("the prompt of turn 7 has %d tokens", len(prompt))
		}
	}
}

// TestAnExportOfTheSmallStudentHasWhatItsServerSaw draws calls, and answers without one, with the characters that JSON, the tags
// and the template could trip over.
func TestAnExportOfTheSmallStudentHasWhatItsServerSaw(t *testing.T) {
	s := learnStudent(t)
	pieces := []string{"a", " ", "\n", "\t", `"`, `\`, `\n`, `", "`, `": "`, "{", "}", ":", "é", "</parameter>", "<parameter=", "<function=x>", "&lt;/function>", "<think>", "<|end|>", "{}", ""}
	text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6), func(all []string) string { return strings.Join(all, "") })
	rapid.Check(t, func(t *rapid.T) {
		state := []relabel.Message{{Role: relabel.RoleUser, Content: "x"}}
		for turn := 1; turn <= 3; turn++ {
			if rapid.Bool().Draw(t, "words") {
				words := rapid.SampledFrom([]string{"cat hub.py\n</parameter>\n</function>", "<parameter=command>\nls", "</think>", "no call", "&lt;x>"}).Draw(t, "words")
				state = append(state, relabel.Message{Role: relabel.RoleAssistant, Content: words}, relabel.Message{Role: relabel.RoleUser, Content: "could not parse the tool call"})
				continue
			}
			var m relabel.Message
			for range rapid.IntRange(1, 2).Draw(t, "calls") {
				arguments := text.Draw(t, "arguments")
				if rapid.Bool().Draw(t, "object") {
					arguments = `{"command": ` + string(chat.AppendString(nil, text.Draw(t, "command"))) + `, "path": ` + string(chat.AppendString(nil, text.Draw(t, "path"))) + `}`
				}
				m.ToolCalls = append(m.ToolCalls, relabel.ToolCall{Name: "execute_bash", Arguments: arguments})
			}
			m.Content = rapid.SampledFrom([]string{"", "I look.", "</think> &lt;think>"}).Draw(t, "content")
			m = m.Canonical(turn)
			state = append(state, m)
			for _, c := range m.ToolCalls {
				state = append(state, relabel.Message{Role: relabel.RoleTool, ToolCallID: c.ID, Content: text.Draw(t, "observation")})
			}
		}
		pairs := s.Pairs()
		exported, sent := promptOf(t, pairs, state), promptOf(t, pairs, texttools.State(state, nil))
		if !slices.Equal(exported, sent) {
			t.Fatalf("the server gets %q, an export has %q", s.Tokens.Decode(sent), s.Tokens.Decode(exported))
		}
	})
}

package show

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"relabel"
	"relabel/chat"
)

func says(words string, calls ...string) relabel.Message {
	m := relabel.Message{Role: relabel.RoleAssistant, Content: words}
	for _, c := range calls {
		name, arguments, _ := strings.Cut(c, " ")
		m.ToolCalls = append(m.ToolCalls, relabel.ToolCall{Name: name, Arguments: arguments})
	}
	return m
}

// outlined writes calls with their marks.
func outlined(calls []Call) string {
	var all []string
	for _, c := range calls {
		s := c.Name
		if c.NameOwn {
			s = "[" + s + "]"
		}
		for _, b := range c.Blocks {
			text := b.Text
			if b.Spans != nil {
				text = marked(b.Spans)
			}
			if b.Lines != nil {
				text = strings.Join(drawn(b.Lines), "|")
			}
			if b.Own {
				text = "[" + text + "]"
			}
			s += " " + b.Name + "=" + text
		}
		if c.Alone {
			s = "alone: " + s
		}
		all = append(all, s)
	}
	return strings.Join(all, "; ")
}

func TestHowAnActionDiffersFromItsLabel(t *testing.T) {
	for _, c := range []struct {
		name     string
		a, b     relabel.Message
		kind     differenceKind
		word     string
		atA, inB string
	}{
		{"equal", says("one", `bash {"command":"ls"}`), says("two", `bash { "command": "l\u0073" }`), DoesSame, "does the same", "bash command=ls", "bash command=ls"},
		{"another command", says("", `bash {"command":"ls src"}`), says("", `bash {"command":"ls tests"}`), otherArguments, "same tool, other command", "bash command=ls [src]", "bash command=ls [tests]"},
		{"an argument more", says("", `bash {"command":"ls","timeout":5}`), says("", `bash {"command":"ls"}`), otherArguments, "same tool, other timeout", "bash command=ls timeout=[5]", "bash command=ls"},
		{"a number", says("", `view {"line":10}`), says("", `view {"line":20}`), otherArguments, "same tool, other line", "view line=[10]", "view line=[20]"},
		{"another tool", says("", `bash {"command":"ls"}`), says("", `finish {}`), otherTool, "other tool", "[bash] command=ls", "[finish]"},
		{"words alone", says("I look at it"), says("I look for it"), otherWords, "other words", "", ""},
		{"no call", says("I look"), says("", `bash {"command":"ls"}`), otherTool, "only the label calls a tool", "", "alone: bash command=ls"},
		{"no call in the label", says("", `bash {"command":"ls"}`), says("I look"), otherTool, "the label calls no tool", "alone: bash command=ls", ""},
		{"a call more", says("", `bash {"command":"cd a"}`, `bash {"command":"ls"}`), says("", `bash {"command":"cd b"}`), otherTool, "other number of calls",
			"bash command=cd [a]; alone: bash command=ls", "bash command=cd [b]"},
		{"calls pair by their tool", says("", `think {}`, `bash {"command":"ls a"}`), says("", `bash {"command":"ls b"}`), otherTool, "other number of calls",
			"alone: think; bash command=ls [a]", "bash command=ls [b]"},
		{"an edit", says("", `edit {"command":"str_replace","path":"/a.py","old_str":"x = 1\ny = 2","new_str":"x = 1\ny = 3"}`),
			says("", `edit {"command":"str_replace","path":"/a.py","old_str":"x = 1\ny = 2","new_str":"x = 1\ny = 4"}`), otherArguments, "same tool, other edit",
			"edit command=str_replace path=/a.py edit= x = 1|-y = 2|*+y = [3]", "edit command=str_replace path=/a.py edit= x = 1|-y = 2|*+y = [4]"},
		{"broken arguments", says("", `bash {"command": "ls`), says("", `bash {"command": "ls"}`), otherArguments, "same tool, other arguments, command",
			`bash arguments=[{"command": "ls]`, "bash command=[ls]"},
		{"a text beside a value", says("", `t {"a":"1"}`), says("", `t {"a":1}`), otherArguments, "same tool, other a", `t a=["]1["]`, "t a=1"},
		{"an edit's ends", says("", `edit {"command":"str_replace","old_str":"x\n","new_str":"y\n"}`), says("", `edit {"command":"str_replace","old_str":"x","new_str":"y"}`), otherArguments, "same tool, other edit",
			"edit command=str_replace edit=-x|+y", "edit command=str_replace edit=-x|+y|*-" + noEnd + "|*+" + noEnd},
		{"an insertion's end", says("", `edit {"command":"insert","new_str":"y"}`), says("", `edit {"command":"insert","new_str":"y\n"}`), otherArguments, "same tool, other edit",
			"edit command=insert edit=+y|*+" + noEnd, "edit command=insert edit=+y"},
		{"an edit of a number", says("", `edit {"old_str":"5","new_str":"6"}`), says("", `edit {"old_str":5,"new_str":6}`), otherArguments, "same tool, other edit",
			"edit edit=*-5|*+6", "edit edit=*-5|*+6"},
		{"a key twice", says("", `t {"a":1,"a":2}`), says("", `t {"a":1}`), otherArguments, "same tool, other a", "t a=1 a=[2]", "t a=1"},
	} {
		d := Compare(c.a, c.b)
		if d.Kind != c.kind || d.Word() != c.word {
			t.Errorf("%s: %s (%s), want %s (%s)", c.name, d.Kind, d.Word(), c.kind, c.word)
		}
		if a, b := outlined(d.A), outlined(d.B); a != c.atA || b != c.inB {
			t.Errorf("%s:\n%q and\n%q, want\n%q and\n%q", c.name, a, b, c.atA, c.inB)
		}
	}
	if d := Compare(says("I look at it"), says("I look for it")); marked(d.WordsA) != "I look [at] it" || marked(d.WordsB) != "I look [for] it" {
		t.Errorf("words: %q, %q", marked(d.WordsA), marked(d.WordsB))
	}
}

func TestALongDifferenceIsSaidToBeCoarse(t *testing.T) {
	long := func(word string) relabel.Message {
		text := strings.Repeat("x = 1\\n", 40_000)
		return says("", `edit {"command":"create","path":"/a.py","file_text":"`+text+word+`\n`+text+`"}`)
	}
	d := Compare(long("old"), long("new"))
	if !d.Coarse || d.A[0].Blocks[2].Cut != byEnds {
		t.Errorf("coarse: %v", d.Coarse)
	}
}

func TestWhatDiffersInManyPlacesIsBounded(t *testing.T) {
	lines := func(word string) (text string) {
		for i := range 3000 {
			text += fmt.Sprintf("line %d of the %s text\\n", i, word)
		}
		return text
	}
	d := Compare(says("", `edit {"old_str":"","new_str":"`+lines("one")+`"}`), says("", `edit {"old_str":"","new_str":"`+lines("other")+`"}`))
	if b := d.A[0].Blocks[0]; !d.Coarse || b.Cut != byLines || len(b.Lines[0].Spans) < 2 || len(b.Lines[2999].Spans) != 1 || !b.Lines[2999].Own {
		t.Errorf("coarse: %v, compared by %d", d.Coarse, b.Cut)
	}
	keys := func(value int) string {
		all := ""
		for i := range 20 {
			all += fmt.Sprintf(`,"k%d":%d`, i, value)
		}
		return "t {" + all[1:] + "}"
	}
	if word := Compare(says("", keys(1)), says("", keys(2))).Word(); word != "same tool, other k0, k1, k2, k3, k4, k5, k6, k7 and 12 more" {
		t.Error(word)
	}
}

// What is marked and what chat.Agree says must be one: no mark without a difference,
// and none without a mark.
func TestMarksAndAgreementAreOne(t *testing.T) {
	call := rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"bash ", "edit "}).Draw(t, "tool") + rapid.SampledFrom([]string{
			`{}`, `{"command":"ls"}`, `{"command":"ls -a"}`, `{"command": "ls"}`, `{"command":"str_replace","old_str":"a","new_str":"b"}`,
			`{"command":"str_replace","old_str":"a","new_str":"c"}`, `{"new_str":"b","command":"str_replace","old_str":"a"}`, `{`, `[1]`, `{"n":1}`, `{"n":{"b":2,"a":1}}`, `{"n":{"a":1,"b":2}}`,
			`{"n":"1"}`, `{"n":1.0}`, `{"old_str":"a\n","new_str":"b\n"}`, `{"old_str":"a","new_str":"b"}`, `{"old_str":"a","new_str":"b\n"}`, `{"old_str":1,"new_str":"b"}`, `{"old_str":"1","new_str":"b"}`,
			`{"command":"insert","new_str":"b"}`, `{"command":"insert","old_str":"","new_str":"b"}`, `{"command":"insert","new_str":"b\n"}`,
		}).Draw(t, "arguments")
	})
	rapid.Check(t, func(t *rapid.T) {
		calls := rapid.SliceOfN(call, 0, 3)
		a, b := says("words", calls.Draw(t, "a")...), says("words", calls.Draw(t, "b")...)
		d := Compare(a, b)
		if (d.Kind == DoesSame) != chat.Agree(a, b) {
			t.Errorf("%s for %v and %v", d.Kind, a, b)
		}
		marks := func(calls []Call) bool {
			return slices.ContainsFunc(calls, func(c Call) bool {
				return c.NameOwn || c.Alone || slices.ContainsFunc(c.Blocks, func(b block) bool {
					return b.Own || slices.ContainsFunc(b.Spans, func(s Span) bool { return s.Own }) || slices.ContainsFunc(b.Lines, func(l Line) bool { return l.Own })
				})
			})
		}
		if (d.Kind == DoesSame) == (marks(d.A) || marks(d.B)) {
			t.Errorf("%s, with marks: %q, %q", d.Kind, outlined(d.A), outlined(d.B))
		}
	})
}

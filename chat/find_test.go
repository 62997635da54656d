package chat_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"relabel"
	"relabel/chat"
)

func TestATextIsFoundInAnyCase(t *testing.T) {
	for _, c := range []struct {
		words, text string
		matches     int
		before      string
	}{
		{"ImportError", "importerror IMPORTERROR", 2, ""},
		{"é", "a É", 1, "a "},
		{"ärger", "viel ÄRGER", 1, "viel "},
		{"aa", "aaaa", 2, ""},
		{"k", "\u212a", 0, ""}, // a sign of another length in lower case is none of its letters
		{"\u0130x", "\u0130X", 1, ""},
		{"x", "\xff\xfeX", 1, "\xff\xfe"},
		{"longer than it", "longer", 0, ""},
	} {
		f := chat.NewFinder(c.words, 1, 1)
		f.Other("text", c.text)
		if f.Matches != c.matches {
			t.Errorf("%q is %d times in %q, not %d", c.words, f.Matches, c.text, c.matches)
		}
		if len(f.Kept) > 0 && (f.Kept[0].Before != c.before || !strings.EqualFold(f.Kept[0].Text, c.words)) {
			t.Errorf("%q: %+v", c.words, f.Kept[0])
		}
	}
}

// A message that holds a text is never passed over, however its server wrote it.
func TestAMessageWithTheTextIsNotSkipped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.StringOf(rapid.OneOf(rapid.RuneFrom([]rune(`aAbBkK"\/<>&'{}:é`+"\n\t\u2028\U0001F600")), rapid.Rune()))
		arguments, err := json.Marshal(map[string]string{"command": texts.Draw(t, "argument")})
		if err != nil {
			t.Fatal(err)
		}
		m := relabel.Message{Role: relabel.RoleAssistant, Content: texts.Draw(t, "content"), ReasoningContent: texts.Draw(t, "thought"),
			ToolCalls: []relabel.ToolCall{{ID: "c", Name: "bash", Arguments: string(arguments)}}}
		written := chat.AppendMessage(nil, m)
		if rapid.Bool().Draw(t, "in ASCII") {
			written = asciiOf(written)
		}
		words := piece(t, rapid.SampledFrom([]string{m.Content, m.ReasoningContent, "bash"}).Draw(t, "of"))
		if words == "" {
			return
		}
		f := chat.NewFinder(strings.ToUpper(words), 1, 1)
		read, err := chat.DecodeMessage(written)
		if err != nil {
			t.Fatal(err)
		}
		if f.Action("action", read); f.Matches > 0 && !f.MayBeIn(written) {
			t.Fatalf("%q is in %s", words, written)
		}
	})
}

// piece is a part of a text, in whole characters.
func piece(t *rapid.T, text string) string {
	runes := []rune(text)
	from := rapid.IntRange(0, len(runes)).Draw(t, "from")
	return string(runes[from:rapid.IntRange(from, len(runes)).Draw(t, "to")])
}

// asciiOf writes JSON as Python does: what is beyond ASCII as escapes.
func asciiOf(written []byte) (out []byte) {
	for len(written) > 0 {
		r, n := utf8.DecodeRune(written)
		if quoted := strconv.QuoteRuneToASCII(r); r < utf8.RuneSelf || len(quoted) != len(`'\u0000'`) {
			out = append(out, written[:n]...)
		} else {
			out = append(out, quoted[1:len(quoted)-1]...)
		}
		written = written[n:]
	}
	return out
}

package safetext

import (
	"html"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTerminalColoursBecomeClasses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"\x1b[31mred\x1b[0m plain":            `<span class="a-f1">red</span> plain`,
		"\x1b[1;32;44mx":                      `<span class="a-b a-f2 a-g4">x</span>`,
		"\x1b[mx\x1b[91my":                    `x<span class="a-f1">y</span>`,
		"\x1b[38;5;196mx\x1b[39my":            `<span class="a-f1">x</span>y`,
		"\x1b[38;2;10;200;20mx":               `<span class="a-f2">x</span>`,
		"\x1b[38:2::10:200:20mx":              `<span class="a-f2">x</span>`,
		"\x1b[38;5mx\x1b[48mz":                `<span class="a-f0">x</span><span class="a-f0">z</span>`,
		"\x1b[4:3mx\x1b[24my":                 `<span class="a-u">x</span>y`,
		"\x1b[8mhidden":                       `hidden`,
		"\x1b[999999999999999999999mx":        `x`,
		"\x1b[31m<b>\x00":                     `<span class="a-f1">&lt;b&gt;</span><span class="ctl">^@</span>`,
		"\x1b[2Kx":                            `<span class="ctl">^[[2K</span>x`,
		"\x1b]8;;javascript:alert(1)\x07link": `<span class="ctl">^[]8;;javascript:alert(1)^G</span>link`,
		"\x1b[?25mx":                          `<span class="ctl">^[[?25m</span>x`,
	} {
		if got := string(HTML(text)); got != want {
			t.Errorf("%q is shown as\n%s, want\n%s", text, got, want)
		}
	}
}

func TestWhatCannotBeSeenIsMarked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\u202eb": "a‹U+202E›b", "a\u00a0b": "a‹U+00A0›b", "\u3164": "‹U+3164›", "\u2800": "‹U+2800›", "\ufe01": "‹U+FE01›", "\U000e0041": "‹U+E0041›", "\U000e0100": "‹U+E0100›",
		"a\rb": "a^Mb", "a\r\nb": "a\r\nb", "\ue000": "‹U+E000›", "👩\u200d👩": "👩\u200d👩", "a\u200db": "a‹U+200D›b", "é ü 漢字 ❤\ufe0f": "é ü 漢字 ❤\ufe0f", "\x1b[1mx": "^[[1mx",
		"\x1b]0;\u202e\xff\x07x": "^[]0;‹U+202E›‹FF›^Gx",
	} {
		if got := Plain(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

var ourTag = regexp.MustCompile(`<span class="(ctl|a-[a-z0-9]+( a-[a-z0-9]+)*)">|</span>`)

func FuzzTextIsSafe(f *testing.F) {
	for _, seed := range []string{"<script>alert(1)</script>", "\x1b[31mred\x1b[0m", "\x1b]8;;\u202e\xff\x07", "\xed\xa0\x80\x00", "a\u00a0\u200d👩", "\u200d\xf0", "\x1b[38;2;1mx", "\x1b[\x1b[m\"'&"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		shown := string(HTML(s))
		if !utf8.ValidString(shown) {
			t.Fatal("not UTF-8")
		}
		rest := ourTag.ReplaceAllString(shown, "")
		if i := strings.IndexAny(rest, "<>\"'"); i >= 0 {
			t.Fatalf("markup came through: %q", rest[i:])
		}
		if open := strings.Count(shown, "<span"); open != strings.Count(shown, "</span>") {
			t.Fatal("a span is not closed")
		}
		for _, text := range []string{html.UnescapeString(rest), Plain(s)} {
			for i, r := range text {
				if r != '\n' && r != '\t' && !strings.HasPrefix(text[i:], "\r\n") && isHidden(r) && !joinsEmoji(text[i:]) {
					t.Fatalf("%U cannot be seen in %q", r, text)
				}
			}
		}
		if !strings.Contains(s, "\x1b") && html.UnescapeString(rest) != Plain(s) {
			t.Fatalf("shown %q, plain %q", rest, Plain(s))
		}
	})
}

func TestTextOfOthersIsHarmlessOnATerminal(t *testing.T) {
	for text, want := range map[string]string{
		"plain ü 数 🚀\n\t": "plain ü 数 🚀\n\t", "\x1b[2J\r\x07\x7f": "␛[2J␍␇␡", "a\u0085\u200b\u2066\ufeff": "a‹U+0085›‹U+200B›‹U+2066›‹U+FEFF›",
		"\xff\u00a0": `\xff‹U+00A0›`, "e\u0301": "e\u0301", "\u2028": "‹U+2028›", "\ufe0f": "‹U+FE0F›", "\u3164": "‹U+3164›", "\U000e0041": "‹U+E0041›",
	} {
		if got := Terminal(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

package openhands

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestShownKeepsTextAsItIs(t *testing.T) {
	for _, s := range []string{"", "plain\n", "é 漢 😀 �", "\x1b[31mred\x1b[0m\r\n", `a literal \x00 and \xff`} {
		if got := shown([]byte(s), nil, 0, 1000); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

// escape is how shown writes a byte.
var escape = regexp.MustCompile(`\\x[0-9a-f]{2}`)

func TestShownBytesDifferFromText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.SampledFrom([]byte("ab\\x0f\x00\xff\xc3\xa9\xed\xa0\x80\n")), 1, 60).Draw(t, "data")
		got := shown(data, nil, 0, 1000)
		if !utf8.ValidString(got) || strings.Contains(got, "\x00") {
			t.Fatalf("%q", got)
		}
		if body, escaped := strings.CutSuffix(got, escapeNote(true)); escaped {
			got = escape.ReplaceAllStringFunc(body, func(e string) string {
				b, _ := strconv.ParseUint(e[2:], 16, 8)
				return string([]byte{byte(b)})
			})
		}
		if !bytes.Equal([]byte(got), data) {
			t.Fatalf("%q came back as %q", data, got)
		}
	})
}

var leftOut = regexp.MustCompile(`(?s)^(.*)\n\[\.\.\. (\d+) bytes left out \.\.\.\]\n(.*)$`)

func TestShownCutsTheMiddleAndCountsWhatIsGone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const limit = 100
		text := strings.Repeat(rapid.SampledFrom([]string{"a", "é", "漢", "😀"}).Draw(t, "character"), rapid.IntRange(101, 400).Draw(t, "count"))
		head, tail, dropped := []byte(text), []byte(nil), int64(0)
		if rapid.Bool().Draw(t, "already cut") {
			n := len(text) - rapid.IntRange(30, 50).Draw(t, "tail")
			m := rapid.IntRange(30, 50).Draw(t, "head")
			head, tail, dropped = []byte(text[:m]), []byte(text[n:]), int64(n-m)
		}
		got := shown(head, tail, dropped, limit)
		parts := leftOut.FindStringSubmatch(got)
		if parts == nil || strings.Contains(got, "not text") {
			t.Fatalf("%q", got)
		}
		gone, _ := strconv.Atoi(parts[2])
		if len(parts[1])+gone+len(parts[3]) != len(text) || len(parts[1])+len(parts[3]) > limit {
			t.Fatalf("%d + %d + %d of %d", len(parts[1]), gone, len(parts[3]), len(text))
		}
		if !strings.HasPrefix(text, parts[1]) || !strings.HasSuffix(text, parts[3]) {
			t.Fatal("what is shown is not the start and the end")
		}
	})
}

func TestShownBoundsWhatEscapesBlowUp(t *testing.T) {
	got := shown(bytes.Repeat([]byte{0xff}, 1000), nil, 0, 100)
	want := strings.Repeat(`\xff`, 12) + fmt.Sprintf("\n[... %d bytes left out ...]\n", 1000-24) + strings.Repeat(`\xff`, 12) + escapeNote(true)
	if got != want {
		t.Errorf("%q", got)
	}
}

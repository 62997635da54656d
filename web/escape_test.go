package web_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"relabel"
)

// nasty is text of every kind that a browser would obey, hide or stumble over.
const nasty = "<script>alert(1)</script><img src=x onerror=alert(2)> \x1b[31mred\x1b[0m \x00 \xff \xed\xa0\x80 \u202edrawkcab\u200b \"'&amp; </pre></article> ]]>"

func TestAwkwardTextIsShownInert(t *testing.T) {
	t.Parallel()
	s := start(t)
	all := s.begin("nasty", "sT")
	f := s.claim(all[0])
	m := relabel.Message{Content: nasty, ReasoningContent: nasty, ToolCalls: []relabel.ToolCall{
		{ID: nasty, Name: nasty, Arguments: nasty},
		{ID: "b", Name: "execute_bash", Arguments: `{"command":"<script>alert(3)</script>\u001b[1m\u0000\ud800","<b>":[1,"</dd>"]}`},
	}}
	valid := strings.ToValidUTF8(nasty, "\uFFFD")
	turn := s.turn(1, m, s.label(m), valid)
	turn.Label.Refusal = "<script>"
	turn.Action.FinishReason = "<b>length"
	s.must(s.store.CommitTurn(t.Context(), f, turn))
	s.must(s.store.CommitTurn(t.Context(), f, s.turn(2, m, nil, valid)))
	s.end(f, "diff --git "+nasty+"\n+"+nasty+"\n", relabel.Verdict{Reason: "tests", Tests: map[string]relabel.TestStatus{"<script>": relabel.TestFailed}, Output: []byte(nasty)})

	base := "/trajectories/" + all[0].ID.String()
	marks := []string{`<span class="a-f1">red</span>`, "^@", "‹FF›", "‹U+D800›", "‹U+202E›", "‹U+200B›", "&lt;script&gt;alert(1)&lt;/script&gt;"}
	for _, path := range []string{base, base + "/turns/1", base + "/patch", base + "/test-output", base + "/turns?part=cards&from=1&to=2", base + "/file.html"} {
		page := s.get(200, path)
		inert(t, path, page)
		contains(t, page, marks...)
	}
	inert(t, "find", s.get(200, base+"/find?q=%3Cscript%3E"))
	page := s.get(200, base)
	contains(t, page, "&lt;script&gt;alert(3)", "not resolved", "&lt;b&gt;length")
	if n := strings.Count(page, "<article"); n != strings.Count(page, "</article>") || n != 2 {
		t.Error("text closed an element of the page")
	}
}

// inert checks that a page holds no markup and no character that came from a text.
func inert(t *testing.T, path, page string) {
	t.Helper()
	if !utf8.ValidString(page) {
		t.Errorf("%s: not UTF-8", path)
	}
	if m := regexp.MustCompile(`<script>|<img|<b>length|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\x{202e}|\x{200b}`).FindString(page); m != "" {
		t.Errorf("%s: %q came through", path, m)
	}
}

func TestNamesAreShownInert(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.begin("<script>x</script>\u202e", "T")
	for _, path := range []string{"/", "/runs/" + s.run.ID.String(), "/trajectories", "/trajectories?run=" + s.run.ID.String()} {
		inert(t, path, s.get(200, path))
	}
	inert(t, "filter", s.get(200, "/trajectories?instance=%22%3E%3Cscript%3E%1b"))
}

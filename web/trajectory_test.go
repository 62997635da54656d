package web_test

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"relabel"
)

func TestAPageBeginsWithTheHeadsOfAllTurns(t *testing.T) {
	t.Parallel()
	s := start(t)
	all := s.begin("long", strings.Repeat("s", 53))
	f := s.claim(all[0])
	for i := 1; i <= 53; i++ {
		s.must(s.store.CommitTurn(t.Context(), f, s.turn(i, bash("", "ls -"+fmt.Sprint(i)), s.label(bash("", "ls")), "what turn "+fmt.Sprint(i)+" wrote")))
	}
	base := "/trajectories/" + all[0].ID.String()
	page := s.get(200, base)
	if n := len(regexp.MustCompile(`<article class="turn `).FindAllString(page, -1)); n != 53 {
		t.Errorf("%d of 53 turns have a place", n)
	}
	contains(t, page, `id="t53"`, `href="#t53"`, "what turn 4 wrote")
	if strings.Contains(page, "what turn 5 wrote") {
		t.Error("texts come before they are reached")
	}
	cards := s.get(200, base+"/turns?part=cards&from=50&to=60")
	contains(t, cards, `id="t50"`, `id="t53"`, "what turn 53 wrote")
	if strings.Contains(cards, "<html") {
		t.Error("a part is a whole page")
	}
	contains(t, s.get(200, base+"/turns/51"), `rel="prev" href="`+base+`/turns/50"`, `rel="next" href="`+base+`/turns/52"`)
	if raw, h := s.fetch(200, base+"/turns/7/raw?of=0"); raw != "what turn 7 wrote" || h.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("raw: %q", raw)
	}
	for _, path := range []string{"/turns/7/raw?of=1", "/turns/7/raw?of=x", "/turns/54/raw?of=0", "/turns/54"} {
		s.get(404, base+path)
	}
}

func TestEverythingOfATrajectoryIsFound(t *testing.T) {
	t.Parallel()
	s := start(t)
	all := s.begin("find", "sT")
	f := s.claim(all[0])
	deep := strings.Repeat("x\n", 9000) + "a NEEDLE in hay" + strings.Repeat("\ny", 9000)
	m := bash("A needle in words.", "grep 'needle' \"é\"")
	m.ReasoningContent = "NEEDLE in reasoning"
	s.must(s.store.CommitTurn(t.Context(), f, s.turn(1, m, s.label(bash("", "a needle of the label")), deep)))
	s.must(s.store.CommitTurn(t.Context(), f, s.turn(2, bash("", "ÄRGER"), nil, "<b>needle</b>")))
	s.end(f, "diff --git a/a b/a\n+needle\n", relabel.Verdict{Reason: "tests", Tests: map[string]relabel.TestStatus{"t::needle": relabel.TestFailed}, Output: []byte("NeEdLe")})
	base := "/trajectories/" + all[0].ID.String()
	page := s.get(200, base+"/find?part=found&q=needle")
	contains(t, page, "9 matches in 5 places", `data-turn="1" data-part="action" data-nth="2"`, `data-part="label" data-nth="0"`, `data-turn="2" data-part="observation" data-nth="0"`,
		"a <mark>NEEDLE</mark> in hay", "&lt;b&gt;<mark>needle</mark>&lt;/b&gt;", "patch</span>", "test</span>", "test output</span>")
	inert(t, "find", page)
	contains(t, s.get(200, base+"/find?part=found&q=%C3%A4rger"), "1 matches in 1 places", "<mark>ÄRGER</mark>")
	contains(t, s.get(200, base+"/find?q=%3Cscript%3E"), "Nothing found.", `value="&lt;script&gt;"`)
	contains(t, s.get(200, base+"/find"), "Find")
	s.get(400, base+"/find?q="+strings.Repeat("x", 501))
}

func TestAnEarlierAttemptShowsItsOwnTurns(t *testing.T) {
	t.Parallel()
	s := start(t)
	all := s.begin("again", "TT")
	f := s.claim(all[0])
	s.must(s.store.CommitTurn(t.Context(), f, s.turn(1, bash("", "the first attempt"), nil, "a")))
	s.must(s.store.Release(t.Context(), f))
	f = s.claim(all[0])
	s.must(s.store.Diverge(t.Context(), f, 1, "turn 1: the <working> tree differs"))
	s.must(s.store.CommitTurn(t.Context(), f, s.turn(1, bash("", "the second attempt"), nil, "a")))
	base := "/trajectories/" + all[0].ID.String()
	page := s.get(200, base)
	contains(t, page, "the second attempt", `href="`+base+`?attempt=1"`, "diverged: turn 1: the &lt;working&gt; tree differs")
	if strings.Contains(page, "the first attempt") {
		t.Error("the turns of two attempts are mixed")
	}
	contains(t, s.get(200, base+"?attempt=1"), "the first attempt", "These are the turns of attempt 1, which ended as diverged", base+"/turns/1?attempt=1")
	contains(t, s.get(200, base+"/turns/1?attempt=1"), "the first attempt")
	page = s.get(200, base+"?attempt=1")
	raw := regexp.MustCompile(`class="raw" href="([^"]+)"`).FindStringSubmatch(page)
	contains(t, s.get(200, html.UnescapeString(raw[1])), "the first attempt")
	if strings.Contains(page, "/states/1") {
		t.Error("a state of the turns that count stands at a turn of an earlier attempt")
	}
	contains(t, s.get(200, base+"/find?q=first&attempt=1"), `name="attempt" value="1"`, "1 matches")
}

func TestTurnsAreGoneToWithoutScripts(t *testing.T) {
	t.Parallel()
	s := start(t)
	done, _ := s.rollout()
	base := "/trajectories/" + done.ID.String()
	contains(t, s.get(200, base+"/turns?t=2"), "Turn 2 of 5", "I run the tests first.")
	for _, path := range []string{"/turns?t=6", "/turns?from=6&to=7", "/turns?part=cards&from=6&to=7"} {
		s.get(404, base+path)
	}
}

func TestATestWithoutAResultIsNotAFailure(t *testing.T) {
	t.Parallel()
	s := start(t)
	all := s.begin("tests", "T", "T")
	for i, v := range []relabel.Verdict{
		{Reason: "tests", Tests: map[string]relabel.TestStatus{"t::a": relabel.TestAbsent, "t::b": relabel.TestFailed}},
		{Infra: "the container died"},
	} {
		f := s.claim(all[i])
		s.must(s.store.CommitTurn(t.Context(), f, s.turn(1, bash("", "ls"), nil, "a")))
		s.end(f, patch, v)
		page := s.get(200, "/trajectories/"+all[i].ID.String())
		contains(t, page, `<code>t::a</code></td><td>failed</td><td><span class="badge quiet"><span aria-hidden="true">–</span> not known`)
		if i == 0 {
			contains(t, page, "1 failed, 1 not known", `<code>t::b</code></td><td>–</td><td><span class="badge bad">`)
			continue
		}
		contains(t, page, "infrastructure: verifier")
	}
	// The verdict of one is not there, and both have submitted something.
	contains(t, s.get(200, "/iterations/"+s.iteration.ID.String()), "<dt>valid submissions</dt><dd>2 of 2 (100%)</dd>")
}

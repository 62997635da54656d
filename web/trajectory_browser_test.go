package web_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"relabel"
	"relabel/web/webtest"
)

// long makes a trajectory of 60 turns, all the student's but every fifth; the labels of turns 7, 23
// and 41 do something else, and turn 30 hides a word in the middle of a long text.
func (s *site) long() (path string) {
	s.t.Helper()
	all := s.begin("long", strings.Repeat("ssssT", 12))
	f := s.claim(all[0])
	for i := 1; i <= 60; i++ {
		action, label := bash("I look at it.", fmt.Sprintf("sed -n %d,%dp src/fields.py", i, i+40)), bash("", fmt.Sprintf("sed -n %d,%dp src/fields.py", i, i+40))
		output := strings.Repeat(fmt.Sprintf("line of turn %d\n", i), 1+i%9*7)
		switch i {
		case 7, 23, 41:
			label = bash("", "python -m pytest tests -q")
		case 30:
			output = strings.Repeat("hay\n", 4000) + "a needle in it\n" + strings.Repeat("hay\n", 4000)
		}
		turn := s.turn(i, action, s.label(label), output)
		if i%5 == 0 {
			turn = s.turn(i, action, nil, output)
		}
		s.must(s.store.CommitTurn(s.t.Context(), f, turn))
	}
	return "/trajectories/" + all[0].ID.String()
}

func TestKeysGoThroughATrajectory(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := s.long()
	p := webtest.Open(t, s.URL+path)
	p.Wait("document.querySelectorAll('article.turn').length === 60")
	visible := func(turn int) {
		t.Helper()
		p.Wait(fmt.Sprintf("location.hash === '#t%d'", turn))
		p.Wait(fmt.Sprintf(`(() => { const turn = document.getElementById("t%d"); const top = turn.getBoundingClientRect().top, below = document.getElementById("strip").getBoundingClientRect().bottom;
			return !turn.classList.contains("waits") && top >= below - 1 && top < innerHeight - 60; })()`, turn))
	}
	p.Press("n")
	visible(7)
	p.Screen("trajectory-first-parting")
	p.Press("j")
	visible(8)
	p.Press("n", "n")
	visible(41)
	p.Press("p")
	visible(23)
	p.Press("G")
	visible(60)
	p.Press("n")
	p.Wait("document.getElementById('at').textContent === 'no differing or missing label below'")
	p.Press("g")
	visible(1)
	p.Press("t")
	p.Wait("document.activeElement.id === 'goto-t'")
	p.Eval("document.getElementById('goto-t').value = ''; 0", nil) // the driver types the key, too
	p.Type("#goto-t", "44"+kb.Enter)
	visible(44)
	p.Press("k")
	visible(43)
	p.Press("e")
	p.Wait("document.getElementById('t43').classList.contains('closed')")
	p.Wait("document.getElementById('t43').getBoundingClientRect().height < 60") // one line
	p.Screen("trajectory-closed")
	p.Press("e", "E")
	p.Wait("document.querySelectorAll('article.turn.closed').length === 60")
	p.Screen("trajectory-all-closed")
	p.Press("E")
	p.Wait("!document.querySelector('article.turn.closed')")
	p.Click(`.ribbon a[href="#t12"]`)
	visible(12)

	p.Go(s.URL + path + "#t50") // a link to the middle
	visible(50)
	p.Wait("document.getElementById('at').textContent === 'turn 50 of 60'")
}

func TestFindShowsWhatIsNotDrawn(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := webtest.Open(t, s.URL+s.long())
	p.Press("/")
	p.Wait("document.activeElement.id === 'find-q'")
	p.Eval("document.getElementById('find-q').value = ''; 0", nil) // the driver types the key, too
	p.Type("#find-q", "NEEDLE"+kb.Enter)
	p.Wait("document.querySelector('#found a')")
	if text := p.Text("#found"); !strings.Contains(text, "1 matches in 1 places") || !strings.Contains(text, "a needle in it") {
		t.Errorf("found: %s", text)
	}
	p.Screen("found")
	p.Press(kb.Enter)
	p.Wait("document.getElementById('t30').classList.contains('opened')")
	p.Wait(`CSS.highlights.get("found-now") && (() => { const r = [...CSS.highlights.get("found-now")][0].getBoundingClientRect(); return r.top > 0 && r.bottom < innerHeight; })()`)
	p.Screen("found-there")
	p.Press(kb.Escape)
	p.Wait("document.getElementById('found').hidden")
}

func TestTurnsAppearWhileTheyRunAndLabelsWhenTheyCome(t *testing.T) {
	t.Parallel()
	s := start(t)
	all := s.begin("live", "sT")
	f := s.claim(all[0])
	p := webtest.Open(t, s.URL+"/trajectories/"+all[0].ID.String())
	p.Wait("document.querySelector('#live-state').textContent === 'live' && document.querySelector('#turns .empty')")
	pending := &relabel.Action{PolicyID: s.run.TeacherID, Status: relabel.Pending}
	s.must(s.store.CommitTurn(t.Context(), f, s.turn(1, bash("", "ls src"), pending, "what turn 1 wrote")))
	p.Wait("document.querySelector('#t1.pending .observation')?.innerText.includes('what turn 1 wrote')")
	s.must(s.store.SettleLabel(t.Context(), f, 1, *s.label(bash("", "ls tests"))))
	p.Wait("document.querySelector('#t1.different .side.label mark')?.textContent === 'tests'")
	s.must(s.store.CommitTurn(t.Context(), f, s.turn(2, bash("", "ls src"), nil, "a")))
	p.Wait("document.querySelector('#t1 .of').textContent === 'of 2'")
	s.end(f, patch, relabel.Verdict{Passed: true, Reason: "passed"})
	p.Wait("document.querySelector('#strip .badge').textContent.includes('resolved') && document.querySelector('.head .badge').textContent.includes('resolved')")
}

// holdFetches keeps the answers to what a page fetches with a text in its address until
// they are let through: held[0]() lets the first one.
const holdFetches = `(() => { const real = fetch; window.held = []; window.fetch = async (address, options) => {
	const answer = await real(address, options);
	if (!String(address).includes(%q)) return answer;
	const text = await answer.text();
	await new Promise((through) => held.push(through));
	return new Response(text, { status: answer.status });
}; })(); 0`

func TestAnAnswerThatComesLateDoesNotUndoANewerOne(t *testing.T) {
	t.Parallel()
	s := start(t)
	all := s.begin("late", "sT")
	f := s.claim(all[0])
	p := webtest.Open(t, s.URL+"/trajectories/"+all[0].ID.String())
	p.Wait("document.querySelector('#live-state').textContent === 'live'")
	p.Eval(fmt.Sprintf(holdFetches, "/turns?"), nil)
	pending := &relabel.Action{PolicyID: s.run.TeacherID, Status: relabel.Pending}
	s.must(s.store.CommitTurn(t.Context(), f, s.turn(1, bash("", "ls src"), pending, "a")))
	p.Wait("held.length === 1")
	s.must(s.store.SettleLabel(t.Context(), f, 1, *s.label(bash("", "ls tests"))))
	p.Wait("held.length === 2")
	p.Eval("held[1](); 0", nil)
	p.Wait("document.querySelector('#t1.different .side.label mark')")
	p.Eval("new Promise((then) => { held[0](); setTimeout(then, 0); })", nil)
	if p.Count("#t1.different .side.label mark") != 1 {
		t.Error("the turn is as it was before its label came")
	}
}

func TestATrajectoryThatBeginsAnewIsShownAnew(t *testing.T) {
	t.Parallel()
	s := start(t)
	all := s.begin("anew", "TT")
	f := s.claim(all[0])
	s.must(s.store.CommitTurn(t.Context(), f, s.turn(1, bash("", "the first attempt"), nil, "a")))
	s.must(s.store.CommitTurn(t.Context(), f, s.turn(2, bash("", "its second turn"), nil, "a")))
	p := webtest.Open(t, s.URL+"/trajectories/"+all[0].ID.String())
	p.Wait("document.querySelector('#live-state').textContent === 'live' && document.querySelector('#t2 .call')")
	s.must(s.store.Release(t.Context(), f))
	f = s.claim(all[0])
	s.must(s.store.Diverge(t.Context(), f, 1, "turn 1: the working tree differs"))
	s.must(s.store.CommitTurn(t.Context(), f, s.turn(1, bash("", "the second attempt"), nil, "a")))
	p.Wait("document.querySelector('#t1')?.innerText.includes('the second attempt') && !document.querySelector('#t2')")
}

func TestATrajectoryIsOneFile(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := s.long()
	file, header := s.fetch(200, path+"/file.html")
	contains(t, file, "a needle in it", `id="t60"`, "Content-Security-Policy")
	if n := strings.Count(file, "hay\n"); n != 8000 {
		t.Errorf("%d of 8000 lines are in the file", n)
	}
	if strings.Contains(file, "show all") || strings.Contains(file, "<script") || strings.Contains(file, `href="/`) || strings.Contains(file, `src=`) {
		t.Error("the file leads elsewhere")
	}
	if d := header.Get("Content-Disposition"); !strings.HasPrefix(d, `attachment; filename="marshmallow__marshmallow-1300-collect-1-`) {
		t.Errorf("it is called %s", d)
	}
	name := filepath.Join(t.TempDir(), "t.html")
	s.must(os.WriteFile(name, []byte(file), 0o644))
	p := webtest.Open(t, "file://"+name)
	var styled bool
	if p.Eval("getComputedStyle(document.querySelector('.turn.student')).borderLeftStyle === 'dashed'", &styled); !styled {
		t.Error("the file's style is not applied")
	}
	p.Accessible()
}

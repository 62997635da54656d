package web_test

import (
	"fmt"
	"testing"

	"relabel"
	"relabel/web/webtest"
)

func TestAPageFollowsWhatHappensAndKeepsWhatIsOpen(t *testing.T) {
	t.Parallel()
	s := start(t)
	all := s.begin("live", "TT", "TT")
	p := webtest.Open(t, s.URL+"/runs/"+s.run.ID.String())
	p.Wait("document.querySelector('#live-state').textContent === 'live'")
	p.Eval("document.querySelector('a[data-operation]').focus(); document.querySelector('main details').open = true; window.before = document.activeElement; null", nil)
	p.Wait("document.querySelector('main').innerText.includes('0 of 2')")

	f := s.claim(all[0])
	s.must(s.store.CommitTurn(t.Context(), f, s.turn(1, bash("", "ls"), nil, "a")))
	p.Wait("[...document.querySelectorAll('main td.n')].some(td => td.textContent === '1')") // turns are counted, not told
	s.end(f, "", relabel.Verdict{Reason: "tests"})
	p.Wait("document.querySelector('main').innerText.includes('1 of 2')")
	var kept bool
	if p.Eval("document.activeElement === window.before && document.querySelector('main details').open", &kept); !kept {
		t.Error("focus or what was open is lost")
	}
}

// hide makes a page believe that its tab is hidden, or shown again.
const hide = "Object.defineProperty(document, 'hidden', { value: %t, configurable: true }); document.dispatchEvent(new Event('visibilitychange')); 0"

func TestATabThatComesBackShowsWhatHasBeenCountedMeanwhile(t *testing.T) {
	t.Parallel()
	s := start(t)
	all := s.begin("back", "T", "TTT")
	path := "/runs/" + s.run.ID.String()
	other, p := webtest.Open(t, s.URL+path), webtest.Open(t, s.URL+path)
	p.Wait("document.querySelector('#live-state').textContent === 'live'")
	f := s.claim(all[0])
	s.must(s.store.CommitTurn(t.Context(), f, s.turn(1, bash("", "ls"), nil, "a")))
	s.end(f, "", relabel.Verdict{Reason: "tests"})
	f = s.claim(all[1])
	p.Wait("document.querySelector('main').innerText.includes('1 of 2')")
	p.Eval(fmt.Sprintf(hide, true), nil)
	s.must(s.store.CommitTurn(t.Context(), f, s.turn(1, bash("", "ls"), nil, "a")))
	s.must(s.store.CommitTurn(t.Context(), f, s.turn(2, bash("", "ls"), nil, "a")))
	counted := "[...document.querySelectorAll('main td.n')].some(td => td.textContent === '3')"
	other.Wait(counted) // all have been told
	p.Eval(fmt.Sprintf(hide, false), nil)
	p.Wait(counted)
}

func TestTheEndIsShownThoughAPartIsBeingFetched(t *testing.T) {
	t.Parallel()
	s := start(t)
	tr := s.begin("end", "T")[0]
	f := s.claim(tr)
	p := webtest.Open(t, s.URL+"/trajectories/"+tr.ID.String())
	p.Eval(fmt.Sprintf(holdFetches, "part="), nil)
	p.Wait("document.querySelector('#live-state').textContent === 'live'")
	s.must(s.store.CommitTurn(t.Context(), f, s.turn(1, bash("", "ls"), nil, "a")))
	p.Wait("held.length === 1")
	s.end(f, patch, relabel.Verdict{Passed: true, Reason: "passed"})
	p.Wait("document.querySelector('#live-state').textContent === ''")
	p.Eval("setInterval(() => held.forEach((through) => through()), 20); 0", nil)
	p.Wait("document.querySelector('.head .badge').textContent.includes('resolved')")
}

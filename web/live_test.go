package web_test

import (
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
	p.Eval("document.querySelector('a[data-deed]').focus(); document.querySelector('main details').open = true; window.before = document.activeElement; null", nil)
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

package web_test

import (
	"os"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"relabel/web/webtest"
)

func TestMain(m *testing.M) { os.Exit(webtest.Main(m)) }

func TestThePagesInABrowser(t *testing.T) {
	t.Parallel()
	s := start(t)
	done, _ := s.rollout()
	p := webtest.Open(t, s.URL+"/")
	p.Look("home")
	for name, path := range map[string]string{"run": "/runs/" + s.run.ID.String(), "list": "/trajectories", "trajectory": "/trajectories/" + done.ID.String(), "turn": "/trajectories/" + done.ID.String() + "/turns/2"} {
		p.Go(s.URL + path)
		p.Look(name)
	}
	p.Expect("404")
	p.Go(s.URL + "/nothing")
	p.Look("error")
}

func TestTheHelpOpensAndCloses(t *testing.T) {
	t.Parallel()
	s := start(t)
	done, _ := s.rollout()
	p := webtest.Open(t, s.URL+"/trajectories/"+done.ID.String())
	p.Eval("document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '?', ctrlKey: true, bubbles: true })), 0", nil)
	if p.Count("dialog[open]") != 0 {
		t.Error("the browser's own keys are taken")
	}
	p.Press("?")
	p.Wait("document.querySelector('#help').open")
	p.Look("help")
	p.Press("j") // the page below stays
	p.Press(kb.Escape)
	p.Wait("!document.querySelector('#help').open")
	if a := p.Address(); a != "/trajectories/"+done.ID.String() {
		t.Errorf("a key in the help moved the page to %s", a)
	}
	p.Press("j", "j")
	p.Wait("location.hash === '#t2'")
}

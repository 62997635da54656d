package web_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"relabel"
	"relabel/web/webtest"
)

func TestATrajectoryIsFlaggedEditedAndFreedFromItsPage(t *testing.T) {
	t.Parallel()
	s := start(t)
	done, _ := s.rollout()
	p := webtest.Open(t, s.URL+"/trajectories/"+done.ID.String())
	// The page may still move to the turn of its address: what is clicked is named, not a place on the screen.
	click := func(selector string) {
		t.Helper()
		p.Wait("document.querySelector(" + strconv.Quote(selector) + ")")
		p.Eval("document.querySelector("+strconv.Quote(selector)+").click(), 0", nil)
	}
	p.Press("f")
	p.Wait("document.querySelector('#operation').open")
	p.Type("#operation [name=author]", "Ada")
	p.Type("#operation [name=flag]", "wrong-label")
	p.Type("#operation [name=t]", "2")
	p.Type("#operation [name=note]", "The label edits first.")
	p.Press("\t")
	p.Wait(`document.querySelector("#operation #curl").textContent.includes('"flag":"wrong-label"') && document.querySelector("#operation #curl").textContent.includes("edits first")`)
	p.Look("review-operation")
	click("#operation button.main")
	p.Wait("location.hash === '#t2' && document.querySelector('.review .flag')?.innerText === 'wrong-label'")
	list, _, err := s.store.ListReviews(t.Context(), relabel.ReviewFilter{}, relabel.Page{})
	s.must(err)
	if len(list) != 1 || list[0].Author != "Ada" || *list[0].T != 2 || list[0].Note != "The label edits first." {
		t.Fatalf("%+v", list)
	}
	p.Look("trajectory-reviewed")
	click(".review a[href$='/edit']")
	p.Wait("document.querySelector('#operation').open && document.querySelector('#operation [name=flag]').value === 'wrong-label'")
	p.Eval("document.querySelector('#operation [name=flag]').value = 'No!'", nil)
	p.Expect("422")
	click("#operation button.main")
	p.Wait("document.querySelector('[role=alert]')?.innerText.includes('a flag must have 1 to 60')")
	p.Eval("document.querySelector('[name=flag]').value = 'leak'", nil)
	click("button.main")
	p.Wait("document.querySelector('.review .flag')?.innerText === 'leak' && document.querySelector('.review .meta').innerText.includes('edited')")
	click(".review a[href$='/delete']")
	click("#operation button.grave")
	p.Wait("!document.querySelector('.review') && document.querySelector('.reviews')")
	p.Press("f")
	p.Wait("document.querySelector('#operation [name=author]')?.value === 'Ada'") // who reviews is remembered
	p.Press(kb.Escape)
	p.Wait("!document.querySelector('#operation').open")
	p.Go(s.URL + "/reviews") // ends what the page still loads
	p.Go(s.URL + "/trajectories/" + done.ID.String() + "#t3")
	p.Wait("document.getElementById('at').textContent === 'turn 3 of 5'")
	p.Press("f")
	p.Wait("document.querySelector('#operation [name=t]')?.value === '3'") // about the turn that is read
}

func TestReviewsAreListedByFlag(t *testing.T) {
	t.Parallel()
	s := start(t)
	all := s.begin(hostile, "s", "s")
	say := func(of relabel.Trajectory, flag, note string) {
		s.must(s.store.CreateReview(t.Context(), relabel.Review{TrajectoryID: of.ID, Flag: flag, Note: note, Author: hostile[:100]}))
	}
	for range 51 {
		say(all[0], "leak", "")
	}
	say(all[1], "wrong-label", hostile)
	say(all[1], "", "a note alone")
	p := webtest.Open(t, s.URL+"/reviews")
	p.Look("reviews")
	if p.Count(".review") != 50 || p.Count("main script, main img, [onmouseover], [onerror]") != 0 {
		t.Errorf("%d reviews", p.Count(".review"))
	}
	p.Click("a[rel=next]")
	p.Wait("document.querySelectorAll('.review').length === 3")
	p.Click(".flags a[href*='wrong-label']")
	p.Wait("document.querySelectorAll('.review').length === 1 && location.search === '?flag=wrong-label'")
	p.Click(".review p a[href^='/trajectories/']")
	p.Wait("location.pathname === '/trajectories/" + all[1].ID.String() + "'")
	if n := p.Count(".review"); n != 2 || p.Count("main script, main img, [onmouseover], [onerror]") != 0 {
		t.Errorf("%d reviews on the trajectory's page", n)
	}
	contains(t, s.get(200, "/trajectories/"+all[0].ID.String()), ">More</a>")
	if page := s.get(200, "/reviews?run="+s.run.ID.String()+"&flag=nothing"); !strings.Contains(page, "No matching review") {
		t.Error("none is not said")
	}
	list, _, err := s.store.ListReviews(t.Context(), relabel.ReviewFilter{Flag: "wrong-label"}, relabel.Page{})
	s.must(err)
	path := "/trajectories/" + all[1].ID.String() + "/reviews"
	for _, address := range []string{path, path + "/" + list[0].ID.String() + "/edit", path + "/" + list[0].ID.String() + "/delete"} {
		p.Go(s.URL + address)
		if n := p.Count("main script, main img, [onmouseover], [onerror]"); n != 0 {
			t.Errorf("%s: %d elements came from a text", address, n)
		}
	}
	s.get(404, path+"/"+relabel.NewID().String()+"/edit")
	s.get(404, path+"/x/delete")
	s.get(400, "/reviews?run=x")
	s.get(404, "/reviews?run="+relabel.NewID().String())
}

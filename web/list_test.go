package web_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"relabel"
	"relabel/web/webtest"
)

// The page's address and REST's have the same words, so that a list that is seen is one
// that a program can ask for.
func TestEveryFilterOfRESTHasAControl(t *testing.T) {
	t.Parallel()
	s := start(t)
	of := s.begin("demo", "s")[0]
	var api struct {
		Paths map[string]map[string]struct{ Parameters []struct{ Name string } }
	}
	s.must(json.Unmarshal([]byte(s.get(200, "/openapi.json")), &api))
	page := s.get(200, "/trajectories?instance="+of.InstanceID+"&task="+of.TaskID.String())
	parameters := api.Paths["/v1/trajectories"]["get"].Parameters
	if len(parameters) < 15 {
		t.Fatalf("%d parameters", len(parameters))
	}
	for _, p := range parameters {
		if !slices.Contains([]string{"limit", "after", "before"}, p.Name) && !strings.Contains(page, `name="`+p.Name+`"`) {
			t.Errorf("%s cannot be chosen", p.Name)
		}
	}
	for _, names := range []string{"run=demo", "run=demo&iteration=1", "run=" + of.RunID.String()} {
		if named := s.get(200, "/trajectories?"+names); !strings.Contains(named, "/trajectories/"+of.ID.String()) {
			t.Errorf("?%s lists nothing of its run", names)
		}
	}
	for _, path := range []string{"run=nobody", "turns_min=x", "turns_max=-1", "agreement_min=2", "agreement_max=NaN", "score_min=2", "hit=maybe", "labels=there", "reviewed=maybe", "sort=best", "before=x", "iteration=0", "taskset=x", "q=" + strings.Repeat("x", 1001), "instance=" + strings.Repeat("x", 1001)} {
		s.get(400, "/trajectories?"+path)
	}
}

func TestWhatAFieldHoldsComesBackAsItIs(t *testing.T) {
	t.Parallel()
	s := start(t)
	tr := s.begin("demo", "s")[0]
	odd := "a\u00a0b \u202e<\"'&amp; é"
	p := webtest.Open(t, s.URL+"/trajectories?q="+url.QueryEscape(odd)+"&instance="+url.QueryEscape(odd))
	p.Click(".filter button.main")
	p.Wait("true")
	var now string
	if p.Eval("[...new URLSearchParams(location.search)].filter(([name]) => name !== 'sort').join('|')", &now); now != "q,"+odd+"|instance,"+odd {
		t.Errorf("the form asks for %q", now)
	}
	at := 1
	f := s.claim(tr)
	s.must(s.store.CommitTurn(t.Context(), f, s.turn(1, bash("", "ls"), s.label(bash("", "ls")), "a")))
	r := relabel.Review{ID: relabel.NewID(), TrajectoryID: tr.ID, T: &at, Note: odd, Author: odd}
	s.must(s.store.CreateReview(t.Context(), r))
	p.Go(s.URL + "/trajectories/" + tr.ID.String() + "/reviews/" + r.ID.String() + "/edit")
	p.Click("main form.operation button.main")
	p.Wait("location.hash === '#t1'")
	kept, err := s.store.FindReview(t.Context(), tr.ID, r.ID)
	s.must(err)
	if kept.Note != odd || kept.Author != odd {
		t.Errorf("a review that was sent as it was now says %q by %q", kept.Note, kept.Author)
	}
}

func TestAListIsFilteredSortedAndWalkedWithKeys(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.rounds()
	done := s.shown(relabel.Done)
	for _, flag := range []string{"leak", "odd <b>"} {
		s.must(s.store.CreateReview(t.Context(), relabel.Review{ID: relabel.NewID(), TrajectoryID: done.ID, Flag: flag, Author: "a"}))
	}
	p := webtest.Open(t, s.URL+"/trajectories")
	contains(t, p.Text(".total"), "10 of 10 trajectories")
	p.Picture("list-closed")
	p.Click(".filter summary")
	p.Look("list")
	p.Click(".filter summary")

	p.Press("/")
	p.Wait("document.activeElement.matches('.filter input')")
	p.Eval("document.activeElement.value = ''; 0", nil) // the driver types the key, too
	p.Type(".filter input[type=search]", "1301"+kb.Enter)
	p.Wait("location.search === '?q=1301'")
	contains(t, p.Text(".total"), "3 of 10")
	p.Click("th a[href*='most_turns']")
	p.Wait("document.querySelector('th[aria-sort=descending]')?.textContent.startsWith('turns')")
	if turns := column(p, "turns"); !slices.Equal(turns, []string{"8", "8", "1"}) {
		t.Errorf("sorted by turns: %v", turns)
	}
	p.Click("th[aria-sort] a")
	p.Wait("document.querySelector('th[aria-sort=ascending]')?.textContent.startsWith('turns')")
	if turns := column(p, "turns"); !slices.Equal(turns, []string{"1", "8", "8"}) {
		t.Errorf("the other way: %v", turns)
	}
	if want := "/trajectories?q=1301&sort=fewest_turns"; p.Address() != want {
		t.Errorf("the address is %s", p.Address())
	}

	p.Go(s.URL + "/trajectories?flag=leak")
	contains(t, p.Text(".said"), "leak", "odd <b>")
	p.Press("j", "k", "j", kb.Enter)
	p.Wait("location.pathname === '/trajectories/" + done.ID.String() + "'")

	p.Go(s.URL + "/trajectories?labels=missing")
	contains(t, p.Text(".total"), "1 of 10")
	contains(t, p.Text(".agree.missing"), "! 1")
}

// column is what a list's rows show in one.
func column(p *webtest.Page, label string) (cells []string) {
	p.Eval("[...document.querySelectorAll('td[data-label="+label+"]')].map(td => td.innerText.trim())", &cells)
	return cells
}

// shown is the newest trajectory in a state.
func (s *site) shown(state relabel.TrajectoryState) relabel.Trajectory {
	s.t.Helper()
	list, err := s.store.ListTrajectories(s.t.Context(), relabel.TrajectoryFilter{State: state}, relabel.Newest, relabel.Page{Limit: 1})
	s.must(err)
	return list.Items[0]
}

func TestRowsOfAListAppearAndChangeWhileTheyRun(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.begin("live", "sT", "sT")
	first := s.shown(relabel.Queued) // of whose task evaluate makes another
	var pages []*webtest.Page
	for _, path := range []string{"/trajectories?run=" + s.run.ID.String(), "/tasks/" + s.run.TasksetID.String() + "/" + first.InstanceID, "/iterations/" + s.iteration.ID.String()} {
		p := webtest.Open(t, s.URL+path)
		p.Wait("document.querySelector('#live-state').textContent === 'live'")
		p.Press("j")
		p.Eval("window.before = document.activeElement; window.rows = document.querySelectorAll('.rows tbody tr').length", nil)
		pages = append(pages, p)
	}
	f := s.claim(first)
	s.must(s.store.CommitTurn(t.Context(), f, s.turn(1, bash("", "ls"), s.label(bash("", "pwd")), "a")))
	s.evaluate()
	for i, p := range pages {
		p.Wait("[...document.querySelectorAll('td[data-label=turns]')].some(td => td.innerText === '1') && document.querySelector('.trace .off')")
		if i < 2 { // the iteration has drawn no other
			p.Wait("document.querySelectorAll('.rows tbody tr').length === window.rows + 1")
		}
		p.Wait("document.activeElement === window.before && document.activeElement.matches('a.row')")
	}
	s.end(f, "", relabel.Verdict{Reason: "tests"})
	for _, p := range pages {
		p.Wait("document.querySelector('.rows .badge.bad')")
	}
}

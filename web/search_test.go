package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
	"github.com/jackc/pgx/v5"

	"relabel"
	"relabel/store"
	"relabel/web/webtest"
)

// hasty is a store whose searches read few bytes at a time, where there is a bound.
type hasty struct {
	*store.Store
	bytes *int64
}

// SearchTexts implements web.Store.
func (h hasty) SearchTexts(ctx context.Context, f relabel.TrajectoryFilter, sort relabel.TrajectorySort, ask relabel.TextSearch) (relabel.TextPage, error) {
	ask.Bytes = *h.bytes
	return h.Store.SearchTexts(ctx, f, sort, ask)
}

// saying makes trajectories of two turns, whose outputs say these texts, one each.
func (s *site) saying(texts ...string) (all []relabel.Trajectory) {
	s.t.Helper()
	executors := make([]string, len(texts))
	for i := range executors {
		executors[i] = "sT"
	}
	all = s.begin("says", executors...)
	for i, text := range texts {
		f := s.claim(all[i])
		s.must(s.store.CommitTurn(s.t.Context(), f, s.turn(1, bash("I look.", "ls"), s.label(bash("", "ls -l")), "nothing here")))
		s.must(s.store.CommitTurn(s.t.Context(), f, s.turn(2, bash("I run it.", "python -c 'import a'"), nil, text)))
	}
	return all
}

func TestTextsOfManyTrajectoriesAreSearched(t *testing.T) {
	t.Parallel()
	s := start(t)
	all := s.saying("Traceback\nImportError: circular <b>import</b> of a", "fine", "importerror: CIRCULAR\nImportError: circular")
	of := "iteration=" + s.iteration.ID.String()
	query := "text=" + url.QueryEscape("importError: Circular") + "&" + of
	page := s.get(200, "/trajectories/search?"+query+"&sort=oldest")
	contains(t, page, "Searched all 3 trajectories", "found in <b>2</b>", `<mark>ImportError: circular</mark> &lt;b&gt;import&lt;/b&gt; of a`, `href="/trajectories/`+all[0].ID.String()+`#t2"`,
		`<i class="sign teacher" aria-hidden="true"></i> teacher: observation`, "2 matches in 1 place<", "1 match in 1 place<", all[2].InstanceID, `href="/v1/trajectories/search?`, `value="importError: Circular"`)
	if strings.Contains(page, ">"+all[1].InstanceID+"<") || strings.Contains(page, `rel="next"`) {
		t.Error("what does not hold it is listed, or there is more to search")
	}
	inert(t, "search", page)
	contains(t, s.get(200, "/trajectories/search?text=nowhere&"+of), "found in <b>0</b>", "Searched all 3")
	contains(t, s.get(200, "/trajectories/search?"+query+"&state=done"), "Searched all 0 trajectories", "found in <b>0</b>")
	contains(t, s.get(200, "/trajectories/search"), "Enter a text to search for")
	for _, path := range []string{"text=" + strings.Repeat("x", 501), "text=x&after=x", "text=x&state=asleep", "text=x&so_far=1-2", "text=x&so_far=-1-2-3", "text=x&sort=best"} {
		s.get(400, "/trajectories/search?"+path)
	}

	search := "/trajectories/search?" + of
	for path, link := range map[string]string{"/trajectories?state=running&q=marsh&" + of + "&sort=oldest&after=": "/trajectories/search?" + strings.ReplaceAll(of, "&", "&amp;") + "&amp;q=marsh&amp;sort=oldest&amp;state=running",
		"/iterations/" + s.iteration.ID.String(): search, "/tasks/" + s.run.TasksetID.String() + "/" + all[0].InstanceID: "/trajectories/search?task=" + all[0].TaskID.String()} {
		contains(t, s.get(200, path), `href="`+link+`">search their texts`)
	}
	form := s.get(200, "/trajectories/search?q=marsh&state=running&"+query)
	contains(t, form, `name="q" value="marsh"`, `<option value="running" selected>`, `>Search</button>`)
}

func TestASearchSaysHowFarItCameAndGoesOn(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.saying("a needle", "hay", "a needle", "hay")
	s.searched = 1 // one trajectory a page
	next := func(page string) string {
		_, rest, _ := strings.Cut(page, `rel="next" href="`)
		link, _, _ := strings.Cut(rest, `"`)
		return strings.ReplaceAll(link, "&amp;", "&")
	}
	path, pages := "/trajectories/search?text=needle&run="+s.run.ID.String(), 0
	for ; path != ""; pages++ {
		page := s.get(200, path)
		if pages < 3 {
			contains(t, page, fmt.Sprintf("Searched <b>%d</b> of 4 trajectories", pages+1), "The others have not been searched yet")
		} else {
			contains(t, page, "Searched all 4 trajectories", "found in <b>2</b>", "From the beginning")
		}
		if path = next(page); path != "" {
			contains(t, path, "text=needle", "run="+s.run.ID.String(), fmt.Sprintf("so_far=%d-", pages+1))
		}
	}
	if pages != 4 {
		t.Errorf("%d pages", pages)
	}
}

// hold has searches wait until the transaction ends.
func (s *site) hold() pgx.Tx {
	s.t.Helper()
	tx, err := s.store.Pool().Begin(s.t.Context())
	s.must(err)
	_, err = tx.Exec(s.t.Context(), "LOCK TABLE observations")
	s.must(err)
	return tx
}

// searching waits until that many searches wait for hold.
func (s *site) searching(n int) {
	s.t.Helper()
	now := -1
	for until := time.Now().Add(time.Minute); now != n; {
		s.must(s.store.Pool().QueryRow(s.t.Context(), "SELECT count(*) FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND relation = 'observations'::regclass").Scan(&now))
		if time.Now().After(until) {
			s.t.Fatalf("%d searches wait, not %d", now, n)
		}
	}
}

func TestSearchesAreLimitedConcurrently(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.saying("a")
	tx := s.hold()
	ended := make(chan int)
	for range 3 {
		go func() {
			answer, err := http.Get(s.URL + "/trajectories/search?text=x")
			if err != nil {
				ended <- 0
				return
			}
			_ = answer.Body.Close()
			ended <- answer.StatusCode
		}()
	}
	s.searching(3)
	contains(t, s.get(429, "/trajectories/search?text=x"), "Too many at once", "3 searches are already running; retry in a few seconds")
	s.get(429, "/v1/trajectories/search?text=x")
	s.get(200, "/trajectories/search") // nothing is asked for
	s.must(tx.Rollback(t.Context()))
	for range 3 {
		if status := <-ended; status != 200 {
			t.Errorf("a running search ended with %d", status)
		}
	}
}

func TestASearchGoesOnByItselfAndIsWalkedWithKeys(t *testing.T) {
	t.Parallel()
	s := start(t)
	all := s.saying("hay", "ImportError: cannot import name 'Field' from partially initialized module\nImportError: circular", "hay", "x\nImportError: circular import\ny", "hay")
	s.searched = 1
	p := webtest.Open(t, s.URL+"/trajectories?run="+s.run.ID.String())
	p.Click(".total a[href*='/search']")
	p.Wait("location.pathname === '/trajectories/search'")
	p.Press("/")
	p.Wait("document.activeElement.name === 'text'")
	p.Eval("document.querySelector('input[name=text]').value = ''; 0", nil) // the driver types the key, too
	p.Type("input[name=text]", "importerror"+kb.Enter)
	p.Wait("document.querySelector('.total')?.textContent.includes('Searched all 5 trajectories')")
	p.Wait("!document.querySelector('#search-stop') && document.querySelectorAll('.found').length === 2")
	if text := p.Text(".total"); strings.Contains(text, "on this page") || !strings.Contains(text, "found in 2") {
		t.Errorf("it says %s", text)
	}
	p.Look("search")
	p.Press("j", "j")
	p.Wait("document.activeElement === document.querySelectorAll('.found a.row')[1]")
	p.Press("k")
	p.Wait("document.activeElement === document.querySelectorAll('.found a.row')[0]")
	p.Press(kb.Enter)
	p.Wait("location.hash === '#t2' && " + fmt.Sprintf("[%q, %q].includes(location.pathname)", "/trajectories/"+all[1].ID.String(), "/trajectories/"+all[3].ID.String()))
}

func TestASearchPausesWhenMuchIsFoundAndStopsWhenItsReaderSaysSo(t *testing.T) {
	t.Parallel()
	s := start(t)
	texts := make([]string, 23)
	for i := range texts {
		texts[i] = "a needle"
	}
	s.saying(texts...)
	s.searched = 1
	p := webtest.Open(t, s.URL+"/trajectories/search?text=needle")
	link := "document.querySelector('.pages a[rel=next]')"
	p.Wait("document.querySelectorAll('.found').length === 21 && !document.querySelector('#search-stop') && !" + link + ".hidden")
	contains(t, p.Text(".total"), "Searched 21 of 23 trajectories", "found in 21", "The others have not been searched yet")
	p.Eval("scrollTo(0, document.body.scrollHeight)", nil)
	p.Screen("search-paused")
	tx := s.hold()
	p.Press("n")
	s.searching(1)
	p.Wait(link + ".hidden")
	p.Screen("search-goes-on")
	p.Click("#search-stop")
	p.Wait("!document.querySelector('#search-stop') && document.activeElement === " + link)
	s.searching(0) // the server stops when no client waits
	s.must(tx.Rollback(t.Context()))
	p.Press("n")
	p.Wait("document.querySelector('.total').textContent.includes('Searched all 23 trajectories')")
	if n := p.Count(".found"); n != 23 || p.Count(".pages a[rel=next]") != 0 {
		t.Errorf("%d are shown", n)
	}
}

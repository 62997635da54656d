package web_test

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"relabel"
	"relabel/server"
	"relabel/web/webtest"
)

func TestARunIsPausedAndGoesOnFromItsPage(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.begin("O'Neill's", "T")
	p := webtest.Open(t, s.URL+"/runs/"+s.run.ID.String())
	p.Click("a[href$='/pause']")
	p.Wait("document.querySelector('#operation').open")
	p.Type("#operation [name=text]", "it's late")
	p.Press("\t") // leaves the field: the question is worked out again
	p.Wait(`document.querySelector("#operation #curl").textContent.includes("-d '{\"text\":\"it'\\''s late\"}'")`)
	p.Wait(`document.activeElement.closest("#operation")`)
	p.Look("operation")
	p.Click("#operation button.main")
	p.Wait("document.querySelector('main .badge.quiet')?.title === \"it's late\"")
	if run, err := s.store.FindRun(t.Context(), s.run.ID); err != nil || run.Paused == nil || run.Paused.Text != "it's late" {
		t.Fatalf("the run is %+v, %v", run.Paused, err)
	}
	p.Click("a[href$='/resume']")
	p.Wait("document.activeElement.matches('#operation input')")
	p.Click("#operation [data-closes]")
	p.Wait("!document.querySelector('#operation').open")
	p.Click("a[href$='/cancel']")
	p.Wait("document.activeElement.matches('#operation [data-closes]')") // what cannot be taken back is not done by a mere Enter
	p.Click("#operation [data-closes]")
	p.Click("a[href$='/resume']")
	p.Click("#operation button.main")
	p.Wait("document.querySelector(\"a[href$='/pause']\")")
}

func TestAnOperationThatCannotBeDoneSaysWhy(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.begin("over", "T")
	_, err := s.store.CancelIteration(t.Context(), s.iteration.ID)
	s.must(err)
	p := webtest.Open(t, s.URL+"/iterations/"+s.iteration.ID.String()+"/pause")
	p.Expect("409")
	p.Click("button.main")
	p.Wait("document.querySelector('[role=alert]')")
	if text := p.Text("[role=alert]"); !strings.HasPrefix(text, "Not done: ") || len(text) < 15 {
		t.Errorf("it says %q", text)
	}
}

func TestFormsOfOthersDoNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.begin("mine", "T")
	path := "/runs/" + s.run.ID.String() + "/pause"
	jar, err := cookiejar.New(nil)
	s.must(err)
	client := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	post := func(token string, headers ...string) int {
		t.Helper()
		r, err := http.NewRequest(http.MethodPost, s.URL+path, strings.NewReader(url.Values{"form": {token}}.Encode()))
		s.must(err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		answer, err := client.Do(r)
		s.must(err)
		s.must(answer.Body.Close())
		return answer.StatusCode
	}
	if got := post(""); got != 403 {
		t.Errorf("without a cookie: %d", got)
	}
	answer, err := client.Get(s.URL + path)
	s.must(err)
	defer answer.Body.Close()
	token := regexp.MustCompile(`name="form" value="([0-9a-f]{64})"`).FindStringSubmatch(s.read(answer.Body))[1]
	for _, c := range answer.Cookies() {
		if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode {
			t.Errorf("cookie %v", c)
		}
	}
	if a, b := post(""), post(strings.Repeat("0", 64)); a != 403 || b != 403 {
		t.Errorf("without its token: %d, %d", a, b)
	}
	if got := post(token, "Origin", "https://evil.example"); got != 403 {
		t.Errorf("of another origin: %d", got)
	}
	if got := post(token); got != 303 {
		t.Errorf("our own: %d", got)
	}
}

func TestABrowserSignsInAndOut(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *server.Config) { c.RequireToken = true })
	s.begin("kept", "T")
	full, err := s.store.CreateToken(t.Context(), "full", relabel.FullAccess)
	s.must(err)
	read, err := s.store.CreateToken(t.Context(), "read", relabel.ReadAccess)
	s.must(err)
	path := "/runs/" + s.run.ID.String()
	for _, c := range []struct {
		token      string
		operations int
	}{{full, 4}, {read, 0}} {
		p := webtest.Open(t, s.URL+path)
		p.Expect("401")
		if a := p.Address(); a != "/sign-in?to="+url.QueryEscape(path) {
			t.Fatalf("without a session it is at %s", a)
		}
		p.Type("#token", "wrong\r")
		p.Wait("document.querySelector('[role=alert]')")
		p.Look("sign-in")
		p.Type("#token", c.token+"\r")
		p.Wait("location.pathname === '" + path + "'")
		if n := p.Count("a[data-operation]"); n != c.operations {
			t.Errorf("%d operations are offered, want %d", n, c.operations)
		}
		var status int
		p.Eval("fetch('/v1/runs').then(r => r.status)", &status)
		if status != 200 {
			t.Errorf("a link to JSON answers %d", status)
		}
		if c.operations > 0 {
			p.Click("a[href$='/pause']")
			p.Wait("document.querySelector('#operation #curl').textContent.includes('$RELABEL_TOKEN')")
			p.Click("#operation button.main")
			p.Wait("document.querySelector('a[href$=\"/resume\"]')")
		}
		p.Click("form[action='/sign-out'] button")
		p.Wait("document.querySelector('#token')")
		p.Go(s.URL + path)
		if !strings.HasPrefix(p.Address(), "/sign-in") {
			t.Errorf("signed out, it is at %s", p.Address())
		}
	}
}

func TestAnIterationIsStartedWithTheNewestStudent(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.begin("rounds", "T")
	_, err := s.store.CreatePolicy(t.Context(), relabel.Policy{ID: relabel.NewID(), Name: "rounds-student", BaseURL: "http://h/v2", Model: "m2", Server: relabel.ServerGeneric, Sampling: relabel.PaperSampling, Limits: relabel.DefaultPolicyLimits})
	s.must(err)
	p := webtest.Open(t, s.URL+"/runs/"+s.run.ID.String())
	p.Expect("400")
	p.Click("a[href$='/start']")
	p.Wait("document.querySelector('#operation [name=student]')?.value === 'rounds-student@2'")
	p.Wait("document.querySelectorAll('#offers-student option').length === 3")
	p.Type("#operation [name=generations]", "2")
	p.Type("#operation [name=beta]", "3\t")
	p.Wait("document.querySelector('#operation [role=alert]')?.innerText.includes('β: is 3: must be at most 1')")
	p.Wait(`document.querySelector("#operation #curl").textContent.includes('"generations":2')`) // the rest stays
	p.Eval("(() => { const f = document.querySelector('#operation [name=beta]'); f.value = '0.5'; f.dispatchEvent(new Event('change', {bubbles: true})); })()", nil)
	p.Wait(`document.querySelector("#operation #curl").textContent.includes('"beta":0.5') && !document.querySelector('#operation [role=alert]')`)
}

func TestAnOperationSaysThatTheServerIsGone(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.begin("gone", "T")
	p := webtest.Open(t, s.URL+"/runs/"+s.run.ID.String())
	p.Expect("ERR_")
	p.Set(webtest.Offline())
	p.Click("a[href$='/start']")
	p.Wait("document.querySelector('#operation').open && document.querySelector('#operation').innerText.includes('The server does not answer')")
	p.Click("#operation [data-closes]")
	p.Wait("!document.querySelector('#operation').open")
}

func TestAQuestionThatIsWorkedOutLateUndoesNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.begin("questions", "T")
	p := webtest.Open(t, s.URL+"/runs/"+s.run.ID.String())
	p.Click("a[href$='/pause']")
	p.Wait("document.querySelector('#operation #curl')")
	p.Eval(fmt.Sprintf(holdFetches, "part=operation"), nil)
	for i, text := range []string{"first", "second"} {
		p.Eval(fmt.Sprintf("(() => { const field = document.querySelector('#operation [name=text]'); field.value = %q; field.dispatchEvent(new Event('change', { bubbles: true })); })(), 0", text), nil)
		p.Wait(fmt.Sprintf("held.length === %d", i+1))
	}
	p.Eval("held[1](); 0", nil)
	p.Wait("document.querySelector('#operation #curl').textContent.includes('second')")
	p.Eval("new Promise((then) => { held[0](); setTimeout(then, 0); })", nil)
	if text := p.Text("#operation #curl"); !strings.Contains(text, "second") {
		t.Errorf("it is as it was before: %s", text)
	}
	p.Eval("document.querySelector('#operation [name=text]').dispatchEvent(new Event('change', { bubbles: true })), 0", nil)
	p.Wait("held.length === 3")
	p.Press(kb.Escape)
	p.Wait("!document.querySelector('#operation').open")
	p.Eval("new Promise((then) => { held[2](); setTimeout(then, 0); })", nil)
	if p.Count("#operation[open]") != 0 {
		t.Error("a question that was left comes back")
	}
}

func TestAnOperationIsSentOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.begin("once", "T")
	p := webtest.Open(t, s.URL+"/runs/"+s.run.ID.String())
	p.Click("a[href$='/pause']")
	p.Wait("document.querySelector('#operation button.main')")
	p.Eval("window.kept = []; window.addEventListener('submit', (event) => { kept.push(event.defaultPrevented); event.preventDefault(); }); 0", nil)
	var kept []bool
	p.Eval("for (let i = 0; i < 2; i++) document.querySelector('#operation button.main').click(); kept", &kept)
	if len(kept) != 2 || kept[0] || !kept[1] {
		t.Errorf("two clicks were kept back as %v", kept)
	}
}

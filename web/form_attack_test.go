package web_test

import (
	"crypto/rand"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"relabel"
	"relabel/api"
)

// filler fills forms in as a browser does, with its cookie and the hidden fields of the page.
type filler struct {
	*site
	client *http.Client
}

func (s *site) filler() filler {
	jar, err := cookiejar.New(nil)
	s.must(err)
	return filler{s, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="(form|once)" value="([^"]*)">`)

// hidden opens a form and returns its hidden fields.
func (f filler) hidden(path string) url.Values {
	f.t.Helper()
	answer, err := f.client.Get(f.URL + path)
	f.must(err)
	defer answer.Body.Close()
	values := url.Values{}
	for _, m := range hiddenField.FindAllStringSubmatch(f.read(answer.Body), -1) {
		values.Set(m[1], m[2])
	}
	return values
}

// submit sends a form, and returns the status and the page or the address that follows.
func (f filler) submit(path string, values url.Values) (status int, page string) {
	f.t.Helper()
	answer, err := f.client.PostForm(f.URL+path, values)
	f.must(err)
	defer answer.Body.Close()
	return answer.StatusCode, f.read(io.MultiReader(strings.NewReader(answer.Header.Get("Location")), answer.Body))
}

func TestFormsRefuseHostileValuesAtTheirFields(t *testing.T) {
	t.Parallel()
	s := start(t)
	all := s.begin("attacked", "s")
	f := s.filler()
	run, iteration, trajectory := "/runs/"+s.run.ID.String(), "/iterations/"+s.iteration.ID.String(), "/trajectories/"+all[0].ID.String()
	for _, form := range []struct {
		path    string
		request any
	}{
		{"/runs/new", api.NewRun{}}, {"/policies/new", api.NewPolicy{}}, {"/benchmarks/new", api.NewBenchmark{}}, {run + "/scheduling", api.SchedulingPatch{}}, {run + "/start", api.NewIteration{}},
		{run + "/export", api.NewExport{}}, {run + "/verify", api.Regrade{}}, {run + "/verify/cancel", api.CancelRegrade{}}, {run + "/pause", api.NewPause{}},
		{run + "/scores", api.NewScoring{}}, {run + "/scores/cancel", api.CancelScorings{}},
		{run + "/judgings", api.NewJudging{}}, {run + "/judgings/cancel", api.CancelJudgings{}},
		{iteration + "/retry", api.Retry{}}, {iteration + "/relabel", api.NewRelabeling{}}, {trajectory + "/reviews/new", api.NewReview{}},
	} {
		names, hidden := inputsOf(reflect.TypeOf(form.request), ""), f.hidden(form.path)
		for _, value := range []string{"NaN", "-1e999", "99999999999999999999", "maybe", "\x00", "\xff\xed\xa0\x80", hostile, strings.Repeat("9", 5000), `{"a":[{`, `[{"name":1}] x`, relabel.NewID().String()} {
			values := url.Values{"form": hidden["form"], "once": {rand.Text()}}
			for _, name := range names {
				values.Set(name, value)
			}
			status, page := f.submit(form.path, values)
			if m := came.FindString(page); m != "" || status >= 500 {
				t.Errorf("%s with %.20q everywhere: status %d, %q came through", form.path, value, status, m)
			}
		}
		if status, _ := f.submit(form.path, hidden); status >= 500 {
			t.Errorf("%s without any field: status %d", form.path, status)
		}
		many := url.Values{"form": hidden["form"]}
		for _, name := range names {
			many[name] = []string{"", "x", "", "y"}
		}
		if status, _ := f.submit(form.path, many); status >= 500 {
			t.Errorf("%s with each field four times: status %d", form.path, status)
		}
	}
}

func TestAFieldThatIsRefusedSaysWhy(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.begin("wrong", "s")
	for field, want := range map[string]string{
		"beta.start=NaN": `is &#34;NaN&#34;: give a number`, "beta.start=Inf": `give a number`, "limits.max_turns=0": `is 0: must be at least 1`, "limits.max_turns=1.5": `give a whole number`,
		"prompts.tools=[{%22nmae%22:%22x%22}]": `unknown field`, "prompts.tools=[]+[]": `is more than one JSON value`, "seed=&seed=x": `give a whole number`,
	} {
		page := s.get(400, "/runs/new?name=kept&"+field)
		name, _, _ := strings.Cut(field, "=")
		contains(t, page, `id="p-`+name+`"`, want, `value="kept"`)
	}
	contains(t, s.get(400, "/runs/"+s.run.ID.String()+"/export?unfinished=maybe"), `is &#34;maybe&#34;: give true or false`)
}

func TestAFormIsSubmittedOnceAlsoAfterNavigation(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.begin("twice", "s")
	f, path := s.filler(), "/runs/"+s.run.ID.String()+"/start"
	values := f.hidden(path)
	values.Set("student", "twice-student")
	values.Set("instances", "marshmallow__marshmallow-1300")
	_, first := f.submit(path, values)
	status, second := f.submit(path, values) // back, and sent again
	if status != http.StatusSeeOther || first != second || !strings.HasPrefix(first, "/iterations/") {
		t.Errorf("sent twice: %d, %.200s and %.200s", status, first, second)
	}
	values.Set("generations", "2") // back, changed, and sent again
	status, page := f.submit(path, values)
	if status < 400 || status >= 500 || !strings.Contains(page, "Not done:") {
		t.Errorf("changed after it was sent: %d, %.300s", status, page)
	}
	if its, err := s.store.ListIterations(t.Context(), s.run.ID); err != nil || len(its) != 2 {
		t.Errorf("%d iterations, %v", len(its), err)
	}
}

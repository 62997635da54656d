package e2e

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"relabel"
	"relabel/chat"
	"relabel/shard/shardtest"
	"relabel/store"
	"relabel/store/storetest"
)

// TestTheSameExportOverRESTCommandAndPageGivesTheSameDataSet exports runs of each recipe over REST, by
// command and from the page, and compares what was selected and the files' hashes.
func TestTheSameExportOverRESTCommandAndPageGivesTheSameDataSet(t *testing.T) {
	t.Parallel()
	p := place{data: t.TempDir(), database: storetest.Migrated(t)}
	s := storetest.Open(t, p.database)
	noError(t, s.Migrate(bounded(t)))
	runs := map[relabel.Recipe]relabel.Run{}
	for _, recipe := range []relabel.Recipe{relabel.SFT, relabel.DAgger, relabel.AggreVaTe} {
		runs[recipe] = seedRounds(t, s, recipe)
	}
	_, api := p.serve(t)
	e := exports{t: t, place: p, api: api}
	p.must(t, "tokenizer", "add", "small", shardtest.Student(t), "--server", api.Base)
	for _, c := range []intent{
		{relabel.SFT, ``, nil, nil, 2, "resolved trajectories of iteration 2"},
		{relabel.DAgger, ``, nil, nil, 4, "valid submissions of iteration 2"},
		{relabel.AggreVaTe, ``, nil, nil, 4, "valid submissions of iteration 2"},
		{relabel.SFT, `,"resolved":false,"submitted":true`, []string{"--no-resolved", "--submitted"}, url.Values{"resolved": {"false"}, "submitted": {"true"}}, 4, "valid submissions of iteration 2"},
		{relabel.SFT, `,"submitted":false`, []string{"--no-submitted"}, url.Values{"submitted": {"false"}}, 8, "every finished trajectory of iteration 2"},
		{relabel.DAgger, `,"aggregated":true,"resolved":true`, []string{"--aggregated", "--resolved"}, url.Values{"aggregated": {"true"}, "resolved": {"true"}}, 4, "resolved trajectories of iterations 1 to 2"},
		{relabel.DAgger, `,"mixed_rewards":true,"submitted":false,"iteration":1,"agreement":"differs"`, []string{"--mixed-rewards", "--no-submitted", "--iteration", "1", "--agreement", "differs"},
			url.Values{"mixed_rewards": {"true"}, "submitted": {"false"}, "iteration": {"1"}, "agreement": {"differs"}}, 4,
			"every finished trajectory of groups with mixed rewards, where the label was not executed of iteration 1"},
		{relabel.DAgger, `,"views":["linear","tree"],"tokenizer":"small","thinking_alias":false,"max_length":400,"capacity":1000`,
			[]string{"--view", "tree,linear", "--tokenizer", "small", "--no-thinking-alias", "--max-length", "400", "--capacity", "1000"},
			url.Values{"views": {"linear", "tree"}, "tokenizer": {"small"}, "thinking_alias": {"false"}, "max_length": {"400"}, "capacity": {"1000"}}, 4, "valid submissions of iteration 2"},
		everyEnd(),
	} {
		run := runs[c.recipe]
		rest := e.overREST(run, c.body)
		if took := rest.Selection.Describe() + " of " + rest.Selection.DescribeIterations(); took != c.takes || rest.Rows != c.states {
			t.Errorf("%s%s: it takes %s, %d states; want %s, %d", c.recipe, c.body, took, rest.Rows, c.takes, c.states)
		}
		for name, other := range map[string]relabel.Export{"command": e.byCommand(run, c.args), "page": e.fromPage(run, c.page)} {
			if a, b := e.contents(rest), e.contents(other); !reflect.DeepEqual(a, b) {
				t.Errorf("%s%s: over REST\n%v\nby %s\n%v", c.recipe, c.body, a, name, b)
			}
		}
	}
}

// intent is an export in the terms of REST, command and page, with the expected selection.
type intent struct {
	recipe relabel.Recipe
	body   string // over REST, after the run
	args   []string
	page   url.Values
	states int
	takes  string
}

// everyEnd chooses every reason by which a rollout ends.
func everyEnd() intent {
	all, err := json.Marshal(relabel.EndReasons)
	if err != nil {
		panic(err)
	}
	in := intent{recipe: relabel.DAgger, body: `,"end_reasons":` + string(all), page: url.Values{}, states: 4,
		takes: fmt.Sprintf("valid submissions, of those whose end is one of %v of iteration 2", relabel.EndReasons)}
	for _, reason := range relabel.EndReasons {
		in.args = append(in.args, "--end-reason", string(reason))
		in.page.Add("end_reasons", string(reason))
	}
	return in
}

// seedRounds stores a run with two done rounds over two tasks, two rollouts each: of the
// first task one is resolved and one is submitted and fails; of the other one passes and
// one fails without a submission.
func seedRounds(t *testing.T, s *store.Store, recipe relabel.Recipe) relabel.Run {
	t.Helper()
	d := storetest.SeedWith(t, s, 2, func(d *storetest.Seeded) {
		d.Run.Name, d.Run.Recipe = "run of "+string(recipe), recipe
		d.Iteration.Generations = 2
		d.Trajectories = generations(d.Tasks)
	})
	second := d.Iteration
	second.ID, second.Number = relabel.NewID(), 2
	drawn := relabel.PlannedIteration{Iteration: second, Trajectories: generations(d.Tasks)}
	for _, trajectories := range [][]relabel.Trajectory{d.Trajectories, drawn.Trajectories} {
		for i, tr := range trajectories {
			finishAs(t, s, d, tr.ID, i < 2, i%2 == 0)
		}
		if &trajectories[0] == &d.Trajectories[0] {
			noError(t, s.CreateIteration(bounded(t), drawn))
		}
	}
	return d.Run
}

func generations(tasks []relabel.Task) (all []relabel.Trajectory) {
	for _, task := range tasks {
		for g := range 2 {
			all = append(all, relabel.Trajectory{ID: relabel.NewID(), TaskID: task.ID, Generation: g, Executors: "ssssss"})
		}
	}
	return all
}

// finishAs takes a trajectory through two turns to done.
func finishAs(t *testing.T, s *store.Store, d storetest.Seeded, id relabel.ID, submitted, passed bool) {
	t.Helper()
	ctx := bounded(t)
	claim := storetest.Claim(t, s, id, "w")
	for n := 1; n <= 2; n++ {
		label := relabel.Message{Role: relabel.RoleAssistant, Content: fmt.Sprint("I end ", n), ToolCalls: []relabel.ToolCall{{ID: "x", Name: "finish", Arguments: "{}"}}}
		noError(t, s.CommitTurn(ctx, claim.Fence, storetest.Turn(claim, n, &relabel.Action{PolicyID: d.Teacher.ID, Status: relabel.Received,
			Raw: chat.EncodeMessage(label), Message: label, FinishReason: "tool_calls", Parse: relabel.ParsedOK})))
	}
	end := relabel.Ending{Reason: relabel.EndMaxTurns, Patch: []byte("diff --git a/a b/a\n")}
	if submitted {
		end.Reason, end.Submitted = relabel.EndFinish, true
	}
	noError(t, s.EndRollout(ctx, claim.Fence, end))
	noError(t, s.BeginVerifying(ctx, claim.Fence))
	noError(t, s.Finish(ctx, claim.Fence, relabel.Verdict{Passed: passed, Reason: "tests"}))
}

// exports starts exports in three ways.
type exports struct {
	t     *testing.T
	place place
	api   *session
}

// end waits for an export.
func (x exports) end(id string) (e relabel.Export) {
	x.t.Helper()
	eventually(x.t, "the export ends", func() bool {
		noError(x.t, x.api.get(bounded(x.t), "/v1/exports/"+id, &e))
		if e.State == relabel.ExportFailed {
			x.t.Fatalf("the export failed: %s", e.Failure)
		}
		return e.State == relabel.ExportDone
	})
	return e
}

func (x exports) overREST(run relabel.Run, rest string) relabel.Export {
	x.t.Helper()
	var e relabel.Export
	noError(x.t, x.api.post(bounded(x.t), "/v1/exports", json.RawMessage(`{"run":"`+run.ID.String()+`"`+rest+`}`), &e))
	return x.end(e.ID.String())
}

func (x exports) byCommand(run relabel.Run, args []string) relabel.Export {
	x.t.Helper()
	said := x.place.must(x.t, append([]string{"export", "start", run.Name, "--server", x.api.Base, "--detach"}, args...)...)
	id, _, _ := strings.Cut(said, " ")
	return x.end(id)
}

// What a form of a page has.
var (
	formInputs  = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)
	formChecked = regexp.MustCompile(`<input type="checkbox" name="([^"]*)" value="([^"]*)" checked>`)
	formTexts   = regexp.MustCompile(`<input id="[^"]*" name="([^"]*)" type="[^"]*" value="([^"]*)"`)
	formSelects = regexp.MustCompile(`(?s)<select id="[^"]*" name="([^"]*)">(.*?)</select>`)
	formChosen  = regexp.MustCompile(`<option value="([^"]*)" selected>`)
)

// fromPage opens the form, changes what is chosen and sends all of it, as a browser does.
func (x exports) fromPage(run relabel.Run, chosen url.Values) relabel.Export {
	x.t.Helper()
	jar, err := cookiejar.New(nil)
	noError(x.t, err)
	browser := &http.Client{Jar: jar}
	address := x.api.Base + "/runs/" + run.ID.String() + "/export"
	res, err := browser.Get(address + "?" + url.Values{"views": chosen["views"]}.Encode()) // the page asks again as views are chosen
	noError(x.t, err)
	defer res.Body.Close()
	page, err := io.ReadAll(res.Body)
	noError(x.t, err)
	form := url.Values{}
	for _, has := range []*regexp.Regexp{formInputs, formChecked, formTexts} {
		for _, field := range has.FindAllStringSubmatch(string(page), -1) {
			form.Add(field[1], html.UnescapeString(field[2]))
		}
	}
	for _, field := range formSelects.FindAllStringSubmatch(string(page), -1) {
		form.Set(field[1], html.UnescapeString(formChosen.FindStringSubmatch(field[2])[1]))
	}
	for name, values := range chosen {
		if _, there := form[name]; !there && !strings.Contains(string(page), `<input type="checkbox" name="`+name+`"`) {
			x.t.Fatalf("the form has no field %s: %v", name, form)
		}
		form[name] = values
	}
	sent, err := browser.PostForm(address, form)
	noError(x.t, err)
	defer sent.Body.Close()
	if sent.StatusCode != http.StatusOK || path.Base(path.Dir(sent.Request.URL.Path)) != "exports" {
		body, _ := io.ReadAll(sent.Body)
		x.t.Fatalf("the page answered %s at %s: %s", sent.Status, sent.Request.URL, body)
	}
	return x.end(path.Base(sent.Request.URL.Path))
}

// contents is what a data set has: what was selected, and each file of rows by its hash.
func (x exports) contents(e relabel.Export) map[string]any {
	x.t.Helper()
	raw, err := os.ReadFile(filepath.Join(e.Directory, "manifest.json"))
	noError(x.t, err)
	var m relabel.Manifest
	noError(x.t, json.Unmarshal(raw, &m))
	all := map[string]any{"selection": m.Selection, "left out": m.Excluded, "form": e.Form, "asked": e.Selection}
	for _, f := range m.Files {
		all[f.Path] = f.SHA256
	}
	return all
}

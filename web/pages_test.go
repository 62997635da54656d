package web_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"relabel"
)

func contains(t *testing.T, page string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestTheRunsPageShowsIterationsWithTheirProgress(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.rollout()
	for _, path := range []string{"/", "/runs/" + s.run.ID.String()} {
		contains(t, s.get(200, path), "demo-teacher@1", "demo-student@1", "β = 0.6", "2 of 3", "3 of 6 (50%)", "<b>1 missing</b>", "1 of 1 (100%)", s.run.ID.String())
	}
	contains(t, s.get(200, "/runs/"+s.run.ID.String()), "You work in a sandbox.")
}

func TestARunsPageShowsItsBudgetAndWhyItIsPaused(t *testing.T) {
	t.Parallel()
	s := start(t)
	trajectory := s.begin("bounded", "T")[0].ID
	path := "/runs/" + s.run.ID.String()
	if page := s.get(200, path); strings.Contains(page, "paused") || !strings.Contains(page, "0 tokens in 0 calls") {
		t.Error("a run without a budget, or a pause, shows one")
	}
	_, err := s.store.SetScheduling(t.Context(), s.run.ID, relabel.SchedulingChange{Budget: &relabel.Budget{Tokens: 100, Cost: 2.5}})
	s.must(err)
	micros := int64(1_250_000)
	s.must(s.store.RecordCall(t.Context(), relabel.Call{PolicyID: s.run.TeacherID, TrajectoryID: &trajectory, Purpose: relabel.PurposeLabel, Tries: 1,
		Usage: &relabel.Usage{PromptTokens: 90, CompletionTokens: 30}, CostMicros: &micros}))
	contains(t, s.get(200, path), "120 tokens of 100 in 1 call<", "1.25 of 2.50", "paused: budget", "120 tokens are spent of the budget of 100")
	contains(t, s.get(200, "/"), "paused: budget")
	_, err = s.store.PauseIteration(t.Context(), s.iteration.ID, relabel.PausedByUser, "the <server> moves")
	s.must(err)
	contains(t, s.get(200, path), `title="the &lt;server&gt; moves">paused</span>`)
}

func TestATrajectoryShowsExecutorAndLabelAtEachTurn(t *testing.T) {
	t.Parallel()
	s := start(t)
	done, failed := s.rollout()
	page := s.get(200, "/trajectories/"+done.ID.String()) + s.get(200, "/trajectories/"+done.ID.String()+"/turns?part=cards&from=5&to=9")

	turns := regexp.MustCompile(`<article class="turn (\w+) ?(\w*)" id="t(\d)"`).FindAllStringSubmatch(page, -1)
	got := ""
	for _, m := range turns {
		got += fmt.Sprintf("%s:%s:%s ", m[3], m[1], m[2])
	}
	if want := "1:teacher: 2:student:different 3:student:equal 4:student:missing 5:teacher: "; got != want {
		t.Errorf("turns %s, want %s", got, want)
	}
	if n := strings.Count(page, `class="side label"`); n != 3 {
		t.Errorf("%d labels stand beside an action, want one for each of the student's turns", n)
	}
	for turn := 1; turn <= 5; turn++ {
		contains(t, page, fmt.Sprintf(`href="/v1/trajectories/%s/states/%d"`, done.ID, turn))
	}
	contains(t, page, "the endpoint answered 500 after 4 tries", "malformed arguments", "read from the text: think_tags, bare_json", "not returned: logprobs", "Round before the cast.", "2 by the teacher",
		`<span class="l add`, "test_timedelta_field", "✓", "exit 0", "38 ms", "The division is inexact.")

	infra := s.get(200, "/trajectories/"+failed.ID.String())
	contains(t, infra, "the sandbox or its engine failed at turn 2: the container died", `class="badge infra"`)
	if strings.Contains(infra, "not resolved") {
		t.Error("an infrastructure error looks like a failure of the agent")
	}
}

func TestTheListNamesTheRunOfEachTrajectory(t *testing.T) {
	t.Parallel()
	s := start(t)
	var ids []string
	for _, name := range []string{"first", "se<cond"} {
		s.begin(name, "T", "T")
		ids = append(ids, s.run.ID.String())
	}
	page := s.get(200, "/trajectories")
	contains(t, page, `<th scope="col">run</th>`)
	for i, name := range []string{"first", "se&lt;cond"} {
		if n := strings.Count(page, `<td data-label="run"><a href="/runs/`+ids[i]+`">`+name+`</a></td>`); n != 2 {
			t.Errorf("%d of 2 trajectories name the run %s", n, name)
		}
	}
}

// An evaluation is not labelled: that none of its labels is missing would say too much.
func TestAnEvaluationHasNoLabelsToMiss(t *testing.T) {
	t.Parallel()
	s := start(t)
	collected, evaluated := s.begin("kinds", "s")[0], s.evaluate()
	for _, tr := range []relabel.Trajectory{collected, evaluated} {
		f := s.claim(tr)
		turn := s.turn(1, bash("", "ls"), s.label(bash("", "ls")), "a")
		if tr.Kind == relabel.Evaluate {
			turn.Label = nil
		}
		s.must(s.store.CommitTurn(t.Context(), f, turn))
		s.end(f, patch, relabel.Verdict{Passed: true, Reason: "passed"})
	}
	for _, c := range []struct {
		of    relabel.Trajectory
		shown string
	}{{collected, "0"}, {evaluated, "–"}} {
		contains(t, s.get(200, "/trajectories/"+c.of.ID.String()), `<dt>labels missing</dt><dd>`+c.shown+`</dd>`)
		if page := s.get(200, "/trajectories?iteration="+c.of.IterationID.String()); strings.Contains(page, "missing</span>") {
			t.Errorf("%s: the list shows missing labels", c.of.Kind)
		}
	}
	contains(t, s.get(200, "/"), "<td class=\"n\">–</td>\n<td class=\"n\">1</td>\n<td class=\"n\">1 of 1 (100%)</td>")
}

func TestALongBodyIsCutAndNothingIsLost(t *testing.T) {
	t.Parallel()
	s := start(t)
	done, _ := s.rollout()
	base := "/trajectories/" + done.ID.String()
	page := s.get(200, base)
	line := "src/marshmallow/fields.py:1474: match"
	if n := strings.Count(page, line); n < 50 || n > 200 {
		t.Errorf("%d of 600 lines are shown", n)
	}
	contains(t, page, "bytes are not shown", `href="`+base+`/turns/1"`)
	if n := strings.Count(s.get(200, base+"/turns/1"), line); n != 600 {
		t.Errorf("%d of 600 lines are shown on the turn's own page", n)
	}
	contains(t, s.get(200, base+"/patch"), "int(round(value.total_seconds()")
	contains(t, s.get(200, base+"/test-output"), "PASSED tests")
}

func TestTheListPagesByKeyAndKeepsItsFilter(t *testing.T) {
	t.Parallel()
	s := start(t)
	executors := make([]string, 120)
	for i := range executors {
		executors[i] = "T"
	}
	all := s.begin("many", executors...)
	s.must(s.store.Fail(t.Context(), s.claim(all[7]), relabel.FailImageMissing, "no image"))
	row := regexp.MustCompile(`<a class="row" href="/trajectories/([0-9a-f-]{36})">`)
	next := regexp.MustCompile(`rel="next" href="([^"]+)"`)
	seen := map[string]bool{}
	pages := 0
	for path := "/trajectories?run=" + s.run.ID.String() + "&state=queued"; path != ""; pages++ {
		page := s.get(200, path)
		for _, m := range row.FindAllStringSubmatch(page, -1) {
			if seen[m[1]] {
				t.Fatalf("%s is listed twice", m[1])
			}
			seen[m[1]] = true
		}
		path = ""
		if m := next.FindStringSubmatch(page); m != nil {
			path = strings.ReplaceAll(m[1], "&amp;", "&")
			contains(t, path, "state=queued", "run="+s.run.ID.String())
		}
		contains(t, page, `<option value="queued" selected>queued</option>`, "<b>119</b> of 120 trajectories")
	}
	if len(seen) != 119 || pages != 3 {
		t.Errorf("%d trajectories on %d pages", len(seen), pages)
	}
	if page := s.get(200, "/trajectories?failure=image_missing"); len(row.FindAllString(page, -1)) != 1 {
		t.Error("the failure is not found")
	}
	contains(t, s.get(200, "/trajectories?iteration="+s.iteration.ID.String()+"&verdict=passed"), "No matching trajectories.")
}

func TestAFilterThatCannotBeLeadsBackToThePage(t *testing.T) {
	t.Parallel()
	s := start(t)
	contains(t, s.get(400, "/trajectories?agreement_min=7&sort=newest"), "agreement_min: ", `<a href="/trajectories">This page without`)
	contains(t, s.get(200, "/trajectories?state=done"), "No matching trajectories.")
	contains(t, s.get(200, "/trajectories"), "No trajectories yet")
}

func TestWhatIsNotThereIsAPageToo(t *testing.T) {
	t.Parallel()
	s := start(t)
	done, _ := s.rollout()
	none := relabel.NewID().String()
	for path, status := range map[string]int{
		"/nothing": 404, "/runs/x": 404, "/runs/" + none: 404, "/trajectories/" + none: 404, "/trajectories/x": 404,
		"/trajectories/" + done.ID.String() + "/turns/6": 404, "/trajectories/" + done.ID.String() + "/turns/0": 404, "/trajectories/" + done.ID.String() + "/turns/x": 404,
		"/trajectories?state=asleep": 400, "/trajectories?run=x": 400, "/trajectories?after=x": 400, "/trajectories?verdict=maybe": 400,
		"/trajectories/" + done.ID.String() + "/turns?from=x": 400, "/trajectories/" + done.ID.String() + "/turns?from=1&to=90": 400, "/trajectories/" + done.ID.String() + "?attempt=2": 404, "/?after=x": 400, "/trajectories?run=" + none: 404, "/static/x/style.css": 404,
		"/trajectories?instance=nothing": 200,
	} {
		page := s.get(status, path)
		if status != 200 && !strings.HasPrefix(path, "/static") {
			contains(t, page, "Home", "<h1>")
		}
	}
	res, err := http.Post(s.URL+"/", "text/plain", nil)
	s.must(err)
	s.must(res.Body.Close())
	if res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", res.StatusCode)
	}
}

// What no stored text can equal is refused before it comes to a page.
func TestAddressesThatNoTextCanEqualAreRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, path := range []string{"/trajectories?instance=%00", "/trajectories?instance=%ff"} {
		s.get(400, path)
	}
}

func TestPagesLoadNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	s := start(t)
	done, _ := s.rollout()
	page, header := s.fetch(200, "/trajectories/"+done.ID.String())
	if csp := header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'; style-src 'self'; script-src 'self'") || strings.Contains(csp, "unsafe") || !strings.Contains(csp, "frame-ancestors 'none'") || !strings.Contains(csp, "base-uri 'none'") || !strings.Contains(csp, "form-action 'self'") {
		t.Errorf("policy %s", csp)
	}
	for _, m := range regexp.MustCompile(`(?:src|href|action)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !strings.HasPrefix(m[1], "/") && !strings.HasPrefix(m[1], "#") || strings.HasPrefix(m[1], "//") {
			t.Errorf("an address leads elsewhere: %s", m[1])
		}
	}
	for _, name := range []string{"style.css", "trajectory.js", "icon.svg"} {
		m := regexp.MustCompile(`/static/[0-9a-f]{12}/` + regexp.QuoteMeta(name)).FindString(page)
		if m == "" {
			t.Errorf("%s is not linked", name)
			continue
		}
		if _, h := s.fetch(200, m); !strings.Contains(h.Get("Cache-Control"), "immutable") || h.Get("Content-Type") == "" {
			t.Errorf("%s: %v", m, h)
		}
	}
	if regexp.MustCompile(` (style|on[a-z]+)="`).MatchString(page) || strings.Contains(page, "<script>") {
		t.Error("the page holds inline style or script")
	}
}

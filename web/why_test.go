package web_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"relabel"
	"relabel/web/webtest"
)

// judgedTests are the tests of the task that judged rolls out.
var judgedTests = struct{ mend, keep []string }{
	mend: []string{"tests/test_fields.py::TestTimeDelta::test_rounds", "tests/test_fields.py::TestTimeDelta::test_" + strings.Repeat("long", 30), "tests/test_fields.py::b", "tests/test_fields.py::c", "tests/test_fields.py::fine"},
	keep: []string{"tests/test_schema.py::kept", "tests/test_schema.py::broke"},
}

// judged makes an iteration of a trajectory for each way to fail, and returns them by name.
func (s *site) judged() map[string]relabel.Trajectory {
	s.t.Helper()
	ctx := s.t.Context()
	names := []string{"resolved", "tests", "empty", "apply", "turns", "unsubmitted", "sandbox", "endpoint", "verifier", "cancelled"}
	executors := make([]string, len(names))
	for i := range executors {
		executors[i] = "sss"
	}
	s.mend, s.keep = judgedTests.mend, judgedTests.keep
	all := s.begin("judged", executors...)
	by := map[string]relabel.Trajectory{}
	tests := map[string]relabel.TestStatus{judgedTests.mend[4]: relabel.TestPassed, judgedTests.keep[0]: relabel.TestPassed, judgedTests.keep[1]: relabel.TestError}
	for _, name := range judgedTests.mend[:4] {
		tests[name] = relabel.TestFailed
	}
	for i, name := range names {
		tr := all[i]
		by[name] = tr
		if name == "cancelled" {
			continue
		}
		f := s.claim(tr)
		for t := 1; t <= 3; t++ {
			command, turn := "ls", relabel.Turn{}
			if t == 2 {
				command = "pytest"
			}
			turn = s.turn(t, bash("", command), s.label(bash("", "ls")), "a")
			if t == 3 {
				turn.Observations[0].Failed, turn.Observations[0].ExitCode = true, nil
			}
			s.must(s.store.CommitTurn(ctx, f, turn))
		}
		finish := func(reason relabel.EndReason, submitted bool, v relabel.Verdict) {
			s.must(s.store.EndRollout(ctx, f, relabel.Ending{Reason: reason, Patch: []byte(patch), Submitted: submitted}))
			s.must(s.store.BeginVerifying(ctx, f))
			s.must(s.store.Finish(ctx, f, v))
		}
		switch name {
		case "resolved":
			finish(relabel.EndFinish, true, relabel.Verdict{Passed: true, Reason: relabel.VerdictTestsPassed})
		case "tests":
			finish(relabel.EndFinish, true, relabel.Verdict{Reason: relabel.VerdictTests, Tests: tests})
		case "empty":
			finish(relabel.EndFinish, false, relabel.Verdict{Reason: relabel.VerdictEmptyPatch})
		case "apply":
			finish(relabel.EndFinish, false, relabel.Verdict{Reason: relabel.VerdictDoesNotApply})
		case "turns":
			finish(relabel.EndMaxTurns, false, relabel.Verdict{Reason: relabel.VerdictTests, Tests: tests})
		case "unsubmitted":
			finish(relabel.EndWallClock, false, relabel.Verdict{Reason: relabel.VerdictTimedOut})
		case "sandbox":
			s.must(s.store.Fail(ctx, f, relabel.FailEnvironment, "the container <b>died</b>"))
		case "endpoint":
			s.must(s.store.Fail(ctx, f, relabel.FailEndpoint, "student: 500 after 4 tries"))
		case "verifier":
			s.must(s.store.EndRollout(ctx, f, relabel.Ending{Reason: relabel.EndFinish, Patch: []byte(patch), Submitted: true}))
			s.must(s.store.BeginVerifying(ctx, f))
			s.must(s.store.Fail(ctx, f, relabel.FailVerifier, "the disk was full"))
		}
	}
	_, err := s.store.CancelIteration(ctx, s.iteration.ID)
	s.must(err)
	return by
}

var markup = regexp.MustCompile(`<[^>]*>`)

// head is what a trajectory's page says before its turns, as text.
func (s *site) head(tr relabel.Trajectory) string {
	s.t.Helper()
	page := s.get(200, "/trajectories/"+tr.ID.String()+"?part=head")
	return strings.Join(strings.Fields(markup.ReplaceAllString(page, " ")), " ")
}

func TestATrajectorysHeadSaysWhyItEndedAsItDid(t *testing.T) {
	t.Parallel()
	s := start(t)
	by := s.judged()
	for name, wants := range map[string][]string{
		"resolved":    {"✓ resolved", "All 7 tests that should pass do. Finished, with a valid submission."},
		"tests":       {"✗ not resolved", "4 of 5 tests that should pass now fail: ", "and 1 more", "::TestTimeDelta::test_rounds", "1 of 2 tests that passed before fail: tests/test_schema.py::broke .", "first differs at turn 2 ▲", "last failed call at turn 3 : the tool failed"},
		"empty":       {"The patch is empty. Finished, without a valid submission."},
		"apply":       {"The patch does not apply to the base commit."},
		"turns":       {"Out of turns (100), without a valid submission."},
		"unsubmitted": {"The tests ran longer than 1800 seconds. Out of time (3600 seconds), without a valid submission."},
		"sandbox":     {"Infrastructure error: the sandbox or its engine failed at turn 4: the container &lt;b&gt;died&lt;/b&gt;. This says nothing about the agent."},
		"endpoint":    {"the executor’s endpoint did not answer at turn 4: student: 500 after 4 tries."},
		"verifier":    {"Infrastructure error: the verifier failed: the disk was full. This says nothing about the agent. Finished, with a valid submission."},
		"cancelled":   {"It was cancelled after 0 turns."},
	} {
		contains(t, s.head(by[name]), wants...)
	}
	page := s.get(200, "/trajectories/"+by["tests"].ID.String())
	for _, n := range regexp.MustCompile(`href="#test-(\d+)"`).FindAllStringSubmatch(page, -1) {
		contains(t, page, `id="test-`+n[1]+`"`)
	}
	contains(t, s.get(200, "/trajectories/"+by["tests"].ID.String()+"/file.html"), "4 of 5 tests", `href="#test-1"`)
	contains(t, s.get(200, "/iterations/"+s.iteration.ID.String()), `✗</span> not resolved</span> <span class="meta">empty patch</span>`)
}

// TestEachCauseLeadsToExactlyThoseThatItCounts follows every number of the tables.
func TestEachCauseLeadsToExactlyThoseThatItCounts(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.judged()
	total := regexp.MustCompile(`<p class="total" role="status"><b>(\d+)</b>`)
	cell := regexp.MustCompile(`<a href="([^"]+)" aria-label="(\d+): ([^"]+)">`)
	for _, path := range []string{"/runs/" + s.run.ID.String(), "/iterations/" + s.iteration.ID.String()} {
		page := s.get(200, path)
		counts := map[string]string{}
		for _, m := range cell.FindAllStringSubmatch(page, -1) {
			counts[m[3]] = m[2]
			list := s.get(200, strings.ReplaceAll(strings.TrimSuffix(m[1], "#trajectories"), "&amp;", "&"))
			if n := total.FindStringSubmatch(list); n == nil || n[1] != m[2] {
				t.Errorf("%s: %s counts %s, its list has %v", path, m[3], m[2], n)
			}
		}
		want := map[string]string{"tests fail": "2", "tests timed out": "1", "empty patch": "1", "patch does not apply": "1", "finished, with a valid submission": "1", "finished, without one": "2",
			"out of turns": "1", "out of time": "1", "the sandbox or its engine failed": "1", "the executor’s endpoint did not answer": "1", "the verifier failed": "1"}
		if fmt.Sprint(counts) != fmt.Sprint(want) {
			t.Errorf("%s counts %v, want %v", path, counts, want)
		}
	}
}

// TestFromARunToWhyATrajectoryFailedInTwoClicks walks the way, and on to where it turned.
func TestFromARunToWhyATrajectoryFailedInTwoClicks(t *testing.T) {
	t.Parallel()
	s := start(t)
	tr := s.judged()["tests"]
	p := webtest.Open(t, s.URL+"/runs/"+s.run.ID.String())
	p.Look("run-causes")
	p.Click(".causes a[href*='verdict_reason=tests'][href*='iteration=']") // one
	p.Wait("location.pathname === '/trajectories' && document.querySelectorAll('tbody tr').length === 2")
	p.Look("list-causes")
	p.Click("a.row[href='/trajectories/" + tr.ID.String() + "']") // two
	p.Wait("location.pathname.startsWith('/trajectories/') && document.querySelector('.why')")
	for _, setting := range []webtest.Setting{nil, webtest.Phone()} {
		if setting != nil {
			p.Set(setting)
		}
		var bottom, height float64
		p.Eval("document.querySelector('.where').getBoundingClientRect().bottom", &bottom)
		p.Eval("innerHeight", &height)
		if bottom > height {
			t.Errorf("why it failed ends at %.0f of %.0f pixels", bottom, height)
		}
	}
	p.Look("trajectory-why")
	contains(t, p.Text(".why"), "4 of 5 tests that should pass now fail", "1 of 2 tests that passed before fail")
	p.Press("n")
	p.Wait("location.hash === '#t2'")
	p.Press("g")
	link := ".why a[href^='#test-']"
	var row string
	p.Eval("document.querySelector("+strconv.Quote(link)+").getAttribute('href')", &row)
	p.Click(link)
	p.Wait("(() => { const r = document.querySelector('" + row + "').getBoundingClientRect(); return r.top > 0 && r.bottom < innerHeight; })()")
	p.Go(s.URL + "/iterations/" + s.iteration.ID.String())
	p.Look("iteration-causes")
	p.Click(".causes a[href*='failure=endpoint']")
	p.Wait("location.search === '?failure=endpoint&state=failed' && document.querySelectorAll('table.list tbody tr').length === 1")
}

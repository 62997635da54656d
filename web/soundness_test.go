package web_test

import (
	"strings"
	"testing"

	"relabel"
	"relabel/web/webtest"
)

// validated validates the tasks of the site's run: the first is sound, the second flaky, the third broken.
func (s *site) validated() []relabel.Task {
	s.t.Helper()
	s.keep = []string{"t::keep", "t::<b>waver"}
	s.begin("demo", "ss", "s", "s", "s")
	tasks, _, err := s.store.ListTasks(s.t.Context(), s.run.TasksetID, 0, relabel.Page{Limit: 10})
	s.must(err)
	verdict := func(failed ...string) relabel.Verdict {
		v := relabel.Verdict{Passed: len(failed) == 0, Reason: relabel.VerdictTestsPassed, Output: []byte("a log " + hostile), Millis: 2500, Tests: map[string]relabel.TestStatus{}}
		for _, test := range []string{"t::a", "t::keep", "t::<b>waver"} {
			v.Tests[test] = relabel.TestPassed
		}
		for _, test := range failed {
			v.Tests[test], v.Reason = relabel.TestFailed, relabel.VerdictTests
		}
		return v
	}
	empty := []relabel.Verdict{verdict("t::a"), verdict("t::a")}
	for i, gold := range [][]relabel.Verdict{{verdict(), verdict()}, {verdict(), verdict("t::<b>waver")}, {verdict("t::a"), verdict("t::a")}} {
		tasks[i].Patch = "diff"
		v := relabel.Assess(tasks[i], 2, 60, gold, empty)
		var logs [][]byte
		for _, r := range v.Runs {
			logs = append(logs, relabel.PackLog(r.Log, relabel.MaxValidationLog))
		}
		s.must(s.store.CreateValidation(s.t.Context(), v, logs))
	}
	return tasks
}

func TestTheSoundnessOfATaskSetLeadsToLogs(t *testing.T) {
	t.Parallel()
	s := start(t)
	tasks := s.validated()
	p := webtest.Open(t, s.URL+"/tasks/"+s.run.TasksetID.String())
	p.Click("a[href^='/soundness/']")
	p.Wait("location.pathname === '/soundness/" + s.run.TasksetID.String() + "'")
	p.Look("soundness")
	text := p.Text("main")
	for _, want := range []string{"sound", "t::<b>waver", "the gold patch does not resolve it: 1 test did not pass", "gold_patch_fails: 1", "not validated"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q: %s", want, text)
		}
	}
	p.Go(s.URL + "/soundness/" + s.run.TasksetID.String() + "?state=flaky")
	if p.Count("[aria-label='Tasks by soundness'] tbody tr") != 1 || strings.Contains(p.Text("[aria-label='Tasks by soundness']"), tasks[0].InstanceID) {
		t.Errorf("filtered: %s", p.Text("main"))
	}
	p.Click("a[href^='/validations/']")
	p.Wait("document.querySelector('h1')?.innerText.includes('Validation of')")
	p.Look("validation")
	if text := p.Text("main"); !strings.Contains(text, "Pf") || !strings.Contains(text, "gold patch, 2") {
		t.Errorf("the validation: %s", text)
	}
	p.Click("[aria-label='Runs'] a")
	p.Wait("document.querySelector('h1')?.innerText.includes('Log of the gold patch, run 1')")
	if text := p.Text("main"); !strings.Contains(text, "a log "+hostile[:20]) {
		t.Errorf("the log: %s", text)
	}
}

func TestExcludedTasksAreNamedBesideTheNumberOfTasks(t *testing.T) {
	t.Parallel()
	s := start(t)
	tasks := s.validated()
	tasks[2].Excluded = "the gold patch <b>fails"
	set, err := s.store.ReviseTasks(t.Context(), s.run.TasksetID, relabel.TasksExcluded, tasks[2:3])
	s.must(err)
	run := s.run
	run.ID, run.Name, run.TasksetRevision = relabel.NewID(), "later", set.Revision
	s.must(s.store.CreateRun(t.Context(), run))
	for path, wants := range map[string][]string{
		"/runs/" + run.ID.String():                                   {"revision 2: 4 tasks, 1 excluded", "the gold patch &lt;b&gt;fails"},
		"/runs/" + s.run.ID.String():                                 {"revision 1: 4 tasks"},
		"/tasks/" + set.ID.String():                                  {"1 excluded, revision 2", "excluded: the gold patch &lt;b&gt;fails"},
		"/tasks/" + set.ID.String() + "?revision=1":                  {"held out, revision 1"},
		"/tasks/" + set.ID.String() + "/" + tasks[2].InstanceID:      {"excluded: the gold patch &lt;b&gt;fails"},
		"/soundness/" + set.ID.String() + "?excluded=true":           {"excluded: the gold patch &lt;b&gt;fails"},
		"/soundness/" + set.ID.String() + "?revision=1&state=broken": {tasks[2].InstanceID},
	} {
		page, _ := s.fetch(200, path)
		for _, want := range wants {
			if !strings.Contains(page, want) {
				t.Errorf("%s does not say %q", path, want)
			}
		}
	}
	for _, path := range []string{"/soundness/" + set.ID.String() + "?state=x", "/tasks/" + set.ID.String() + "?revision=0"} {
		s.fetch(400, path)
	}
	s.fetch(404, "/tasks/"+set.ID.String()+"?revision=9")
}

package web_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"relabel"
	"relabel/web/webtest"
)

// hostile is a text that every field may bring.
const hostile = "</a><script>alert('x')</script><img src=//evil.example/x onerror=alert(1)>\" onmouseover=\"alert(2) \x1b[31mred \u202egnp.exe {{.}} ${x}"

// outcomes makes a run of seven tasks and two iterations with every outcome there is: the
// first alone in the first iteration, in the second the first task thrice.
func (s *site) outcomes() []relabel.Trajectory {
	s.t.Helper()
	all := s.begin("demo", "sssss", "s", "s", "s", "s", "s", "s")
	act := func(t int) relabel.Turn {
		return s.turn(t, bash("I look.", "ls"), s.label(bash("I look.", []string{"ls", "pwd"}[t%2])), "a")
	}
	f := s.claim(all[0])
	for t := range 5 {
		s.must(s.store.CommitTurn(s.t.Context(), f, act(t+1)))
	}
	s.end(f, patch, relabel.Verdict{Passed: true, Reason: "passed"})
	f = s.claim(all[1])
	s.must(s.store.CommitTurn(s.t.Context(), f, act(1)))
	s.end(f, patch, relabel.Verdict{Reason: "tests"})
	f = s.claim(all[2])
	s.must(s.store.EndRollout(s.t.Context(), f, relabel.Ending{Reason: relabel.EndWallClock}))
	s.must(s.store.BeginVerifying(s.t.Context(), f))
	s.must(s.store.Finish(s.t.Context(), f, relabel.Verdict{Reason: "empty_patch"}))
	s.must(s.store.Fail(s.t.Context(), s.claim(all[3]), relabel.FailEndpoint, "gone"))
	s.claim(all[4])
	second := relabel.PlannedIteration{Iteration: s.iteration}
	second.Iteration.ID, second.Iteration.Number, second.Iteration.Generations = relabel.NewID(), 2, 3
	for g := range 3 {
		second.Trajectories = append(second.Trajectories, relabel.Trajectory{ID: relabel.NewID(), RunID: s.run.ID, IterationID: second.Iteration.ID,
			TaskID: all[0].TaskID, InstanceID: all[0].InstanceID, Iteration: 2, Kind: relabel.Collect, Generation: g, State: relabel.Queued, Executors: all[0].Executors})
	}
	s.must(s.store.CreateIteration(s.t.Context(), second))
	for g, resolved := range []bool{true, false} {
		f := s.claim(second.Trajectories[g])
		for t := range 3 {
			s.must(s.store.CommitTurn(s.t.Context(), f, act(t+1)))
		}
		s.end(f, patch, relabel.Verdict{Passed: resolved, Reason: "tests"})
	}
	_, err := s.store.CancelIteration(s.t.Context(), s.iteration.ID)
	s.must(err)
	return append(all, second.Trajectories...)
}

func TestTheGridIsWalkedWithKeys(t *testing.T) {
	t.Parallel()
	s := start(t)
	all := s.outcomes()
	p := webtest.Open(t, s.URL+"/runs/"+s.run.ID.String()+"/tasks")
	p.Look("grid")
	for sign, want := range map[string]int{"good": 2, "bad": 2, "limit": 1, "infra": 1, "busy": 0, "quiet": 4} {
		if n := p.Count("td b." + sign); n != want {
			t.Errorf("%d cells are %s, not %d", n, sign, want)
		}
	}
	label := func() (words string) {
		p.Eval("document.activeElement.getAttribute('aria-label') || ''", &words)
		return words
	}
	p.Press("j")
	if got := label(); got != "collect 1: resolved" {
		t.Errorf("the first cell is %q", got)
	}
	p.Press("l")
	if got := label(); got != "collect 2: 1 resolved, 1 failed, 1 queued" {
		t.Errorf("right of it is %q", got)
	}
	p.Press(kb.ArrowDown) // nothing was drawn below
	if got := label(); got != "collect 2: 1 resolved, 1 failed, 1 queued" {
		t.Errorf("below is %q", got)
	}
	p.Press("h", kb.ArrowDown, "j")
	if got := label(); got != "collect 1: out of time" {
		t.Errorf("two below is %q", got)
	}
	p.Wait("document.querySelector('#live-state').textContent === 'live'")
	list, err := s.store.ListTrajectories(t.Context(), relabel.TrajectoryFilter{RunID: &s.run.ID, State: relabel.Queued}, relabel.Newest, relabel.Page{Limit: 1})
	s.must(err)
	s.must(s.store.Fail(t.Context(), s.claim(list.Items[0]), relabel.FailImageMissing, "no image"))
	p.Wait("document.querySelectorAll('td b.infra').length === 2")
	if got := label(); got != "collect 1: out of time" {
		t.Errorf("after a cell was renewed the focus is on %q", got)
	}
	if n := p.Count(".grid tbody a[tabindex='0']"); n != 1 {
		t.Errorf("%d cells are stops of the tab key", n)
	}
	p.Press(kb.Enter)
	p.Wait("location.pathname === '/trajectories/" + all[2].ID.String() + "'")
	p.Go(s.URL + "/runs/" + s.run.ID.String() + "/tasks?q=1302")
	if p.Count("tbody tr") != 1 || !strings.Contains(p.Text(".filter"), "1 of 1 tasks") {
		t.Errorf("filtered: %s", p.Text("main"))
	}
}

func TestPagesOfTasksNameWhatReservesThem(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.verified()
	s.post(201, "/v1/benchmarks", `{"name":"bench","taskset":"verified","instances":["django__django-00"]}`, nil)
	s.post(201, "/v1/exclusions", `{"name":"lis<t>","entries":["django/django"]}`, nil)
	list := s.get(200, "/tasks/"+set.ID.String())
	contains(t, list, `>bench</a>, <a href="/benchmarks/lis%3Ct%3E">lis&lt;t&gt;</a></td>`, `<td><a href="/benchmarks/lis%3Ct%3E">lis&lt;t&gt;</a></td>`)
	contains(t, s.get(200, "/benchmarks/lis%3Ct%3E"), "<li><code>django/django</code></li>") // follows to the page of the list
	if n := strings.Count(list, "lis&lt;t&gt;"); n != 4 {
		t.Errorf("%d tasks are reserved by the list", n)
	}
	contains(t, s.get(200, "/tasks/"+set.ID.String()+"/django__django-00"), "reserved by bench", "reserved by lis&lt;t&gt;")
}

func TestATaskShowsItsTrajectoriesSideBySide(t *testing.T) {
	t.Parallel()
	s := start(t)
	all := s.outcomes()
	p := webtest.Open(t, s.URL+"/tasks")
	p.Look("tasksets")
	p.Click(".list tbody a")
	p.Wait("location.pathname === '/tasks/" + s.run.TasksetID.String() + "'")
	p.Look("tasks")
	p.Click(".list tbody a")
	p.Wait("document.querySelector('h1')?.innerText.includes('marshmallow-1300')")
	p.Look("task")
	if n := p.Count("tbody .badge"); n != 4 {
		t.Errorf("%d trajectories", n)
	}
	if n := p.Count("tbody .trace .off"); n < 2 {
		t.Errorf("%d turns differ", n)
	}
	var a, b string
	p.Eval("document.querySelector('[name=a]:checked').value", &a)
	p.Eval("document.querySelector('[name=b]:checked').value", &b)
	if a != all[7].ID.String() || b != all[8].ID.String() {
		t.Errorf("proposed are %s and %s", a, b)
	}
}

func TestTasksAreFoundByNameAndId(t *testing.T) {
	t.Parallel()
	s := start(t)
	all := s.begin("demo", "s", "s")
	set, err := s.store.FindTaskset(t.Context(), s.run.TasksetID)
	s.must(err)
	for _, path := range []string{"/tasks/" + url.PathEscape(set.Name) + "/" + all[0].InstanceID, "/tasks/" + set.ID.String() + "/" + all[0].TaskID.String()} {
		if page := s.get(200, path); !strings.Contains(page, "<h1>"+all[0].InstanceID) {
			t.Errorf("%s: %s", path, page)
		}
	}
	if page := s.get(200, "/tasks/"+set.ID.String()+"?q=1301"); strings.Contains(page, "1300") || !strings.Contains(page, "1301") {
		t.Errorf("filtered: %s", page)
	}
	for _, path := range []string{"/tasks/none", "/tasks/" + relabel.NewID().String(), "/tasks/" + set.ID.String() + "/none", "/tasks/" + set.ID.String() + "/" + relabel.NewID().String(), "/runs/" + relabel.NewID().String() + "/tasks", "/runs/x/tasks"} {
		s.get(404, path)
	}
	for _, path := range []string{"/tasks?after=!", "/tasks/" + set.ID.String() + "?after=!", "/tasks/" + set.ID.String() + "?held_out=maybe", "/tasks/" + set.ID.String() + "?q=" + strings.Repeat("x", 1001), "/runs/" + s.run.ID.String() + "/tasks?q=" + strings.Repeat("x", 1001), "/runs/" + s.run.ID.String() + "/tasks?after=!"} {
		s.get(400, path)
	}
}

func TestTextsOfTasksAreInert(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := relabel.Taskset{ID: relabel.NewID(), Name: "set " + hostile, Digest: strings.Repeat("0", 64)}
	task := relabel.Task{ID: relabel.NewID(), TasksetID: set.ID, InstanceID: "a/b?c#d " + hostile, Repo: hostile, BaseCommit: hostile, Image: hostile, Workdir: hostile, ProblemStatement: hostile,
		HintsText: hostile, Patch: hostile, TestPatch: hostile, TestCmd: hostile, LogParser: hostile, FailToPass: []string{hostile}, PassToPass: []string{hostile}}
	dots := task
	dots.ID, dots.InstanceID = relabel.NewID(), ".."
	s.must(s.store.CreateTaskset(t.Context(), set, relabel.TaskList([]relabel.Task{task, dots})))
	s.begin("demo", "s")
	run := s.run
	run.ID, run.Name, run.TasksetID = relabel.NewID(), hostile, set.ID
	s.must(s.store.CreateRun(t.Context(), run))
	it := s.iteration
	it.ID, it.RunID = relabel.NewID(), run.ID
	planned := relabel.PlannedIteration{Iteration: it}
	for _, of := range []relabel.Task{task, dots} {
		planned.Trajectories = append(planned.Trajectories, relabel.Trajectory{ID: relabel.NewID(), TaskID: of.ID, Executors: "s"})
	}
	s.must(s.store.CreateIteration(t.Context(), planned))
	p := webtest.Open(t, s.URL+"/tasks")
	for _, path := range []string{"/tasks", "/tasks/" + set.ID.String(), "/tasks/" + set.ID.String() + "?q=" + url.QueryEscape("gnp.exe"), "/runs/" + run.ID.String() + "/tasks", "/runs/" + run.ID.String() + "/tasks?q=" + url.QueryEscape(hostile)} {
		p.Go(s.URL + path)
		p.Wait("document.querySelector('main')")
		if n := p.Count("main script, main img, [onmouseover], [onerror]"); n > 0 {
			t.Errorf("%s: %d elements came from a text", path, n)
		}
	}
	for i, want := range []string{"..", "a/b?c#d"} { // links lead where they should
		p.Go(s.URL + "/runs/" + run.ID.String() + "/tasks")
		p.Click(fmt.Sprintf("tbody tr:nth-child(%d) th a", i+1))
		p.Wait("document.querySelector('h1')?.innerText.startsWith(" + fmt.Sprintf("%q", want) + ")")
		if n := p.Count("main script, main img, [onmouseover], [onerror]"); n > 0 {
			t.Errorf("%q: %d elements came from a text", want, n)
		}
	}
	p.Look("task-hostile")
}

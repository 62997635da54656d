package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/web/webtest"
)

// post sends JSON to the REST interface and reads its answer into to.
func (s *site) post(status int, path, body string, to any) {
	s.t.Helper()
	res, err := http.Post(s.URL+path, "application/json", strings.NewReader(body))
	s.must(err)
	defer res.Body.Close()
	text := s.read(res.Body)
	if res.StatusCode != status {
		s.t.Fatalf("%s: status %d, want %d: %s", path, res.StatusCode, status, text)
	}
	if to != nil {
		s.must(json.Unmarshal([]byte(text), to))
	}
}

// verified makes a run, and a task set of its own for evaluations: 12 tasks of three repositories.
func (s *site) verified() relabel.Taskset {
	s.t.Helper()
	s.begin("demo", "s", "s")
	set := relabel.Taskset{ID: relabel.NewID(), Name: "verified", Digest: strings.Repeat("1", 64), Tasks: 12}
	var tasks []relabel.Task
	for i := range 12 {
		repo := []string{"django/django", "pytest-dev/pytest", "sympy/sympy"}[i/4]
		tasks = append(tasks, relabel.Task{ID: relabel.NewID(), TasksetID: set.ID, InstanceID: fmt.Sprintf("%s-%02d", strings.ReplaceAll(repo, "/", "__"), i), Repo: repo, BaseCommit: fmt.Sprint("c", i),
			Image: "relabel/python:1", Workdir: "/testbed", ProblemStatement: "It fails.", LogParser: "pytest", TestCmd: "pytest -rA", FailToPass: []string{"t::a"}, PassToPass: []string{}, HeldOut: i%4 == 0})
	}
	s.must(s.store.CreateTaskset(s.t.Context(), set, relabel.TaskList(tasks)))
	return set
}

// iterate starts an iteration of the run and ends its trajectories, in the order of tasks and rollouts,
// as outcomes says: 1 resolved, 0 submitted but not resolved, - never submitted, x failed by the
// infrastructure, . not ended.
func (s *site) iterate(body, outcomes string) relabel.Iteration {
	s.t.Helper()
	var it relabel.Iteration
	s.post(201, "/v1/runs/"+s.run.ID.String()+"/iterations", body, &it)
	list, err := s.store.ListTrajectories(s.t.Context(), relabel.TrajectoryFilter{IterationID: &it.ID}, relabel.Newest, relabel.Page{Limit: 100})
	s.must(err)
	slices.SortFunc(list.Items, func(a, b relabel.Trajectory) int {
		return strings.Compare(fmt.Sprint(a.InstanceID, a.Generation), fmt.Sprint(b.InstanceID, b.Generation))
	})
	if len(list.Items) != len(outcomes) {
		s.t.Fatalf("%d trajectories for %q", len(list.Items), outcomes)
	}
	for i, tr := range list.Items {
		switch outcomes[i] {
		case '1', '0':
			s.end(s.claim(tr), patch, relabel.Verdict{Passed: outcomes[i] == '1', Reason: "tests"})
		case '-':
			f := s.claim(tr)
			s.must(s.store.EndRollout(s.t.Context(), f, relabel.Ending{Reason: relabel.EndMaxTurns}))
			s.must(s.store.BeginVerifying(s.t.Context(), f))
			s.must(s.store.Finish(s.t.Context(), f, relabel.Verdict{Reason: relabel.VerdictEmptyPatch}))
		case 'x':
			s.must(s.store.Fail(s.t.Context(), s.claim(tr), relabel.FailEnvironment, "the engine is gone"))
		}
	}
	return it
}

const onVerified = `{"kind":"evaluate","student":"demo-student","benchmark":"verified-11"}`

func TestABenchmarkIsCreatedAndShownOnItsPage(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.verified()
	p := webtest.Open(t, s.URL+"/benchmarks")
	p.Click("a[href='/benchmarks/new']")
	p.Wait("document.querySelector('#operation').open")
	p.Type("#operation [name=name]", "verified-11")
	p.Click("#operation [name=all]")
	p.Type("#operation [name=excluded]", "sympy__sympy-11=its image does not build: no = sign is lost")
	p.Press("\t")
	p.Wait(`document.querySelector("#operation #curl").textContent.includes('"reason":"its image does not build: no = sign is lost"')`)
	p.Wait(`document.querySelector("#operation").textContent.includes("Stores 11 of the 12 tasks of verified.")`)
	p.Look("benchmark-new")
	p.Click("#operation button.main")
	p.Wait("document.querySelector('h1')?.innerText.startsWith('verified-11')")
	b, err := s.store.FindBenchmarkByName(t.Context(), "verified-11")
	s.must(err)
	if b.Tasks != 11 || b.Source.Kind != relabel.FromAll || b.TasksetID != set.ID || b.Limits != relabel.PaperLimits || len(b.Excluded) != 1 {
		t.Errorf("%+v", b)
	}
	if p.Address() != "/benchmarks/"+b.ID.String() {
		t.Errorf("at %s", p.Address())
	}
	for _, text := range []string{"verified-11 11 tasks, 1 excluded", "all tasks of the task set", "65536 tokens", "its image does not build", "No evaluations yet."} {
		if !strings.Contains(strings.Join(strings.Fields(p.Text("main")), " "), text) {
			t.Errorf("%q is not in %s", text, p.Text("main"))
		}
	}
	if n := p.Count(".tests a[href^='/tasks/" + set.ID.String() + "/']"); n != 11 {
		t.Errorf("%d tasks", n)
	}
	contains(t, s.get(200, "/benchmarks/verified-11/delete"), "Delete benchmark verified-11", "8 that are not held out, counted in each task set", "curl -X DELETE")
	address, link := "/benchmarks/"+b.ID.String(), "/benchmarks/"+b.ID.String()+"/delete"
	contains(t, s.get(200, address), link, "<dt>samples on it</dt><dd>0</dd>")
	s.iterate(`{"kind":"sample","student":"demo-student","benchmark":"verified-11"}`, "...........")
	if page := s.get(200, address); strings.Contains(page, link) || !strings.Contains(page, "<dt>samples on it</dt><dd>1</dd>") {
		t.Error("a benchmark with a sample can be deleted")
	}
	page := s.get(400, "/benchmarks/new?part=operation&name=x&excluded=nothing")
	contains(t, page, "give INSTANCE=REASON", "nothing</textarea>")
	contains(t, s.get(400, "/benchmarks/new?taskset=none"), "no task set has this id or name")
	s.get(404, "/benchmarks/none")
	s.get(400, "/benchmarks?unnamed=perhaps")
}

func TestTheListOfBenchmarksMarksThoseWithoutAName(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.verified()
	s.post(201, "/v1/benchmarks", `{"name":"held","taskset":"verified","held_out":true,"limits":{"max_turns":200,"max_context_tokens":131072}}`, nil)
	s.post(201, "/v1/benchmarks", `{"name":"seeded","taskset":"verified","tasks":5,"seed":7}`, nil)
	s.evaluate()
	named, all := s.get(200, "/benchmarks"), s.get(200, "/benchmarks?unnamed=true")
	contains(t, named, "held", "seeded", "drawn from all tasks with seed 7", "131072")
	contains(t, all, "held", "no name", "what an evaluation or a sample drew")
	if strings.Contains(named, "no name") {
		t.Error("the list has benchmarks without a name")
	}
	p := webtest.Open(t, s.URL+"/benchmarks?unnamed=true")
	p.Look("benchmarks")
	p.Click("tbody tr:nth-child(1) td a") // the newest
	p.Wait("document.querySelector('h1')?.innerText.startsWith('Benchmark without a name')")
	p.Look("benchmark-unnamed")
}

func TestAnIterationShowsItsBenchmarks(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.begin("drawn", "T", "T")
	name := "../runs/m?x=1#"
	reserve := func(name string) {
		s.must(s.store.CreateBenchmark(t.Context(), relabel.Benchmark{Name: name, TasksetID: s.run.TasksetID,
			Source: relabel.BenchmarkSource{Kind: relabel.FromInstances}, Limits: relabel.PaperLimits}, s.taskIDs(1)))
	}
	reserve(name)
	it := s.iterate(`{"student":"drawn-student","allow_benchmarks":["`+name+`"]}`, "..")
	page := s.get(200, "/iterations/"+it.ID.String())
	contains(t, page, `href="/benchmarks/..%2Fruns%2Fm%3Fx=1%23"`)
	if strings.Contains(page, "reserved since") {
		t.Error("the benchmark that it allows reserves its tasks since")
	}
	contains(t, s.get(200, "/benchmarks/..%2Fruns%2Fm%3Fx=1%23"), "../runs/m?x=1#")
	reserve("later")
	contains(t, s.get(200, "/iterations/"+it.ID.String()), "reserved since", "<b>1</b> of its tasks, not exported")
}

// An evaluation on a benchmark has its tasks, limits and task set, however often and in whichever run.
func TestAnEvaluationRepeatedOnABenchmarkHasTheSameTasks(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.verified()
	s.post(201, "/v1/benchmarks", `{"name":"verified-11","taskset":"verified","tasks":6,"seed":3,"limits":{"max_turns":9}}`, nil)
	b, err := s.store.FindBenchmarkByName(t.Context(), "verified-11")
	s.must(err)
	tasks, err := s.store.ListBenchmarkTasks(t.Context(), b.ID)
	s.must(err)
	other := s.run
	other.ID, other.Name, other.Seed = relabel.NewID(), "other", 99
	s.must(s.store.CreateRun(t.Context(), other))
	first := s.run
	for i, run := range []relabel.Run{first, first, other} {
		s.run = run
		it := s.iterate(onVerified, "......")
		draw, err := s.store.FindDraw(t.Context(), it.ID)
		s.must(err)
		if *it.BenchmarkID != b.ID || draw.TasksetID != set.ID || it.Limits == nil || it.Limits.MaxTurns != 9 || len(draw.Instances) != 6 {
			t.Errorf("evaluation %d: %+v of %+v", i, it, draw)
		}
		for k, task := range tasks {
			if draw.Instances[k] != task.InstanceID {
				t.Errorf("evaluation %d rolls out %v", i, draw.Instances)
			}
		}
	}
	s.run = first
	ended := s.iterate(onVerified, "-.....")
	trajectories, err := s.store.ListTrajectories(t.Context(), relabel.TrajectoryFilter{IterationID: &ended.ID, State: relabel.Done}, relabel.Newest, relabel.Page{})
	s.must(err)
	contains(t, s.head(trajectories.Items[0]), "(9), without a valid submission") // the benchmark's turns, not the run's
	contains(t, s.get(200, "/iterations/"+ended.ID.String()), "9 turns, 65536 tokens")
	var list struct{ Items []relabel.Results }
	s.must(json.Unmarshal([]byte(s.get(200, "/v1/benchmarks/"+b.ID.String()+"/evaluations")), &list))
	if len(list.Items) != 4 || list.Items[1].Run != "other" || list.Items[3].Number != 1 || list.Items[3].Open != 6 || list.Items[0].Benchmark != "verified-11" {
		t.Errorf("%+v", list.Items)
	}
	contains(t, s.get(200, "/benchmarks/verified-11"), ">other</a>", ">demo</a>", "6 open")
}

// An evaluation is started on a benchmark from the page of a run.
func TestThePageOfARunEvaluatesOnABenchmark(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.verified()
	s.post(201, "/v1/benchmarks", `{"name":"verified-11","taskset":"verified","held_out":true}`, nil)
	run := "/runs/" + s.run.ID.String()
	page := s.get(200, run+"/start?kind=evaluate&benchmark=verified-11")
	contains(t, page, "Queues 3 trajectories", `&#34;benchmark&#34;:&#34;verified-11&#34;`)
	for _, field := range []string{"held_out", "instances", "again", "tasks", "allow_benchmarks"} {
		if strings.Contains(page, ` name="`+field+`"`) {
			t.Errorf("a benchmark with a field %s", field)
		}
	}
	contains(t, s.get(400, run+"/start?kind=evaluate&benchmark=none"), "no benchmark has this id or name")
	p := webtest.Open(t, s.URL+run+"/start?kind=evaluate&benchmark=verified-11")
	p.Click("button.main")
	p.Wait("document.querySelector('h1')?.innerText.startsWith('evaluate 1')")
	if text := p.Text("main"); !strings.Contains(text, "0 of 3") {
		t.Errorf("it shows %s", text)
	}
}

package web_test

import (
	"strings"
	"testing"

	"relabel"
	"relabel/web/webtest"
)

// rounds makes a run of three collect iterations and an evaluation, with turns, calls,
// failures and a missing label.
func (s *site) rounds() {
	s.t.Helper()
	ctx := s.t.Context()
	s.rollout()
	set, err := s.store.FindTaskset(ctx, s.run.TasksetID)
	s.must(err)
	tasks, _, err := s.store.ListTasks(ctx, set.ID, 0, relabel.Page{Limit: 10})
	s.must(err)
	s.must(s.store.Fail(ctx, s.claim(s.queued()), relabel.FailVerifier, "no log"))
	for number := 2; number <= 3; number++ {
		beta := 1 - 0.2*float64(number)
		it := relabel.Iteration{ID: relabel.NewID(), RunID: s.run.ID, Number: number, Kind: relabel.Collect, StudentID: s.iteration.StudentID, Beta: &beta, Generations: 1, State: relabel.IterationRunning}
		var planned []relabel.Trajectory
		for _, task := range tasks {
			planned = append(planned, relabel.Trajectory{ID: relabel.NewID(), RunID: s.run.ID, IterationID: it.ID, TaskID: task.ID, InstanceID: task.InstanceID,
				Iteration: number, Kind: relabel.Collect, State: relabel.Queued, Executors: relabel.Executors(strings.Repeat("sT", relabel.PaperLimits.MaxTurns/2))})
		}
		s.must(s.store.CreateIteration(ctx, relabel.PlannedIteration{Iteration: it, Trajectories: planned}))
		for i, tr := range planned {
			f := s.claim(tr)
			for t := 1; t <= 6+2*i; t++ {
				label := s.label(bash("", "ls"))
				command := "ls"
				if (t+i+number)%3 == 0 {
					command = "cat setup.py"
				}
				if t%2 == 0 {
					label = nil
				}
				s.must(s.store.CommitTurn(ctx, f, s.turn(t, bash("", command), label, "a")))
				micros := int64(1500)
				for _, policy := range []relabel.ID{s.run.TeacherID, s.iteration.StudentID} {
					s.must(s.store.RecordCall(ctx, relabel.Call{PolicyID: policy, TrajectoryID: &tr.ID, Purpose: relabel.PurposeAct, Tries: 1, Usage: &relabel.Usage{PromptTokens: 4000 * t, CompletionTokens: 90}, CostMicros: &micros}))
				}
			}
			s.must(s.store.RecordTime(ctx, f, relabel.TimeSpent{Start: 900, Model: 60000, Sandbox: 9000, Endpoint: 20000, Labels: 1500, Verify: 8000, Engine: 40, Database: 70}))
			s.end(f, patch, relabel.Verdict{Passed: i < number-1, Reason: "tests"})
		}
	}
	s.evaluate()
}

// queued is a trajectory of the run that waits.
func (s *site) queued() relabel.Trajectory {
	s.t.Helper()
	list, err := s.store.ListTrajectories(s.t.Context(), relabel.TrajectoryFilter{RunID: &s.run.ID, State: relabel.Queued}, relabel.Newest, relabel.Page{Limit: 1})
	s.must(err)
	return list.Items[0]
}

func TestARunsPageShowsItsIterationsAsCharts(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.rounds()
	page := s.get(200, "/runs/"+s.run.ID.String())
	contains(t, page, "Why they failed", "1: the sandbox or its engine failed", "1: the verifier failed", "1: a label is missing")
	p := webtest.Open(t, s.URL+"/runs/"+s.run.ID.String())
	p.Wait("document.querySelectorAll('.chart canvas').length === document.querySelectorAll('.chart').length && document.querySelectorAll('.chart').length >= 7")
	for chart, values := range map[string][]string{"resolved": {"iteration3", "mixture66.67%"}, "mixture": {"planned β40% (20.4% to 59.6%)", "realised50%"}} { // at rest
		if text := p.Text("#" + chart + " .u-legend"); !strings.Contains(text, values[0]) || !strings.Contains(text, values[1]) || strings.Contains(text, "chance") || strings.Contains(text, "low") {
			t.Errorf("the legend of %s: %q", chart, text)
		}
	}
	p.Click("#resolved summary")
	if text := p.Text("#resolved .wide table"); !strings.Contains(text, "3\t66.7%") || !strings.Contains(text, "2\t33.3%") {
		t.Errorf("the table of what is resolved: %q", text)
	}
	p.Click("#mixture summary")
	if text := p.Text("#mixture .wide table"); !strings.Contains(text, "60.0% (20.8% to 99.2%)\t50.0%") {
		t.Errorf("the table of the mixture: %q", text)
	}
	p.Eval("document.querySelectorAll('details[open]').forEach(d => d.open = false)", nil)
	p.Look("run-charts")

	p.Click(".operations a[href$='/start']")
	p.Wait("document.querySelector('#operation .costs')")
	p.Type("#operation [name=tasks]", "2\t")
	p.Wait(`document.querySelector("#operation #curl").textContent.includes('"tasks":2')`)
	if text := p.Text("#operation .costs"); !strings.Contains(text, "turns\t16\tfrom collect 3: 3 trajectories") || !strings.Contains(text, "minutes") {
		t.Errorf("the costs: %q", text)
	}
	p.Look("start")
	p.Click("#operation button.main")
	p.Wait("location.pathname.startsWith('/iterations/')")
	contains(t, p.Text("h1"), "collect 4")
	p.Look("iteration-new")
	its, err := s.store.ListIterations(t.Context(), s.run.ID)
	s.must(err)
	if n := len(its); n != 5 {
		t.Errorf("%d iterations, want one more than 4", n)
	}
	_, err = s.store.CancelIteration(t.Context(), its[4].ID) // tells nothing of costs
	s.must(err)
	contains(t, s.get(200, "/runs/"+s.run.ID.String()+"/start?tasks=2"), ">from collect 3: 3 trajectories<")
	contains(t, s.get(200, "/iterations/"+its[2].ID.String()+"/relabel"), ">up to 900 000<")
}

func TestWhatFailedIsRetriedByItsReason(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.rounds()
	p := webtest.Open(t, s.URL+"/iterations/"+s.iteration.ID.String())
	p.Look("iteration")
	p.Click(".operations a[href$='/retry']")
	p.Wait("document.querySelector('#operation').open")
	p.Click("#operation input[value=verifier]")
	p.Wait(`document.querySelector("#operation #curl").textContent.includes('{"reasons":["verifier"]}')`)
	p.Wait("document.querySelector('#operation').innerText.includes('Queues 1 trajectories again')")
	p.Click("#operation button.main")
	p.Wait("!document.querySelector('main').innerText.includes('the verifier failed') && document.querySelector('main').innerText.includes('the sandbox or its engine failed')")
	p.Click(".operations a[href$='/relabel']")
	p.Wait("document.querySelector('#operation [name=policy]')")
	p.Click("#operation button.main")
	p.Wait("document.querySelector('main').innerText.includes('Other teachers')")
}

func TestTheFirstPageSaysWhatNeedsAttention(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := webtest.Open(t, s.URL+"/")
	p.Wait("document.querySelector('main').innerText.includes('Getting started')")
	p.Wait("document.querySelector('#live-state').textContent === 'live'")
	p.Look("home-empty")
	all := s.begin("fresh", "T", "T")
	p.Wait("document.querySelector('main').innerText.includes('0 of 2')") // without a reload
	s.must(s.store.Fail(t.Context(), s.claim(all[0]), relabel.FailImageMissing, "no image"))
	p.Wait("document.querySelector('.concerns')?.innerText.includes('image cannot be pulled')")
	p.Wait("document.querySelector('.concerns').innerText.includes('without a worker')")
	contains(t, s.get(200, "/runs/"+s.run.ID.String()), "without a worker")
	contains(t, s.get(200, "/iterations/"+s.iteration.ID.String()), "without a worker")
	p.Look("home-live")
	p.Click(".concerns a[href*='failure=image_missing']")
	p.Wait("location.pathname === '/trajectories' && document.querySelectorAll('tbody tr').length === 1")
}

package main

import (
	"context"
	"net/url"
	"strings"

	"relabel"
	"relabel/api"
)

// evaluation is a student's result on the held-out tasks.
type evaluation struct {
	Iteration   relabel.ID     `json:"iteration"`
	Tasks       int            `json:"tasks"`
	Solved      int            `json:"solved"`       // resolved
	FirstFailed int            `json:"first_failed"` // the first check failed
	Recovered   int            `json:"recovered"`    // of these: solved all the same
	Unchecked   int            `json:"unchecked"`    // never ran the checks
	Wrong       int            `json:"wrong"`        // finished, and not solved
	Unfinished  int            `json:"unfinished"`
	Turns       int            `json:"turns"`
	Ways        map[string]way `json:"ways"` // by task
	Ends        map[string]int `json:"ends"` // trajectories by end
}

// way is how a student fared with a task.
type way struct {
	Solved bool   `json:"solved"`
	First  string `json:"first"` // the first check: passed, failed, none
}

// The results of a first check.
const (
	firstPassed = "passed"
	firstFailed = "failed"
	firstNone   = "none"
)

// benchmark is the name of the benchmark with the held-out tasks, which are the same for all seeds.
const benchmark = "repair-held-out"

// createBenchmark stores the held-out tasks of a seed's task set as the benchmark, unless there is one.
func (l *loop) createBenchmark(ctx context.Context, seed int) error {
	_, err := l.client.Benchmark(ctx, benchmark)
	if relabel.CodeOf(err) != relabel.CodeNotFound {
		return err
	}
	_, err = l.client.CreateBenchmark(ctx, api.NewBenchmark{Name: benchmark, Taskset: taskset(seed), HeldOut: true, Limits: &limits})
	return err
}

// evaluate rolls out a student alone, greedily, on the benchmark.
func (l *loop) evaluate(ctx context.Context, s *student) (e evaluation, err error) {
	policy, err := l.serve(ctx, *s)
	if err != nil {
		return e, err
	}
	s.Policy = policy.ID // of this server, where an earlier one was stopped
	it, err := l.iterate(ctx, s.Run, api.NewIteration{Kind: relabel.Evaluate, Student: policy.ID.String(), Benchmark: benchmark})
	if err != nil {
		return e, err
	}
	all, err := l.client.Trajectories(ctx, url.Values{"iteration": {it.ID.String()}})
	if err != nil {
		return e, err
	}
	e = evaluation{Iteration: it.ID, Ways: map[string]way{}, Ends: map[string]int{}}
	for _, tr := range all {
		first, err := l.firstCheck(ctx, tr.ID)
		if err != nil {
			return e, err
		}
		e.add(tr, first)
	}
	return e, nil
}

// add counts a trajectory.
func (e *evaluation) add(tr relabel.Trajectory, first string) {
	w := way{Solved: tr.Resolved != nil && *tr.Resolved, First: first}
	e.Ways[tr.InstanceID] = w
	e.Tasks++
	e.Turns += tr.Turns
	e.Ends[string(tr.EndReason)]++
	e.Solved += count(w.Solved)
	e.FirstFailed += count(first == firstFailed)
	e.Recovered += count(first == firstFailed && w.Solved)
	e.Unchecked += count(first == firstNone)
	e.Wrong += count(tr.EndReason == relabel.EndFinish && !w.Solved)
	e.Unfinished += count(tr.EndReason != relabel.EndFinish)
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// firstCheck is the result of the first time that check.py ran in a trajectory.
func (l *loop) firstCheck(ctx context.Context, id relabel.ID) (string, error) {
	page, err := l.client.Turns(ctx, id, url.Values{"limit": {"100"}})
	for _, turn := range page.Items {
		for _, o := range turn.Observations {
			if result := checkResult(o.Content); result != firstNone {
				return result, err
			}
		}
	}
	return firstNone, err
}

// checkResult reads what check.py printed; "none" if it is not from check.py.
func checkResult(observation string) string {
	if observation == "all passed" {
		return firstPassed
	}
	for _, begins := range []string{"FAIL ", "SyntaxError: ", "OSError: "} {
		if strings.HasPrefix(observation, begins) && !strings.Contains(observation, "\n") {
			return firstFailed
		}
	}
	return firstNone
}

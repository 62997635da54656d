package e2e

import (
	"net/url"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"relabel"
)

// Two agents sleep in their sandboxes while the labels of their first turns never come.
func TestTopShowsWhatEveryTrajectoryDoes(t *testing.T) {
	t.Parallel()
	l, s := newLab(t), &sleeper{}
	endpoint := listenFor(t, s)
	endless := relabel.PolicyLimits{Concurrency: 4, TimeoutSeconds: 3600}
	b := newBench(t, l, relabel.Policy{Name: "never", BaseURL: endpoint + "/never/v1", Model: "m", Limits: endless})
	if said := l.must(t, "top", "--once"); !strings.Contains(said, "1 worker, 0 of 0 trajectories ended, 0 turns") {
		t.Errorf("nothing is there: %s", said)
	}
	worker := l.start(t, "worker", "--metrics", "127.0.0.1:0", "--rollouts", "1", "--prefetch", "0") // what it claims has a place
	at := regexp.MustCompile(`metrics are at (http://\S+)/metrics`)
	eventually(t, "the worker says where its metrics are", func() bool { return at.MatchString(worker.said.String()) })
	run := b.run(t, "endless", nothingElse)
	// Earlier versions took such names.
	_, err := l.connect(t).Exec(t.Context(), `ALTER TABLE runs DISABLE TRIGGER USER; UPDATE runs SET name = E'endless\x1b[2J'; ALTER TABLE runs ENABLE TRIGGER USER`)
	noError(t, err)
	id := b.start(t, run, b.policy(t, relabel.Policy{Name: "naps", BaseURL: endpoint + "/v1", Model: "m", Limits: endless}), map[string]any{"beta": 0})
	instance := l.instance(t)
	eventually(t, "two agents sleep and two labels are waited for", func() bool { return l.naps(t, instance) == 2 && s.waiting.Load() == 2 })
	all, err := b.api.Trajectories(t.Context(), url.Values{"iteration": {id.String()}})
	noError(t, err)
	var said string
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("top says\n%s", said)
		}
	})
	lines := func(pattern string) int {
		return len(regexp.MustCompile(`(?m)`+pattern).FindAllString(said, -1))
	}
	eventually(t, "top shows all of it", func() bool {
		said = l.must(t, "top", "--once")
		return lines(`^[0-9a-f-]{36} +calc__\w+ +\S+ +1 +1 +sandbox +\d+\.\ds +1$`) == 2 &&
			lines(`^endless \[2J +running +0 of 2 +0 +2 +0 +0 +0 +0 +0 +0 +0 +–$`) == 1 && lines(`^\S+:\d+ +working +\d+ +\d +\d +0 `) == 2 &&
			lines(`^`+regexp.QuoteMeta(endpoint)+`/never/v1 +2 of \d +0 +0 +0 +(up|down: .+)$`) == 1 // down once a probe was slow
	})
	for _, j := range all {
		if !strings.Contains(said, j.ID.String()) {
			t.Errorf("%s is not shown", j.InstanceID)
		}
	}
	if n := lines(`\x1b`); n > 0 {
		t.Errorf("a name steers the terminal: %q", said)
	}
	own := scrape(t, b.api.Base)
	other := scrape(t, at.FindStringSubmatch(worker.said.String())[1])
	if n := own[`relabel_worker_rollouts{phase="sandbox"}`] + other[`relabel_worker_rollouts{phase="sandbox"}`]; n != 2 {
		t.Errorf("%v trajectories are in the sandbox, in all", n)
	}
	if _, there := other["relabel_database_up"]; there {
		t.Error("a worker tells what the server tells already")
	}
	l.must(t, "run", "cancel", id.String())
	if code := worker.signal(syscall.SIGTERM); code != 0 {
		t.Errorf("the worker ended with %d: %s", code, worker.said.String())
	}
}

package e2e

import (
	"bufio"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"relabel"
	"relabel/policy/scripted"
)

// scraped are the values of a scrape, by name and labels as they stand there.
type scraped map[string]float64

// scrape reads the metrics at url, which must be without a fault.
func scrape(t testing.TB, url string) scraped {
	t.Helper()
	answer, err := http.Get(url + "/metrics")
	noError(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	noError(t, err)
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("a scrape is answered with %s: %s", answer.Status, body)
	}
	faults, err := promlint.New(strings.NewReader(string(body))).Lint()
	noError(t, err)
	for _, f := range faults {
		t.Errorf("%s: %s", f.Metric, f.Text)
	}
	values := scraped{}
	for lines := bufio.NewScanner(strings.NewReader(string(body))); lines.Scan(); {
		name, value, found := strings.Cut(lines.Text(), "} ")
		if found {
			name += "}"
		} else {
			name, value, _ = strings.Cut(lines.Text(), " ")
		}
		if strings.HasPrefix(name, "#") {
			continue
		}
		v, err := strconv.ParseFloat(value, 64)
		noError(t, err)
		values[name] = v
	}
	return values
}

// sum adds up what begins so.
func (s scraped) sum(prefix string) (all float64) {
	for name, v := range s {
		if strings.HasPrefix(name, prefix) {
			all += v
		}
	}
	return all
}

// TestMetricsMoveWithACollection collects a round and holds the metrics against it.
func TestMetricsMoveWithACollection(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	m := newModels(t, l, scripted.Config{})
	b := newBench(t, l, m.teacher())
	if before := scrape(t, b.api.Base); before[`relabel_trajectories{state="done"}`] != 0 || before["relabel_sandbox_exec_seconds_count"] != 0 || before["relabel_database_up"] != 1 {
		t.Errorf("before anything happened: %v", before)
	}
	r := b.collect(t, b.run(t, "first", nil), b.policy(t, m.student("0.5")), map[string]any{"beta": 0.5})
	if t.Failed() {
		return
	}
	asked := m.count()
	var now scraped
	eventually(t, "the overview is read again", func() bool {
		now = scrape(t, b.api.Base)
		return now[`relabel_trajectories{state="done"}`] == float64(len(r.trajectories))
	})
	turns, calls, teacher := 0, 0, 0
	for _, j := range r.trajectories {
		turns += j.Turns
		for _, turn := range j.turns {
			for _, o := range turn.Observations {
				if o.CallID != "" {
					calls++
				}
			}
			if turn.Executor == relabel.Teacher {
				teacher++
			}
		}
	}
	for name, want := range map[string]int{
		`relabel_turns_total{executor="teacher"}`:                    teacher,
		`relabel_turns_total{executor="student"}`:                    turns - teacher,
		`relabel_stored_turns{executor="teacher"}`:                   teacher,
		`relabel_labels_total{status="received"}`:                    turns,
		`relabel_stored_labels{status="received"}`:                   turns,
		`relabel_stored_labels{status="pending"}`:                    0,
		`relabel_commit_seconds_count`:                               turns,
		`relabel_sandbox_exec_seconds_count`:                         calls,
		`relabel_sandbox_start_seconds_count{outcome="ready"}`:       len(r.trajectories),
		`relabel_worker_rollouts{phase="sandbox"}`:                   0,
		`relabel_queue_jobs{queue="export"}`:                         0,
		`relabel_lease_takeovers_total`:                              0,
		`relabel_endpoint_up{endpoint="` + m.url + `"}`:              1,
		`relabel_endpoint_calls_in_flight{endpoint="` + m.url + `"}`: 0,
		`relabel_replayed_turns_total`:                               0,
	} {
		if got, there := now[name]; !there || got != float64(want) {
			t.Errorf("%s is %v (%v), want %d", name, got, there, want)
		}
	}
	used := 0
	for _, j := range r.trajectories {
		for _, call := range j.calls {
			if call.Usage != nil {
				used += call.Usage.CompletionTokens
			}
		}
	}
	if got := now.sum("relabel_call_seconds_count{"); got != float64(asked) || asked == 0 {
		t.Errorf("%v requests are counted, %d were made", got, asked)
	}
	if got := now.sum(`relabel_tokens_total{kind="completion"`); got != float64(used) || used == 0 {
		t.Errorf("%v tokens are counted, the calls have %d", got, used)
	}
	// The times of a test's models and sandboxes vary, but all must be counted.
	for _, name := range []string{"relabel_rollout_seconds_total{", "relabel_commit_seconds_sum", "relabel_sandbox_start_seconds_sum", "relabel_critical_path_ideal_seconds"} {
		if now.sum(name) <= 0 {
			t.Errorf("%s is %v", name, now.sum(name))
		}
	}
	if e := now["relabel_critical_path_efficiency_ratio"]; e <= 0 || e > 1 {
		t.Errorf("an efficiency of %v", e)
	}
	for name := range now {
		if id := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}|calc__`).FindString(name); id != "" {
			t.Errorf("%s names one thing of many", name)
		}
	}
	b.spentIsRight(t, r)
}

// spentIsRight holds the time report of a run against its trajectories.
func (b *bench) spentIsRight(t *testing.T, r round) {
	t.Helper()
	var run struct {
		relabel.TimeReport
		Iterations []relabel.IterationTime `json:"iterations"`
	}
	noError(t, b.api.get(t.Context(), "/v1/runs/"+r.RunID.String()+"/time", &run))
	var sum relabel.TimeReport
	for _, j := range r.trajectories {
		var one relabel.TimeReport
		noError(t, b.api.get(t.Context(), "/v1/trajectories/"+j.ID.String()+"/time", &one))
		var sandbox int64
		for _, turn := range j.turns {
			sandbox += turn.Time.Sandbox
		}
		whole := j.EndedAt.Sub(*j.StartedAt).Milliseconds()
		if d := one.Spent.Sandbox - sandbox; one.Attempts != 1 || d < 0 || d > int64(j.Turns) || one.Ideal > one.Actual || one.Actual > whole+1 {
			t.Errorf("%s: %+v, of turns with %d ms in the sandbox, within %d ms", j.InstanceID, one, sandbox, whole)
		}
		var parts int64
		for _, ms := range one.Spent.Parts() {
			parts += ms
		}
		if parts > whole+1 || parts < whole*9/10 {
			t.Errorf("%s: parts of %d ms of %d", j.InstanceID, parts, whole)
		}
		sum = sum.Add(one)
	}
	if run.Spent != sum.Spent || run.Ideal != sum.Ideal || run.Actual != sum.Actual || len(run.Iterations) != 1 || run.Iterations[0].Spent != sum.Spent {
		t.Errorf("the run says %+v, its trajectories %+v", run, sum)
	}
}

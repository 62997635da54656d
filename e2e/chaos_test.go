package e2e

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/volume"

	"github.com/docker/docker/api/types/filters"

	"relabel"
	"relabel/api"
	"relabel/store/localpg"
	"relabel/store/storetest"
)

// The extent of the chaos in `make test`. `make chaos` has more.
const (
	usualKills   = 4
	usualMinutes = 0.15
	// With RELABEL_TEST_ALL, so that each disturbance has its turn.
	everyKind = 12
)

// The workers, and the limits of the test.
const (
	workerCount   = 3
	chaosLease    = 4 * time.Second
	chaosPatience = 15 * time.Minute // for disturbed trajectories to end
)

// chaos is a server and workers with their own Postgres, real sandboxes and faulty models.
// Random parts are killed, without any effect on the data.
type chaos struct {
	*bench
	t       *testing.T
	seed    uint64
	random  *rand.Rand
	kills   int           // in all
	pace    time.Duration // between two kills, on average
	width   int           // trajectories of each task in a round; another round starts when fewer are left
	pg      *localpg.Server
	folder  string          // of Postgres
	line    *storetest.Line // the workers' connections to it
	models  *faultyModels
	workers []*chaosWorker
	exited  []*chaosWorker
	watcher *watcher
	counts  map[string]int
	first   []int // disturbances before the random ones, each once
	run     relabel.Run
	student relabel.Policy
	rounds  []relabel.ID
}

// chaosWorker is a worker that may be stopped.
type chaosWorker struct {
	*process
	wake time.Time // when it was stopped: when it resumes
}

// TestChaos kills, stops and breaks random parts of a collection. Nothing may be lost, repeated or
// left over, and the data set must be that of an undisturbed run. RELABEL_CHAOS_KILLS,
// RELABEL_CHAOS_MINUTES and RELABEL_CHAOS_SEED set the extent, the duration and the random numbers.
func TestChaos(t *testing.T) {
	if setting("RELABEL_CHAOS_KILLS", 0) == 0 {
		t.Parallel()
	}
	c := newChaos(t)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("to repeat it: make chaos SEED=%d KILLS=%d MINUTES=%g; the output of the processes is in %s", c.seed, c.kills,
				(time.Duration(c.kills) * c.pace).Minutes(), c.keepOutput())
		}
	})
	t.Logf("seed %d, %d kills, one in %s", c.seed, c.kills, c.pace.Round(time.Millisecond))
	begun := time.Now()
	c.disturbAll()
	calm := time.Now()
	c.models.stopFaults()
	c.settle(c.rounds)
	settled := time.Now()
	c.watcher.stop()
	c.watcher.check(t, c)
	c.checkEnds()
	c.models.check(t, c)
	c.nothingLeft()
	undisturbed := c.undisturbed()
	c.compare(undisturbed)
	c.stopAll()
	t.Logf("%s of kills, %s until all trajectories were done, %s undisturbed: %s", calm.Sub(begun).Round(time.Second), settled.Sub(calm).Round(time.Second),
		time.Since(settled).Round(time.Second), c.tally())
}

// setting reads a number from the environment.
func setting(name string, usual float64) float64 {
	n, err := strconv.ParseFloat(os.Getenv(name), 64)
	if err != nil {
		return usual
	}
	return n
}

func newChaos(t *testing.T) *chaos {
	t.Helper()
	kills, minutes := float64(usualKills), usualMinutes
	if os.Getenv("RELABEL_TEST_ALL") != "" {
		kills, minutes = everyKind, usualMinutes*everyKind/usualKills
	}
	seed := uint64(setting("RELABEL_CHAOS_SEED", float64(time.Now().UnixNano()%1e9)))
	c := &chaos{t: t, seed: seed, random: rand.New(rand.NewPCG(seed, 1)), counts: map[string]int{},
		kills: int(setting("RELABEL_CHAOS_KILLS", kills)), folder: openFolder(t)}
	c.width = min(2+c.kills/20, 6)
	minutes = setting("RELABEL_CHAOS_MINUTES", minutes)
	c.pace = time.Duration(minutes * float64(time.Minute) / float64(max(c.kills, 1)))
	c.first = c.random.Perm(len(disturbances))
	c.startPostgres()
	t.Cleanup(func() { noError(t, c.pg.Stop(bounded(t))) })
	l := newLocalLab(t, t.TempDir())
	l.database = c.pg.URL()
	c.line = storetest.NewLine(t, l.database)
	l.env = append(l.env, "RELABEL_LEASE="+chaosLease.String(), "RELABEL_ROLLOUTS=3", "RELABEL_PREFETCH=1")
	c.bench = &bench{lab: l}
	c.server, c.api = l.serve(t, "--no-work")
	c.models = newFaultyModels(t, l, seed)
	limits := relabel.PolicyLimits{Concurrency: 16, TimeoutSeconds: 4, Retries: 20, PatienceSeconds: 600}
	c.bench.seed(t, relabel.Policy{Name: "teacher", BaseURL: c.models.url, Model: c.models.teacher().Model, Server: relabel.ServerScripted, Limits: limits})
	student := c.models.student("0.6")
	student.Server, student.Limits = relabel.ServerScripted, limits
	c.student = c.policy(t, student)
	c.run = c.newRun("disturbed")
	c.watcher = watch(t, c)
	for range workerCount {
		c.workers = append(c.workers, c.startWorker())
	}
	return c
}

// newRun makes a run. All have the same seed.
func (c *chaos) newRun(name string) relabel.Run {
	return c.bench.run(c.t, name, map[string]any{"limits": map[string]any{"max_turns": 14, "environment_retries": 100}})
}

func (c *chaos) startPostgres() {
	c.t.Helper()
	pg, err := localpg.Start(bounded(c.t), c.folder, "max_connections=200")
	noError(c.t, err)
	c.pg = pg
}

// startWorker starts another worker.
func (c *chaos) startWorker() *chaosWorker {
	there := c.place
	there.database = c.line.URL
	return &chaosWorker{process: there.start(c.t, "worker", "--grace", "20s")}
}

// disturbAll disturbs the collection as often as requested, and starts rounds so that there is always work.
func (c *chaos) disturbAll() {
	for n := 0; n < c.kills; {
		c.pause(time.Duration((0.5 + c.random.Float64()) * float64(c.pace)))
		name := c.disturb()
		if name == "" {
			continue // there is nothing of this kind
		}
		n++
		c.counts[name]++
		if n%20 == 0 {
			c.t.Logf("%d kills: %s", n, c.tally())
		}
	}
}

// pause waits. Meanwhile it resumes stopped workers, replaces workers that ended, and starts another
// round before the work runs out.
func (c *chaos) pause(d time.Duration) {
	if c.waitingFor() < c.width {
		c.rounds = append(c.rounds, c.round(c.run))
	}
	for end := time.Now().Add(d); ; time.Sleep(50 * time.Millisecond) {
		c.replace(false)
		if time.Now().After(end) {
			return
		}
	}
}

// replace resumes workers that were stopped for long enough, or all, and replaces those that ended.
func (c *chaos) replace(all bool) {
	for i, h := range c.workers {
		if !h.wake.IsZero() && (all || time.Now().After(h.wake)) {
			noError(c.t, h.cmd.Process.Signal(syscall.SIGCONT))
			h.wake = time.Time{}
			c.models.resumed(time.Now())
		}
		select {
		case <-h.done:
			c.exited = append(c.exited, h)
			c.workers[i] = c.startWorker()
		default:
		}
	}
}

// waitingFor is the number of unfinished trajectories.
func (c *chaos) waitingFor() (n int) {
	conn := c.connect(c.t)
	noError(c.t, conn.QueryRow(bounded(c.t), "SELECT count(*) FROM trajectories WHERE state NOT IN ('done', 'failed', 'cancelled')").Scan(&n))
	noError(c.t, conn.Close(bounded(c.t)))
	return n
}

// round starts a round of a run.
func (c *chaos) round(run relabel.Run) relabel.ID {
	return c.bench.start(c.t, run, c.student, map[string]any{"beta": 0.5, "generations": c.width, "allow_weights": []string{"unchecked"}}) // its model gives no log-probabilities of next tokens
}

// settle waits until all trajectories have ended.
func (c *chaos) settle(rounds []relabel.ID) {
	c.t.Helper()
	c.replace(true)
	for end := time.Now().Add(chaosPatience); ; time.Sleep(200 * time.Millisecond) {
		c.replace(true)
		if c.waitingFor() == 0 {
			break
		}
		if time.Now().After(end) {
			c.t.Fatalf("%d trajectories do not end", c.waitingFor())
		}
	}
	for _, id := range rounds {
		var it api.IterationView
		noError(c.t, c.api.get(c.t.Context(), "/v1/iterations/"+id.String(), &it))
		if it.State != relabel.IterationDone {
			c.t.Errorf("iteration %d is %s", it.Number, it.State)
		}
	}
}

// checkEnds fails unless each trajectory is done, ended once, and has one label at each state.
func (c *chaos) checkEnds() {
	c.t.Helper()
	for what, query := range map[string]string{
		"trajectories are not done":                                     "SELECT count(*) FROM trajectories WHERE state <> 'done'",
		"trajectories have not exactly one end":                         "SELECT count(*) FROM (SELECT 1 FROM trajectories tr LEFT JOIN events e ON e.trajectory_id = tr.id AND e.state IN ('done', 'failed', 'cancelled') GROUP BY tr.id HAVING count(e) <> 1) x",
		"trajectories have another number of turns than their row says": "SELECT count(*) FROM trajectories tr WHERE turns <> (SELECT count(*) FROM turns tu WHERE tu.trajectory_id = tr.id AND tu.attempt = tr.attempt)",
		"trajectories lack labels":                                      "SELECT count(*) FROM trajectories WHERE labels_received <> turns",
		"turns have not exactly one label": `SELECT count(*) FROM (SELECT 1 FROM turns tu JOIN trajectories tr ON (tr.id, tr.attempt) = (tu.trajectory_id, tu.attempt)
			LEFT JOIN actions a ON (a.trajectory_id, a.attempt, a.t, a.status) = (tu.trajectory_id, tu.attempt, tu.t, 'received')
				AND (a.policy_id, a.sample) = (tu.label_policy_id, tu.label_sample)
			GROUP BY tu.trajectory_id, tu.t HAVING count(a) <> 1) x`,
		"turns are in attempts that are neither done nor diverged": `SELECT count(*) FROM turns tu JOIN attempts a ON (a.trajectory_id, a.number) = (tu.trajectory_id, tu.attempt)
			WHERE a.outcome NOT IN ('done', 'diverged')`,
	} {
		var n int
		noError(c.t, c.connect(c.t).QueryRow(bounded(c.t), query).Scan(&n))
		if n != 0 {
			c.t.Errorf("%d %s", n, what)
		}
	}
	for _, why := range c.texts("SELECT instance_id || ' ' || state || ' ' || coalesce(failure_detail, '') FROM trajectories tr JOIN tasks ta ON ta.id = tr.task_id WHERE state <> 'done'") {
		c.t.Error(why)
	}
}

// texts reads one column.
func (c *chaos) texts(query string, args ...any) (all []string) {
	c.t.Helper()
	rows, err := c.connect(c.t).Query(bounded(c.t), query, args...)
	noError(c.t, err)
	for rows.Next() {
		var s string
		noError(c.t, rows.Scan(&s))
		all = append(all, s)
	}
	noError(c.t, rows.Err())
	return all
}

// nothingLeft fails unless the living workers remove what the others left.
func (c *chaos) nothingLeft() {
	c.t.Helper()
	instance := c.instance(c.t)
	eventually(c.t, "no sandbox is left", func() bool { return len(c.sandboxes(c.t, instance)) == 0 })
	ours := filters.NewArgs(filters.Arg("label", "relabel.instance="+instance))
	volumes, err := c.engine.VolumeList(bounded(c.t), volume.ListOptions{Filters: ours})
	noError(c.t, err)
	networks, err := c.engine.NetworkList(bounded(c.t), network.ListOptions{Filters: ours})
	noError(c.t, err)
	if len(volumes.Volumes)+len(networks) > 0 {
		c.t.Errorf("%d volumes and %d networks are left", len(volumes.Volumes), len(networks))
	}
}

// undisturbed rolls the same rounds out without disturbances.
func (c *chaos) undisturbed() relabel.Run {
	run := c.newRun("undisturbed")
	var rounds []relabel.ID
	for range c.rounds {
		rounds = append(rounds, c.round(run))
	}
	c.settle(rounds)
	return run
}

// stopAll stops the workers and the server, which must not leave anything either.
func (c *chaos) stopAll() {
	instance := c.instance(c.t)
	for _, h := range c.workers {
		if code := h.signal(syscall.SIGTERM); code != 0 {
			c.t.Errorf("a worker ended with %d", code)
		}
	}
	if code := c.server.signal(syscall.SIGTERM); code != 0 {
		c.t.Errorf("the server ended with %d", code)
	}
	if left := c.sandboxes(c.t, instance); len(left) > 0 {
		c.t.Errorf("%d sandboxes are left", len(left))
	}
}

// tally counts the disturbances by kind.
func (c *chaos) tally() string {
	var s []string
	for _, name := range slices.Sorted(maps.Keys(c.counts)) {
		s = append(s, fmt.Sprintf("%d × %s", c.counts[name], name))
	}
	return strings.Join(s, ", ")
}

// keepOutput writes the output of the processes to a folder that is kept after the test.
func (c *chaos) keepOutput() string {
	dir, err := os.MkdirTemp("", "relabel-chaos-")
	if err != nil {
		return err.Error()
	}
	write(c.t, dir, "server.log", c.server.said.String())
	for _, h := range slices.Concat(c.exited, c.workers) {
		write(c.t, dir, filepath.Base(fmt.Sprintf("worker-%d.log", h.cmd.Process.Pid)), h.said.String())
	}
	return dir
}

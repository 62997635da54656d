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

// The chaos that an ordinary test run brings about. `make chaos` asks for more.
const (
	usualKills   = 4
	usualMinutes = 0.15
)

// The crew of workers, and what they roll out.
const (
	crewSize      = 3
	chaosLease    = 4 * time.Second
	chaosPatience = 15 * time.Minute // for what was disturbed to come to its end
)

// chaos is a server and a crew of workers over a Postgres of their own, real sandboxes
// and models that misbehave. Things are killed at random; nothing may come of it.
type chaos struct {
	*bench
	t       *testing.T
	seed    uint64
	random  *rand.Rand
	kills   int           // how many are to come
	pace    time.Duration // between two, on average
	width   int           // trajectories of each task in a round; another is begun when fewer are to come
	pg      *localpg.Server
	folder  string          // of Postgres
	line    *storetest.Line // by which the crew has it
	models  *unruly
	crew    []*hand
	fallen  []*hand
	watcher *watcher
	struck  map[string]int
	first   []int // faults that come before the random ones, each once
	run     relabel.Run
	student relabel.Policy
	rounds  []relabel.ID
}

// hand is a worker of the crew.
type hand struct {
	*process
	wake time.Time // when it was stopped: when it resumes
}

// TestChaos kills, stops and breaks random parts of a collection, and then
// demands that nothing was lost, doubled or left, and that the data set is that of a run
// which nothing befell. RELABEL_CHAOS_KILLS, RELABEL_CHAOS_MINUTES and RELABEL_CHAOS_SEED
// say how much, how long and with which random numbers.
func TestChaos(t *testing.T) {
	if setting("RELABEL_CHAOS_KILLS", 0) == 0 {
		t.Parallel()
	}
	c := newChaos(t)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("again: make chaos SEED=%d KILLS=%d MINUTES=%g; what the processes said is in %s", c.seed, c.kills,
				(time.Duration(c.kills) * c.pace).Minutes(), c.keepWords())
		}
	})
	t.Logf("seed %d, %d kills, one in %s", c.seed, c.kills, c.pace.Round(time.Millisecond))
	begun := time.Now()
	c.rage()
	calm := time.Now()
	c.models.calm()
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
	t.Logf("%s of kills, %s until all was done, %s undisturbed: %s", calm.Sub(begun).Round(time.Second), settled.Sub(calm).Round(time.Second),
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
	seed := uint64(setting("RELABEL_CHAOS_SEED", float64(time.Now().UnixNano()%1e9)))
	c := &chaos{t: t, seed: seed, random: rand.New(rand.NewPCG(seed, 1)), struck: map[string]int{},
		kills: int(setting("RELABEL_CHAOS_KILLS", usualKills)), folder: openFolder(t)}
	c.width = min(2+c.kills/20, 6)
	minutes := setting("RELABEL_CHAOS_MINUTES", usualMinutes)
	c.pace = time.Duration(minutes * float64(time.Minute) / float64(max(c.kills, 1)))
	c.first = c.random.Perm(len(blows))
	c.startPostgres()
	t.Cleanup(func() { noError(t, c.pg.Stop(bounded(t))) })
	l := newLocalLab(t, t.TempDir())
	l.database = c.pg.URL()
	c.line = storetest.NewLine(t, l.database)
	l.env = append(l.env, "RELABEL_LEASE="+chaosLease.String(), "RELABEL_ROLLOUTS=3", "RELABEL_PREFETCH=1")
	c.bench = &bench{lab: l}
	c.server, c.api = l.serve(t, "--no-work")
	c.models = newUnruly(t, l, seed)
	limits := relabel.PolicyLimits{Concurrency: 16, TimeoutSeconds: 4, Retries: 20, PatienceSeconds: 600}
	c.bench.seed(t, relabel.Policy{Name: "teacher", BaseURL: c.models.url, Model: c.models.teacher().Model, Server: relabel.ServerScripted, Limits: limits})
	student := c.models.student("0.6")
	student.Server, student.Limits = relabel.ServerScripted, limits
	c.student = c.policy(t, student)
	c.run = c.newRun("disturbed")
	c.watcher = watch(t, c)
	for range crewSize {
		c.crew = append(c.crew, c.hire())
	}
	return c
}

// newRun makes a run; those of any name have the same seed.
func (c *chaos) newRun(name string) relabel.Run {
	return c.bench.run(c.t, name, map[string]any{"limits": map[string]any{"max_turns": 14, "environment_retries": 100}})
}

func (c *chaos) startPostgres() {
	c.t.Helper()
	pg, err := localpg.Start(bounded(c.t), c.folder, "max_connections=200")
	noError(c.t, err)
	c.pg = pg
}

// hire starts another worker.
func (c *chaos) hire() *hand {
	there := c.place
	there.database = c.line.URL
	return &hand{process: there.start(c.t, "worker", "--grace", "20s")}
}

// rage kills until enough was killed, and sees to it that there is always work.
func (c *chaos) rage() {
	for n := 0; n < c.kills; {
		c.rest(time.Duration((0.5 + c.random.Float64()) * float64(c.pace)))
		name := c.strike()
		if name == "" {
			continue // there was nothing of the kind to strike
		}
		n++
		c.struck[name]++
		if n%20 == 0 {
			c.t.Logf("%d kills: %s", n, c.tally())
		}
	}
}

// rest waits, and meanwhile wakes who was stopped, replaces who has gone, and starts
// another round before the work runs out.
func (c *chaos) rest(d time.Duration) {
	if c.waitingFor() < c.width {
		c.rounds = append(c.rounds, c.round(c.run))
	}
	for end := time.Now().Add(d); ; time.Sleep(50 * time.Millisecond) {
		c.mend(false)
		if time.Now().After(end) {
			return
		}
	}
}

// mend wakes who was stopped for long enough, or everybody, and replaces who has gone.
func (c *chaos) mend(all bool) {
	for i, h := range c.crew {
		if !h.wake.IsZero() && (all || time.Now().After(h.wake)) {
			noError(c.t, h.cmd.Process.Signal(syscall.SIGCONT))
			h.wake = time.Time{}
			c.models.woken(time.Now())
		}
		select {
		case <-h.done:
			c.fallen = append(c.fallen, h)
			c.crew[i] = c.hire()
		default:
		}
	}
}

// waitingFor is how many trajectories are not at their end.
func (c *chaos) waitingFor() (n int) {
	conn := c.connect(c.t)
	noError(c.t, conn.QueryRow(bounded(c.t), "SELECT count(*) FROM trajectories WHERE state NOT IN ('done', 'failed', 'cancelled')").Scan(&n))
	noError(c.t, conn.Close(bounded(c.t)))
	return n
}

// round starts a round of a run.
func (c *chaos) round(run relabel.Run) relabel.ID {
	return c.bench.start(c.t, run, c.student, map[string]any{"beta": 0.5, "generations": c.width})
}

// settle lets everything come to its end.
func (c *chaos) settle(rounds []relabel.ID) {
	c.t.Helper()
	c.mend(true)
	for end := time.Now().Add(chaosPatience); ; time.Sleep(200 * time.Millisecond) {
		c.mend(true)
		if c.waitingFor() == 0 {
			break
		}
		if time.Now().After(end) {
			c.t.Fatalf("%d trajectories do not come to their end", c.waitingFor())
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

// checkEnds demands that each trajectory came to exactly one end, a good one, with one
// label at each state.
func (c *chaos) checkEnds() {
	c.t.Helper()
	for what, query := range map[string]string{
		"trajectories are not done":                   "SELECT count(*) FROM trajectories WHERE state <> 'done'",
		"trajectories have not exactly one end":       "SELECT count(*) FROM (SELECT 1 FROM trajectories tr LEFT JOIN events e ON e.trajectory_id = tr.id AND e.state IN ('done', 'failed', 'cancelled') GROUP BY tr.id HAVING count(e) <> 1) x",
		"trajectories do not have the turns they say": "SELECT count(*) FROM trajectories tr WHERE turns <> (SELECT count(*) FROM turns tu WHERE tu.trajectory_id = tr.id AND tu.attempt = tr.attempt)",
		"labels are not there":                        "SELECT count(*) FROM trajectories WHERE labels_received <> turns",
		"turns have not exactly one label": `SELECT count(*) FROM (SELECT 1 FROM turns tu JOIN trajectories tr ON (tr.id, tr.attempt) = (tu.trajectory_id, tu.attempt)
			LEFT JOIN actions a ON (a.trajectory_id, a.attempt, a.t, a.status) = (tu.trajectory_id, tu.attempt, tu.t, 'received')
				AND (a.policy_id, a.sample) = (tu.label_policy_id, tu.label_sample)
			GROUP BY tu.trajectory_id, tu.t HAVING count(a) <> 1) x`,
		"turns stand in attempts that neither ended well nor diverged": `SELECT count(*) FROM turns tu JOIN attempts a ON (a.trajectory_id, a.number) = (tu.trajectory_id, tu.attempt)
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

// nothingLeft demands that the workers which live clear away what others left.
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

// undisturbed rolls the same rounds out in peace.
func (c *chaos) undisturbed() relabel.Run {
	run := c.newRun("undisturbed")
	var rounds []relabel.ID
	for range c.rounds {
		rounds = append(rounds, c.round(run))
	}
	c.settle(rounds)
	return run
}

// stopAll ends server and crew in order; they leave nothing either.
func (c *chaos) stopAll() {
	instance := c.instance(c.t)
	for _, h := range c.crew {
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

// tally counts the injected faults by kind.
func (c *chaos) tally() string {
	var s []string
	for _, name := range slices.Sorted(maps.Keys(c.struck)) {
		s = append(s, fmt.Sprintf("%d × %s", c.struck[name], name))
	}
	return strings.Join(s, ", ")
}

// keepWords writes the output of the processes to a folder that is kept after the test.
func (c *chaos) keepWords() string {
	dir, err := os.MkdirTemp("", "relabel-chaos-")
	if err != nil {
		return err.Error()
	}
	write(c.t, dir, "server.log", c.server.said.String())
	for _, h := range slices.Concat(c.fallen, c.crew) {
		write(c.t, dir, filepath.Base(fmt.Sprintf("worker-%d.log", h.cmd.Process.Pid)), h.said.String())
	}
	return dir
}

package e2e

import (
	"strconv"
	"strings"
	"syscall"
	"time"

	"relabel/store/storetest"
)

// disturbance is one way to disturb. apply reports false if it is not possible now.
type disturbance struct {
	name   string
	weight int // how often it is drawn, relative to the others
	apply  func(*chaos) bool
}

var disturbances = []disturbance{
	{"worker killed", 30, (*chaos).killWorker},
	{"worker stopped past its lease", 10, (*chaos).stopWorker},
	{"worker drained", 5, (*chaos).drainWorker},
	{"container killed", 15, (*chaos).killContainer},
	{"sandboxd killed", 10, (*chaos).killSandboxd},
	{"connections dropped", 8, (*chaos).dropConnections},
	{"line cut in a statement", 8, func(c *chaos) bool { return c.cutLine("") }},
	{"line cut in a commit", 8, func(c *chaos) bool { return c.cutLine("commit; ") }},
	{"postgres restarted", 4, (*chaos).restartPostgres},
	{"postgres crashed", 3, (*chaos).crashPostgres},
	{"models silent", 8, (*chaos).silenceModels},
}

// disturb applies a disturbance and returns its name; "" if it was not possible. Each is applied
// once first, then they are drawn by weight.
func (c *chaos) disturb() string {
	var drawn disturbance
	if len(c.first) > 0 {
		drawn = disturbances[c.first[0]]
	} else {
		n := c.random.IntN(weights())
		for _, drawn = range disturbances {
			if n -= drawn.weight; n < 0 {
				break
			}
		}
	}
	if !drawn.apply(c) {
		return ""
	}
	c.first = c.first[min(1, len(c.first)):]
	return drawn.name
}

func weights() (all int) {
	for _, b := range disturbances {
		all += b.weight
	}
	return all
}

// anyWorker draws a worker that runs and is not stopped.
func (c *chaos) anyWorker() *chaosWorker {
	var there []*chaosWorker
	for _, h := range c.workers {
		select {
		case <-h.done:
		default:
			if h.wake.IsZero() {
				there = append(there, h)
			}
		}
	}
	if len(there) == 0 {
		return nil
	}
	return there[c.random.IntN(len(there))]
}

func (c *chaos) killWorker() bool {
	h := c.anyWorker()
	return h != nil && h.cmd.Process.Kill() == nil
}

func (c *chaos) stopWorker() bool {
	h := c.anyWorker()
	if h == nil || h.cmd.Process.Signal(syscall.SIGSTOP) != nil {
		return false
	}
	h.wake = time.Now().Add(chaosLease + time.Duration(c.random.Int64N(int64(4*time.Second))))
	return true
}

func (c *chaos) drainWorker() bool {
	h := c.anyWorker()
	return h != nil && h.cmd.Process.Signal(syscall.SIGTERM) == nil
}

// anySandbox draws a running sandbox.
func (c *chaos) anySandbox() (id string) {
	var running []string
	for _, s := range c.sandboxes(c.t, c.instance(c.t)) {
		if s.State == "running" {
			running = append(running, s.ID)
		}
	}
	if len(running) == 0 {
		return ""
	}
	return running[c.random.IntN(len(running))]
}

func (c *chaos) killContainer() bool {
	id := c.anySandbox()
	return id != "" && c.engine.ContainerKill(bounded(c.t), id, "KILL") == nil
}

// killSandboxd kills the program in a sandbox from outside, as an out-of-memory killer
// would.
func (c *chaos) killSandboxd() bool {
	id := c.anySandbox()
	if id == "" {
		return false
	}
	top, err := c.engine.ContainerTop(bounded(c.t), id, []string{"-eo", "pid,args"})
	if err != nil {
		return false // it has just ended
	}
	for _, p := range top.Processes {
		if pid, err := strconv.Atoi(p[0]); err == nil && strings.HasSuffix(p[1], "/sandboxd serve") {
			return syscall.Kill(pid, syscall.SIGKILL) == nil
		}
	}
	return false
}

// dropConnections ends about half of the open connections.
func (c *chaos) dropConnections() bool {
	conn := c.connect(c.t)
	var n int
	err := conn.QueryRow(bounded(c.t), `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
		WHERE application_name = 'relabel' AND random() < 0.5`).Scan(&n)
	return err == nil && n > 0
}

// cutLine cuts one of the next exchanges of a worker with Postgres: before or in the statement, or
// before or in the answer. sql is the statement, "" for any.
func (c *chaos) cutLine(sql string) bool {
	which, done := 1+c.random.IntN(5), false
	c.line.CutAt(storetest.Cuts[c.random.IntN(len(storetest.Cuts))], func(n int, said string) bool {
		turn := strings.Contains(said, "FROM room; INSERT INTO actions") // it commits in the same exchange as its rows
		now := !done && (sql == "" && n >= which || sql != "" && (said == sql || turn))
		done = done || now
		return now
	})
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if c.line.WasCut() != "" {
			return true
		}
	}
	c.line.CutAt(0, nil)
	return false
}

func (c *chaos) restartPostgres() bool {
	noError(c.t, c.pg.Stop(bounded(c.t)))
	time.Sleep(time.Duration(c.random.Int64N(int64(2 * time.Second)))) // unavailable for a while
	c.startPostgres()
	return true
}

// crashPostgres ends it at once, so that it must recover from its log.
func (c *chaos) crashPostgres() bool {
	pid, err := strconv.Atoi((&stopped{bench: &bench{lab: &lab{place: place{data: c.folder}}}}).postmaster(c.t))
	noError(c.t, err)
	noError(c.t, syscall.Kill(pid, syscall.SIGQUIT))
	eventually(c.t, "Postgres has gone", func() bool { return !alive(strconv.Itoa(pid)) })
	noError(c.t, c.pg.Stop(bounded(c.t)))
	c.startPostgres()
	return true
}

func (c *chaos) silenceModels() bool {
	c.models.away(time.Duration(2+c.random.IntN(3)) * time.Second)
	return true
}

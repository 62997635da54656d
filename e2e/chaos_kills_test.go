package e2e

import (
	"strconv"
	"strings"
	"syscall"
	"time"

	"relabel/store/storetest"
)

// blow is one way to disturb; it reports false if there is nothing to strike.
type blow struct {
	name   string
	weight int // how often it comes, against the others
	strike func(*chaos) bool
}

var blows = []blow{
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
	{"models away", 8, (*chaos).silenceModels},
}

// strike carries out a blow, and names it; "" if there was nothing to strike. Each has
// its turn first; from then on they come by their weights.
func (c *chaos) strike() string {
	var drawn blow
	if len(c.first) > 0 {
		drawn = blows[c.first[0]]
	} else {
		n := c.random.IntN(weights())
		for _, drawn = range blows {
			if n -= drawn.weight; n < 0 {
				break
			}
		}
	}
	if !drawn.strike(c) {
		return ""
	}
	c.first = c.first[min(1, len(c.first)):]
	return drawn.name
}

func weights() (all int) {
	for _, b := range blows {
		all += b.weight
	}
	return all
}

// standing draws a worker that is there and not stopped.
func (c *chaos) standing() *hand {
	var there []*hand
	for _, h := range c.crew {
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
	h := c.standing()
	return h != nil && h.cmd.Process.Kill() == nil
}

func (c *chaos) stopWorker() bool {
	h := c.standing()
	if h == nil || h.cmd.Process.Signal(syscall.SIGSTOP) != nil {
		return false
	}
	h.wake = time.Now().Add(chaosLease + time.Duration(c.random.Int64N(int64(4*time.Second))))
	return true
}

func (c *chaos) drainWorker() bool {
	h := c.standing()
	return h != nil && h.cmd.Process.Signal(syscall.SIGTERM) == nil
}

// box draws a running sandbox.
func (c *chaos) box() (id string) {
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
	id := c.box()
	return id != "" && c.engine.ContainerKill(bounded(c.t), id, "KILL") == nil
}

// killSandboxd kills the program in a sandbox from outside, as an out-of-memory killer
// would.
func (c *chaos) killSandboxd() bool {
	id := c.box()
	if id == "" {
		return false
	}
	top, err := c.engine.ContainerTop(bounded(c.t), id, []string{"-eo", "pid,args"})
	if err != nil {
		return false // it has ended meanwhile
	}
	for _, p := range top.Processes {
		if pid, err := strconv.Atoi(p[0]); err == nil && strings.HasSuffix(p[1], "/sandboxd serve") {
			return syscall.Kill(pid, syscall.SIGKILL) == nil
		}
	}
	return false
}

// dropConnections ends about half of the connections that are open.
func (c *chaos) dropConnections() bool {
	conn := c.connect(c.t)
	var n int
	err := conn.QueryRow(bounded(c.t), `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
		WHERE application_name = 'relabel' AND random() < 0.5`).Scan(&n)
	return err == nil && n > 0
}

// cutLine cuts one of the next exchanges of some worker with Postgres: before it, in it, or
// before or in its answer. sql is its text, "" for any.
func (c *chaos) cutLine(sql string) bool {
	which, done := 1+c.random.IntN(5), false
	c.line.CutAt(storetest.Cuts[c.random.IntN(len(storetest.Cuts))], func(n int, said string) bool {
		turn := strings.Contains(said, "FROM room; INSERT INTO actions") // it commits in one exchange with its rows
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
	time.Sleep(time.Duration(c.random.Int64N(int64(2 * time.Second)))) // away for a while
	c.startPostgres()
	return true
}

// crashPostgres ends it at once: it has to recover from its log.
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

package rollout

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/rs/zerolog"

	"relabel"
	"relabel/mixer"
	"relabel/policy"
	"relabel/store"
	"relabel/store/storetest"
	"relabel/worker"
)

// dying is a model endpoint at a real address. It answers with finish, or is dead.
type dying struct {
	way  atomic.Value // "": it answers; port, hang, reset, 503
	url  string
	http *httptest.Server
}

func newDying(t *testing.T, way string) *dying {
	t.Helper()
	d := &dying{}
	d.way.Store(way)
	d.http = httptest.NewServer(d)
	d.url = d.http.URL + "/v1"
	t.Cleanup(func() {
		d.way.Store("")
		d.http.CloseClientConnections()
		d.http.Close()
	})
	if way == "port" {
		d.way.Store("")
		d.http.Close()
	}
	return d
}

// revive lets it answer from now on.
func (d *dying) revive(t *testing.T) {
	t.Helper()
	if d.way.Swap("") != "" {
		d.http.CloseClientConnections()
		return
	}
	l, err := net.Listen("tcp", d.http.Listener.Addr().String())
	noError(t, err)
	d.http = &httptest.Server{Listener: l, Config: &http.Server{Handler: d}}
	d.http.Start()
}

func (d *dying) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	switch way := d.way.Load(); way {
	case "hang":
		<-r.Context().Done()
	case "503":
		w.WriteHeader(http.StatusServiceUnavailable)
	case "reset":
		if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
			c.(*net.TCPConn).SetLinger(0)
			c.Close()
		}
	default:
		io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"done","tool_calls":[{"id":"1","type":"function","function":{"name":"finish","arguments":"{}"}}]},"finish_reason":"stop"}]}`)
	}
}

// stage is an episode without a sandbox.
type stage struct{ open *atomic.Int64 }

func (s stage) Execute(_ context.Context, t int, a relabel.Message) (obs []relabel.Observation, finished bool, err error) {
	for k, c := range a.ToolCalls {
		obs = append(obs, relabel.Observation{CallID: relabel.CallID(t, k), Tool: c.Name, Content: "ok"})
	}
	return obs, len(a.ToolCalls) > 0, nil
}
func (stage) Tree(context.Context) (string, error)        { return "tree", nil }
func (stage) Patch(context.Context) ([]byte, bool, error) { return []byte("diff"), true, nil }
func (stage) Sandbox() (host, container string)           { return "host", "container" }
func (s stage) Close(context.Context) error               { s.open.Add(-1); return nil }

// crew is workers of few slots over one database.
type crew struct {
	db   *store.Store
	open atomic.Int64 // sandboxes
	most atomic.Int64
}

// hire starts a worker of two slots.
func (c *crew) hire(t *testing.T, name string) {
	t.Helper()
	log := zerolog.Nop()
	known := policy.NewEndpoints(policy.Observe{})
	clients := worker.NewClients(worker.ClientsConfig{Record: c.db.RecordCall, Connect: func(p relabel.Policy, record worker.RecordCall) (worker.Client, error) {
		return policy.Open(p, policy.Options{Endpoints: known, Record: record})
	}})
	mix := mixer.New(mixer.Config{Store: c.db, Owner: name, Slots: mixer.Slots{Rollouts: 2, Prefetch: 1}, Wait: 10 * time.Second, Log: log, Environment: mixer.Environment{
		Start: func(context.Context, relabel.Claim) (mixer.Episode, error) {
			if n := c.open.Add(1); n > c.most.Load() {
				c.most.Store(n)
			}
			return stage{&c.open}, nil
		},
		Parse: func(relabel.Claim, []relabel.Message, relabel.Message) relabel.ParseOutcome { return relabel.ParsedOK },
		Verify: func(context.Context, relabel.Claim, []byte) (relabel.Verdict, error) {
			return relabel.Verdict{Reason: "tests"}, nil
		},
		Policy: func(p relabel.Policy) (mixer.Policy, error) { return clients.Open(p) }, Down: clients.Down,
	}})
	workers := river.NewWorkers()
	river.AddWorker(workers, mixer.NewWorker(mix))
	client, err := worker.NewQueue(c.db, c.db.Clock(), name, workers, map[string]river.QueueConfig{"rollout": {MaxWorkers: 3}})
	noError(t, err)
	noError(t, client.Start(context.Background()))
	ctx, cancel := context.WithCancel(context.Background())
	endpoints, err := worker.NewEndpoints(worker.EndpointsConfig{Watch: known.Watch, Wake: c.db.BalanceWakeups, Log: log,
		Read: func() (statuses []relabel.EndpointStatus) {
			for _, e := range known.Standings() {
				if e.Down != "" || e.Alive {
					statuses = append(statuses, relabel.EndpointStatus{URL: e.URL, Down: e.Down})
				}
			}
			return statuses
		},
		Publish: func(ctx context.Context, statuses []relabel.EndpointStatus) error {
			return c.db.SeeEndpoints(ctx, name, statuses)
		}})
	noError(t, err)
	endpoints.Start(ctx)
	var balancing sync.WaitGroup
	balancing.Go(func() { balance(ctx, c.db) })
	t.Cleanup(func() {
		cancel()
		endpoints.Stop()
		balancing.Wait()
		mix.Drain()
		mix.Cut()
		noError(t, client.StopAndCancel(context.Background()))
		_, err := mix.Wait(context.Background())
		noError(t, err)
	})
}

// balance replaces lost wake-ups, as a worker's recovery does.
func balance(ctx context.Context, db *store.Store) {
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	for ctx.Err() == nil {
		_ = db.BalanceWakeups(ctx)
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// queue queues n trajectories of two turns of a run whose policies are at these addresses.
func (c *crew) queue(t *testing.T, n int, teacher, student, executors string, beta float64) storetest.Seeded {
	t.Helper()
	d := storetest.SeedWith(t, c.db, n, func(d *storetest.Seeded) {
		for _, of := range []struct {
			policy *relabel.Policy
			url    string
		}{{&d.Teacher, teacher}, {&d.Student, student}} {
			p := *of.policy
			p.ID, p.BaseURL, p.Server, p.Name = relabel.ID{}, of.url, relabel.ServerGeneric, "p-"+relabel.NewID().String()
			p.Limits.TimeoutSeconds = 20 // so long a call in flight keeps its trajectory
			var err error
			*of.policy, err = c.db.CreatePolicy(context.Background(), p)
			noError(t, err)
		}
		d.Run.TeacherID, d.Iteration.StudentID, d.Iteration.Beta = d.Teacher.ID, d.Student.ID, &beta
		for i := range d.Trajectories {
			d.Trajectories[i].Executors = relabel.Executors(executors)
		}
	})
	return d
}

// count counts a run's trajectories that a condition holds for.
func (c *crew) count(t *testing.T, d storetest.Seeded, where string) (n int) {
	t.Helper()
	noError(t, c.db.Pool().QueryRow(context.Background(), "SELECT count(*) FROM trajectories tr WHERE run_id = $1 AND "+where, d.Run.ID).Scan(&n))
	return n
}

// wait waits until n of a run's trajectories are as a condition says.
func (c *crew) wait(t *testing.T, d storetest.Seeded, where string, n int) time.Duration {
	t.Helper()
	begun := time.Now()
	for time.Since(begun) < 3*time.Minute {
		if c.count(t, d, where) >= n {
			return time.Since(begun)
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("only %d of %d trajectories are %s", c.count(t, d, where), n, where)
	return 0
}

func TestAHealthyRunGetsItsShareBesideOneWithADeadEndpoint(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, way string
		workers   int
		labels    bool // the dead one is the teacher, asked for labels alone
	}{
		{"a dead port", "port", 1, false},
		{"a server that never answers", "hang", 1, false},
		{"a server that answers 503", "503", 1, false},
		{"a server that resets", "reset", 1, false},
		{"a server that never answers, two workers", "hang", 2, false},
		{"a dead teacher that labels", "hang", 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &crew{db: storetest.New(t)}
			living, dead := newDying(t, ""), newDying(t, c.way)
			teacher, student := living.url, dead.url
			if c.labels {
				teacher, student = student, teacher
			}
			ill := s.queue(t, 40, teacher, student, "ss", 0)
			for i := range c.workers {
				s.hire(t, "w"+strings.Repeat("'", i))
			}
			s.wait(t, ill, "owner IS NOT NULL", 2) // it has the slots
			healthy := s.queue(t, 40, living.url, living.url, "ss", 0)
			t.Logf("the first was done after %s", s.wait(t, healthy, "state = 'done'", 1).Round(100*time.Millisecond))
			t.Logf("all were done after %s more", s.wait(t, healthy, "state = 'done'", 40).Round(100*time.Millisecond))
			if n := s.count(t, ill, "state = 'done'"); n > 0 {
				t.Errorf("%d are done without their endpoint", n)
			}
			s.wait(t, ill, "state = 'queued'", 40) // they wait without a slot and without a sandbox
			if n := s.open.Load(); n > 0 {
				t.Errorf("%d sandboxes are kept for what waits", n)
			}
			if most := s.most.Load(); most > int64(5*c.workers) {
				t.Errorf("%d sandboxes at once", most)
			}
			checkOutage(t, s, ill, c.labels)
			dead.revive(t)
			t.Logf("back, all were done after %s", s.wait(t, ill, "state = 'done'", 40).Round(100*time.Millisecond))
			if n := s.count(t, ill, "environment_failures > 0 OR failure IS NOT NULL OR labels_received < turns"); n > 0 {
				t.Errorf("%d paid for the outage", n)
			}
		})
	}
}

// checkOutage looks at what is said of the outage.
func checkOutage(t *testing.T, s *crew, ill storetest.Seeded, labels bool) {
	t.Helper()
	outages, err := s.db.ListOutages(context.Background(), &ill.Run.ID)
	noError(t, err)
	role := relabel.Student
	if labels {
		role = relabel.Teacher
	}
	if len(outages) != 1 || outages[0].Role != role || outages[0].Reason == "" || outages[0].Waiting != 40 && !labels {
		t.Errorf("outages: %+v", outages)
	}
}

package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/rs/zerolog"

	"relabel"
	"relabel/envs"
	"relabel/envs/fleet"
	"relabel/envs/scaffold/openhands"
	"relabel/mixer"
	"relabel/policy"
	"relabel/store"
)

// planVariable holds the orders of a process that a benchmark starts.
const planVariable = "RELABEL_BENCH_ORDERS"

// orders say what such a process does.
type orders struct {
	Database string
	Name     string
	Rollouts int
	Hosts    []string
	Times    times
	Profile  string // folder
	Hammer   bool   // writes to the store as fast as it can
	Turns    int    // of what it writes
	Exports  string // folder: it builds exports, there
	Check    string // folder of an export: it checks that
}

// process is a process that a benchmark started.
type process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	said  *json.Decoder
}

// start starts this program again with orders. It ends with the benchmark.
func start(b *testing.B, o orders) *process {
	b.Helper()
	o.Profile = *profile
	text, err := json.Marshal(o)
	must(b, err)
	p := &process{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), planVariable+"="+string(text), "GOGC=50") // as relabel sets it
	p.cmd.Stderr = os.Stderr
	p.stdin, err = p.cmd.StdinPipe()
	must(b, err)
	out, err := p.cmd.StdoutPipe()
	must(b, err)
	p.said = json.NewDecoder(out)
	must(b, p.cmd.Start())
	b.Cleanup(func() { _ = p.stop() })
	return p
}

// hear reads what the process says next.
func (p *process) hear(b *testing.B, into any) {
	b.Helper()
	must(b, p.said.Decode(into))
}

// gone gives an error once a process that has nothing more to say has ended.
func (p *process) gone() <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- p.said.Decode(new(any)) }()
	return ended
}

// stop ends the process.
func (p *process) stop() error { return errors.Join(p.stdin.Close(), p.cmd.Wait()) }

// work takes rollouts from the queue as `relabel worker` does, until standard input ends.
func work(ctx context.Context, o orders) error {
	stop, err := profiling(o)
	if err != nil {
		return err
	}
	s, err := store.Open(ctx, o.Database)
	if err != nil {
		return err
	}
	defer s.Close()
	engines, err := newFleet(ctx, o)
	if err != nil {
		return err
	}
	defer engines.Close()
	mix := mixer.New(mixer.Config{Store: s, Environment: world(o, s, engines), Owner: o.Name, Slots: mixer.Slots{Rollouts: o.Rollouts}, Log: zerolog.Nop()})
	workers := river.NewWorkers()
	river.AddWorker(workers, mixer.NewWorker(mix))
	client, err := take(ctx, s, o, workers, relabel.Repair.Queue(), o.Rollouts)
	if err != nil {
		return err
	}
	looking, end := context.WithCancel(ctx)
	go look(looking, s, o)
	fmt.Println(`"ready"`)
	_, _ = io.Copy(io.Discard, os.Stdin)
	mix.Cut()
	ending, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err = client.StopAndCancel(ending)
	_, late := mix.Wait(ending)
	end()
	return errors.Join(err, late, stop())
}

// take starts to take jobs from a queue, that many at once.
func take(ctx context.Context, s *store.Store, o orders, workers *river.Workers, queue string, most int) (*river.Client[pgx.Tx], error) {
	client, err := river.NewClient(riverpgxv5.New(s.Pool()), &river.Config{
		Schema: s.Schema(), Workers: workers, JobTimeout: -1, ID: o.Name, Logger: slog.New(slog.DiscardHandler),
		Queues: map[string]river.QueueConfig{queue: {MaxWorkers: most}},
	})
	if err != nil {
		return nil, err
	}
	return client, client.Start(ctx)
}

// look does what each worker does every few seconds.
func look(ctx context.Context, s *store.Store, o orders) {
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	for {
		mine, err := s.TakeTurn(ctx, 5*time.Second/2)
		if mine {
			_, err = s.RecoverAbandoned(ctx, func(string) bool { return false })
		}
		err = errors.Join(err, s.SeeWorker(ctx, relabel.Worker{Name: o.Name, Machine: "bench", Process: os.Getpid(),
			DockerHosts: o.Hosts, Rollouts: o.Rollouts, Version: "bench"}))
		if err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "looking:", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// newFleet joins the hosts, with a slot for each rollout.
func newFleet(ctx context.Context, o orders) (*fleet.Fleet, error) {
	config := fleet.Config{Log: zerolog.Nop()}
	for _, name := range o.Hosts {
		config.Members = append(config.Members, fleet.Member{Engine: &host{name: name, times: o.Times}, Slots: o.Rollouts/len(o.Hosts) + 1})
	}
	return fleet.New(ctx, config)
}

// world is the real scaffold and the real client, on sandboxes that only take time.
func world(o orders, s *store.Store, engines envs.Host) mixer.Environment {
	options := policy.Options{Endpoints: policy.NewEndpoints(policy.Observe{}), Record: s.RecordCall,
		Seen: func(ctx context.Context, m relabel.ModelSeen) error {
			_, err := s.RecordModel(ctx, m)
			return err
		}}
	var mu sync.Mutex
	clients := map[relabel.ID]*policy.Client{}
	return mixer.Environment{
		Start: func(ctx context.Context, c relabel.Claim) (mixer.Episode, error) {
			return openhands.Start(ctx, engines, c)
		},
		Parse: func(c relabel.Claim, state []relabel.Message, action relabel.Message) relabel.ParseOutcome {
			return openhands.Parse(c.Run.Prompts.Tools, action)
		},
		Verify: func(ctx context.Context, _ relabel.Claim, _ []byte) (relabel.Verdict, error) {
			return relabel.Verdict{Passed: true, Reason: "tests", Output: []byte("1 passed")}, spend(ctx, o.Times.Verify)
		},
		Policy: func(p relabel.Policy) (mixer.Policy, error) {
			mu.Lock()
			defer mu.Unlock()
			if c, ok := clients[p.ID]; ok {
				return c, nil
			}
			c, err := policy.Open(p, options)
			if err == nil {
				clients[p.ID] = c
			}
			return c, err
		},
	}
}

// profiling writes profiles of this process until stop, where a folder is given.
func profiling(o orders) (stop func() error, err error) {
	if o.Profile == "" {
		return func() error { return nil }, nil
	}
	cpu, err := os.Create(filepath.Join(o.Profile, o.Name+".cpu"))
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return nil, err
	}
	return func() error {
		pprof.StopCPUProfile()
		heap, err := os.Create(filepath.Join(o.Profile, o.Name+".heap"))
		if err != nil {
			return err
		}
		return errors.Join(cpu.Close(), pprof.WriteHeapProfile(heap), heap.Close())
	}, nil
}

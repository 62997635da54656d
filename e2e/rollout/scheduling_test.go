package rollout

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/rs/zerolog"

	"relabel"
	"relabel/chat"
	"relabel/mixer"
	"relabel/store"
	"relabel/store/storetest"
	"relabel/worker"
)

// quickEnvironment is a world without models and sandboxes, where a turn takes a moment.
func quickEnvironment(turn time.Duration) mixer.Environment {
	return mixer.Environment{
		Start: func(context.Context, relabel.Claim) (mixer.Episode, error) { return quickEpisode{turn}, nil },
		Verify: func(context.Context, relabel.Claim, []byte) (relabel.Verdict, error) {
			return relabel.Verdict{Passed: true, Reason: "tests"}, nil
		},
		Policy: func(relabel.Policy) (mixer.Policy, error) { return quickPolicy{}, nil },
		Parse:  func(relabel.Claim, []relabel.Message, relabel.Message) relabel.ParseOutcome { return relabel.ParsedOK },
	}
}

type quickPolicy struct{}

func (quickPolicy) Complete(_ context.Context, req relabel.ChatRequest) (relabel.Completion, error) {
	m := relabel.Message{Role: relabel.RoleAssistant, Content: fmt.Sprint("turn ", req.T), ToolCalls: []relabel.ToolCall{{ID: "x", Name: "execute_bash", Arguments: "{}"}}}
	return relabel.Completion{Raw: chat.AppendMessage(nil, m), Message: m, FinishReason: "tool_calls"}, nil
}

type quickEpisode struct{ turn time.Duration }

func (e quickEpisode) Execute(ctx context.Context, t int, _ relabel.Message) ([]relabel.Observation, bool, error) {
	select {
	case <-ctx.Done():
		return nil, false, ctx.Err()
	case <-time.After(e.turn):
		return []relabel.Observation{{CallID: relabel.CallID(t, 0), Tool: "execute_bash", Content: "ok"}}, false, nil
	}
}

func (quickEpisode) Tree(context.Context) (string, error)        { return "tree", nil }
func (quickEpisode) Patch(context.Context) ([]byte, bool, error) { return []byte("diff"), true, nil }
func (quickEpisode) Sandbox() (dockerHost, container string)     { return "nowhere", "none" }
func (quickEpisode) Close(context.Context) error                 { return nil }

// startWorkers starts n workers with slots each, as processes would, until stop or the end of
// the test. Nothing recovers lost work here, so leases do not expire, on a busy machine either.
func startWorkers(t testing.TB, url string, n int, slots mixer.Slots, world mixer.Environment) (stop func()) {
	t.Helper()
	var stops []func()
	for i := range n {
		s := storetest.Open(t, url)
		name := fmt.Sprintf("worker-%d", i)
		m := mixer.New(mixer.Config{Store: s, Environment: world, Owner: name, Slots: slots, Lease: time.Hour, Log: zerolog.Nop()})
		workers := river.NewWorkers()
		river.AddWorker(workers, mixer.NewWorker(m))
		client, err := worker.NewQueue(s, s.Clock(), name, workers, map[string]river.QueueConfig{"rollout": {MaxWorkers: slots.Claims()}})
		noError(t, err)
		noError(t, client.Start(context.Background()))
		stops = append(stops, func() {
			m.Drain()
			noError(t, client.Stop(context.Background()))
			_, err := m.Wait(context.Background())
			noError(t, err)
		})
	}
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			for _, f := range stops {
				f()
			}
		}
	}
	t.Cleanup(stop)
	return stop
}

// done reads how many of an iteration's trajectories are done.
func done(t testing.TB, s *store.Store, iteration relabel.ID) int {
	t.Helper()
	_, p, err := s.FindIteration(context.Background(), iteration)
	noError(t, err)
	return p.Trajectories[relabel.Done]
}

// Nothing but transactions wakes workers here: no look makes good for a wake-up that was
// lost.
func TestPausesLoseNoWakeup(t *testing.T) {
	ctx := context.Background()
	url := storetest.Migrated(t)
	s := storetest.Open(t, url)
	noError(t, s.Migrate(ctx))
	first, second := storetest.Seed(t, s, 100), storetest.SeedWith(t, s, 100, func(d *storetest.Seeded) { d.Run.Name = "another" })
	startWorkers(t, url, 3, mixer.Slots{Rollouts: 4, Prefetch: 1}, quickEnvironment(time.Millisecond))
	random := rand.New(rand.NewPCG(1, 2))
	all := func() bool { return done(t, s, first.Iteration.ID)+done(t, s, second.Iteration.ID) == 200 }
	for round := 0; round < 25 && !all(); round++ {
		d := []storetest.Seeded{first, second}[random.IntN(2)]
		change := func(f func() error) {
			if err := f(); relabel.CodeOf(err) != relabel.CodeConflict { // an iteration may be over by now
				noError(t, err)
			}
		}
		switch random.IntN(3) {
		case 0:
			change(func() error { _, err := s.PauseRun(ctx, d.Run.ID, relabel.PausedByUser, ""); return err })
		case 1:
			change(func() error {
				_, err := s.PauseIteration(ctx, d.Iteration.ID, relabel.PausedByUser, "")
				return err
			})
		case 2:
			quota := 1 + random.IntN(3)
			change(func() error {
				_, err := s.SetScheduling(ctx, d.Run.ID, relabel.SchedulingChange{Quota: &quota})
				return err
			})
		}
		time.Sleep(time.Duration(random.IntN(150)) * time.Millisecond) // how long it is so, not what is waited for
		change(func() error { _, err := s.ResumeRun(ctx, d.Run.ID); return err })
		change(func() error { _, err := s.ResumeIteration(ctx, d.Iteration.ID); return err })
		none := 0
		if random.IntN(2) == 0 {
			change(func() error {
				_, err := s.SetScheduling(ctx, d.Run.ID, relabel.SchedulingChange{Quota: &none})
				return err
			})
		}
	}
	eventually(t, "every trajectory is done", all)
	for _, d := range []storetest.Seeded{first, second} {
		it, p, err := s.FindIteration(ctx, d.Iteration.ID)
		noError(t, err)
		if it.State != relabel.IterationDone || p.Turns != 600 || p.LabelsReceived != 600 {
			t.Errorf("%s, %+v", it.State, p)
		}
	}
}

// With everything paused the workers' slots sleep: jobs neither come nor go.
func TestWorkersAreIdleWhileEverythingIsPaused(t *testing.T) {
	ctx := context.Background()
	url := storetest.Migrated(t)
	s := storetest.Open(t, url)
	noError(t, s.Migrate(ctx))
	d := storetest.Seed(t, s, 200)
	var started atomic.Int64
	world := quickEnvironment(5 * time.Millisecond)
	start := world.Start
	world.Start = func(ctx context.Context, c relabel.Claim) (mixer.Episode, error) {
		started.Add(1)
		return start(ctx, c)
	}
	startWorkers(t, url, 2, mixer.Slots{Rollouts: 4}, world)
	eventually(t, "something runs", func() bool { return done(t, s, d.Iteration.ID) > 5 })
	_, err := s.PauseRun(ctx, d.Run.ID, relabel.PausedByBudget, "spent")
	noError(t, err)
	conn := s.Pool()
	number := func(sql string) (n int64) {
		noError(t, conn.QueryRow(ctx, sql).Scan(&n))
		return n
	}
	eventually(t, "all is released", func() bool { return number("SELECT count(*) FROM trajectories WHERE owner IS NOT NULL") == 0 })
	noError(t, s.BalanceWakeups(ctx)) // as the scheduler does, for trajectories released after the pause
	eventually(t, "the queue is empty", func() bool {
		return number("SELECT count(*) FROM river_job WHERE state IN ('available', 'running', 'scheduled', 'retryable')") == 0
	})
	jobs, starts := number("SELECT coalesce(max(id), 0) FROM river_job"), started.Load()
	for range 3 {
		noError(t, s.BalanceWakeups(ctx))
	}
	if now := number("SELECT coalesce(max(id), 0) FROM river_job"); now != jobs || started.Load() != starts {
		t.Errorf("%d jobs came, %d sandboxes were started while all was paused", now-jobs, started.Load()-starts)
	}
	_, err = s.ResumeRun(ctx, d.Run.ID)
	noError(t, err)
	eventually(t, "every trajectory is done", func() bool { return done(t, s, d.Iteration.ID) == 200 })
}

// peak counts how many are inside at once, and the most there were.
type peak struct{ now, most atomic.Int64 }

func (p *peak) enter() (leave func()) {
	now := p.now.Add(1)
	for most := p.most.Load(); now > most && !p.most.CompareAndSwap(most, now); most = p.most.Load() {
	}
	return func() { p.now.Add(-1) }
}

// countedEpisode counts turns and sandboxes.
type countedEpisode struct {
	quickEpisode
	turns *peak
	leave func()
	ready <-chan struct{} // no turn ends before
}

func (e countedEpisode) Execute(ctx context.Context, t int, m relabel.Message) ([]relabel.Observation, bool, error) {
	defer e.turns.enter()()
	select {
	case <-e.ready:
	case <-ctx.Done():
	}
	return e.quickEpisode.Execute(ctx, t, m)
}

func (e countedEpisode) Close(context.Context) error {
	e.leave()
	return nil
}

// Two rollouts and one sandbox ahead of need; verifications that take long hold up
// neither, and are no more than two themselves.
func TestSlotsBoundTheRolloutsAtOnce(t *testing.T) {
	ctx := context.Background()
	url := storetest.Migrated(t)
	s := storetest.Open(t, url)
	noError(t, s.Migrate(ctx))
	d := storetest.Seed(t, s, 12)
	var sandboxes, turns, verifying peak
	release, ready := make(chan struct{}), make(chan struct{})
	world := quickEnvironment(time.Millisecond)
	world.Start = func(context.Context, relabel.Claim) (mixer.Episode, error) {
		return countedEpisode{quickEpisode{time.Millisecond}, &turns, sync.OnceFunc(sandboxes.enter()), ready}, nil
	}
	world.Verify = func(ctx context.Context, _ relabel.Claim, _ []byte) (relabel.Verdict, error) {
		defer verifying.enter()()
		select {
		case <-release:
		case <-ctx.Done():
		}
		return relabel.Verdict{Reason: "tests"}, nil
	}
	startWorkers(t, url, 1, mixer.Slots{Rollouts: 2, Prefetch: 1}, world)
	eventually(t, "two turns are executed, and a third sandbox is there", func() bool { return turns.now.Load() == 2 && sandboxes.now.Load() == 3 })
	close(ready)
	eventually(t, "every rollout is over while two are verified", func() bool {
		_, p, err := s.FindIteration(ctx, d.Iteration.ID)
		noError(t, err)
		return p.Turns == 72 && p.Trajectories[relabel.Verifying] == 2 && p.Trajectories[relabel.Labelling] == 10
	})
	close(release)
	eventually(t, "every trajectory is done", func() bool { return done(t, s, d.Iteration.ID) == 12 })
	if turns.most.Load() != 2 || sandboxes.most.Load() != 3 || verifying.most.Load() != 2 {
		t.Errorf("at most %d turns, %d sandboxes and %d verifications at once; want 2, 3 and 2", turns.most.Load(), sandboxes.most.Load(), verifying.most.Load())
	}
}

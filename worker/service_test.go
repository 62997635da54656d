package worker

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"relabel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAServiceRunsAtTheStartAndEveryPeriodUntilItsStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int64
		ctx, cancel := context.WithCancel(t.Context())
		const period = 5 * time.Second
		d := Task{Period: period, Log: zerolog.Nop(), Run: func(context.Context) error {
			runs.Add(1)
			return errors.New("the database does not answer") // is retried
		}}.Service()
		d.Start(ctx)
		synctest.Wait()
		if runs.Load() != 1 {
			t.Errorf("%d runs at the start", runs.Load())
		}
		cancel() // a service outlives the signal that ends a process, until its Stop
		time.Sleep(10*period + time.Millisecond)
		if runs.Load() != 11 {
			t.Errorf("%d runs in ten periods", runs.Load())
		}
		d.Stop()
		time.Sleep(10 * period)
		if runs.Load() != 11 {
			t.Error("it runs after its stop")
		}
	})
}

func TestAServiceWithoutItsPartsIsRefused(t *testing.T) {
	_, reaper := NewReaper(ReaperConfig{})
	_, prefetch := NewPrefetch(PrefetchConfig{})
	_, recovery := NewRecovery(RecoveryConfig{})
	_, worker := New(Config{})
	for i, err := range []error{reaper, prefetch, recovery, worker} {
		if err == nil {
			t.Errorf("config %d is not refused", i)
		}
	}
}

func TestAReaperKeepsLiveSandboxesAndAllWhileLiveAttemptsAreUnknown(t *testing.T) {
	held, live, dead := relabel.NewID(), relabel.NewID(), relabel.NewID()
	sandboxes := map[string]Sandbox{
		"held":               {Trajectory: held.String(), Attempt: 2},
		"an earlier attempt": {Trajectory: held.String(), Attempt: 1},
		"another process's":  {Trajectory: live.String(), Attempt: 1},
		"dead":               {Trajectory: dead.String(), Attempt: 1},
		"validation":         {Validation: true, Deadline: time.Now().Add(time.Hour)},
		"old validation":     {Validation: true, Deadline: time.Now().Add(-time.Hour)},
		"of no trajectory":   {},
	}
	for name, c := range map[string]struct {
		err  error
		want []string
	}{
		"known":   {nil, []string{"an earlier attempt", "dead", "of no trajectory", "old validation"}},
		"unknown": {errors.New("the database does not answer"), nil},
	} {
		var removed []string
		r, err := NewReaper(ReaperConfig{
			Activity: func() []relabel.RolloutActivity { return []relabel.RolloutActivity{{TrajectoryID: held, Attempt: 2}} },
			Live:     func(context.Context) (map[relabel.ID]int, error) { return map[relabel.ID]int{live: 1}, c.err },
			Remove: func(_ context.Context, keep func(Sandbox) bool) ([]string, error) {
				for name, s := range sandboxes {
					if !keep(s) {
						removed = append(removed, name)
					}
				}
				return removed, nil
			},
			Log: zerolog.Nop(),
		})
		if err != nil {
			t.Fatal(err)
		}
		err = r.RunNow(t.Context())
		slices.Sort(removed)
		if !errors.Is(err, c.err) || !slices.Equal(removed, c.want) {
			t.Errorf("%s: removed %q, %v; want %q", name, removed, err, c.want)
		}
	}
}

func TestAnImageIsPrefetchedOnceAndAgainSomeTimeAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pulls []string
		pulled := make(chan string, 10)
		idle, needed := false, []string{"a", "broken"}
		p, err := NewPrefetch(PrefetchConfig{Trajectories: 2, Log: zerolog.Nop(),
			NextImages: func(context.Context, int) ([]string, error) { return needed, nil },
			Idle:       func(context.Context) bool { return idle },
			MakeRoom: func(_ context.Context, image string, before []string) (bool, error) {
				return image != "large" && len(before) < 3, nil
			},
			Pull: func(_ context.Context, image string) error {
				pulled <- image
				if image == "broken" {
					return errors.New("not found")
				}
				return nil
			}})
		if err != nil {
			t.Fatal(err)
		}
		round := func(want ...string) {
			t.Helper()
			if err := p.RunNow(t.Context()); err != nil {
				t.Error(err)
			}
			p.pulls.Wait()
			for pulls = nil; len(pulled) > 0; {
				pulls = append(pulls, <-pulled)
			}
			slices.Sort(pulls)
			if !slices.Equal(pulls, want) {
				t.Errorf("pulled %q, not %q", pulls, want)
			}
		}
		idle = true
		round()
		idle = false
		round("a", "broken")
		round()
		time.Sleep(prefetchRetry + time.Second)
		round("broken")
		needed = []string{"b"}
		round("b")
		needed = []string{"a"}
		round("a") // it was not needed in between
		needed = []string{"a", "c", "large", "d"}
		round("c") // the large one does not fit, and d is needed later
		needed = []string{"c", "d"}
		round("d")
	})
}

func TestADiskGuardRefusesWorkBelowItsMinimum(t *testing.T) {
	free := int64(10 << 20)
	g, err := NewDiskGuard(DiskGuardConfig{Folder: "/data", MinFree: 20 << 20, Free: func(string) (int64, error) { return free, nil }, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Check(); relabel.CodeOf(err) != relabel.CodeUnavailable {
		t.Errorf("too little space: %v", err)
	}
	free = 30 << 20
	if err := g.Check(); err != nil {
		t.Errorf("enough space: %v", err)
	}
	g.MinFree, free = 0, 0
	if err := g.Check(); err != nil {
		t.Errorf("a guard that is disabled: %v", err)
	}
}

func TestEndpointsArePublishedOnChangesAndRegularly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var published, woken int
		var statuses []relabel.EndpointStatus
		e, err := NewEndpoints(EndpointsConfig{Watch: func(context.Context) {}, Log: zerolog.Nop(),
			Read:    func() []relabel.EndpointStatus { return statuses },
			Publish: func(context.Context, []relabel.EndpointStatus) error { published++; return nil },
			Wake:    func(context.Context) error { woken++; return nil }})
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			down             string
			wait             time.Duration
			published, woken int
		}{
			{"", 0, 1, 0},
			{"", 0, 1, 0},
			{"", 2 * endpointsRefresh, 2, 0},
			{"it does not answer", 0, 3, 1},
			{"it does not answer", 0, 3, 1},
			{"", 0, 4, 2},
		} {
			statuses = []relabel.EndpointStatus{{URL: "http://model", Down: step.down}}
			time.Sleep(step.wait)
			if err := e.RunNow(t.Context()); err != nil || published != step.published || woken != step.woken {
				t.Errorf("%+v: published %d times, woke %d times, %v", step, published, woken, err)
			}
		}
	})
}

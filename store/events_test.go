package store_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// told reads a scope's events after a number and says what they are.
func told(t *testing.T, s *store.Store, scope relabel.EventScope, after int64) (words []string, last int64) {
	t.Helper()
	events, err := s.ListEvents(context.Background(), scope, after, 1000)
	must(t, err)
	for _, e := range events {
		if e.Number <= after {
			t.Errorf("event %d does not come after %d", e.Number, after)
		}
		after = e.Number
		words = append(words, fmt.Sprintf("%s %s", e.Subject, e.State))
	}
	return words, after
}

func publish(t *testing.T, s *store.Store) int64 {
	t.Helper()
	last, err := s.PublishEvents(context.Background())
	must(t, err)
	return last
}

// Two transactions draw their events' ids in one order and commit in the other. Who reads
// between the commits gets both, each once.
func TestAnEventThatCommitsLaterWithASmallerIdIsNotSkipped(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 2)
	after := publish(t, s)
	scope := relabel.EventScope{IterationID: d.Iteration.ID}
	const cancel = "UPDATE trajectories SET state = 'cancelled', ended_at = now() WHERE id = $1"

	slow, err := s.Pool().Begin(ctx)
	must(t, err)
	defer slow.Rollback(ctx)
	_, err = slow.Exec(ctx, cancel, d.Trajectories[0].ID)
	must(t, err)
	exec(t, s, cancel, d.Trajectories[1].ID) // draws its id later, commits first
	publish(t, s)
	first, err := s.ListEvents(ctx, scope, after, 10)
	must(t, err)
	if len(first) != 1 || *first[0].TrajectoryID != d.Trajectories[1].ID {
		t.Fatalf("before the other commits: %v", first)
	}
	must(t, slow.Commit(ctx))
	publish(t, s)
	second, err := s.ListEvents(ctx, scope, first[0].Number, 10)
	must(t, err)
	if len(second) != 1 || *second[0].TrajectoryID != d.Trajectories[0].ID {
		t.Fatalf("after it: %v", second)
	}
	if ordered := value[bool](t, s, "SELECT (SELECT id FROM events WHERE number = $1) > (SELECT id FROM events WHERE number = $2)", first[0].Number, second[0].Number); !ordered {
		t.Error("the ids were not drawn the other way round: the test proves nothing")
	}
}

func TestEventsTellALifeInItsOrder(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 2)
	for i, j := range d.Trajectories {
		storetest.Finish(t, s, storetest.Claim(t, s, j.ID, fmt.Sprint("worker-", i)), 2, true)
	}
	publish(t, s)
	words, _ := told(t, s, relabel.EventScope{TrajectoryID: d.Trajectories[0].ID}, 0)
	if want := []string{"trajectory queued", "trajectory running", "trajectory labelling", "trajectory verifying", "trajectory done"}; !slices.Equal(words, want) {
		t.Errorf("trajectory: %q", words)
	}
	words, last := told(t, s, relabel.EventScope{IterationID: d.Iteration.ID}, 0)
	if len(words) != 12 || words[0] != "iteration running" || words[11] != "iteration done" || words[10] != "trajectory done" {
		t.Errorf("iteration: %q", words)
	}
	if again, _ := told(t, s, relabel.EventScope{IterationID: d.Iteration.ID}, last); len(again) != 0 {
		t.Errorf("after the last: %q", again)
	}
	if all, _ := told(t, s, relabel.EventScope{}, 0); len(all) != 12 {
		t.Errorf("all: %q", all)
	}
	if run, _ := told(t, s, relabel.EventScope{RunID: d.Run.ID}, 0); len(run) != 12 {
		t.Errorf("run: %q", run)
	}
}

func TestPublishersAtOnceNumberEachEventOnce(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	storetest.Seed(t, s, 300)
	done := make(chan error)
	for range 6 {
		go func() {
			_, err := s.PublishEvents(context.Background())
			done <- err
		}()
	}
	for range 6 {
		must(t, <-done)
	}
	if last := publish(t, s); last != 301 || value[int](t, s, "SELECT count(DISTINCT number) FROM events") != 301 {
		t.Errorf("last number %d", last)
	}
}

// What is purged is the oldest; who comes back with a number that is gone is told so.
func TestPurgingLeavesNoGap(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 4)
	last := publish(t, s)
	exec(t, s, "UPDATE events SET at = now() - interval '2 days' WHERE number IN (1, 2, 4)") // 4 was a long transaction's
	purged, err := s.PurgeEvents(ctx, 24*time.Hour)
	must(t, err)
	if left, _ := told(t, s, relabel.EventScope{RunID: d.Run.ID}, 0); purged != 2 || len(left) != 3 {
		t.Errorf("%d purged, left %q", purged, left)
	}
	for number, want := range map[int64]bool{1: false, 2: false, 3: true, last: true, last + 1: false} {
		if kept, err := s.KeepsEvents(ctx, number); err != nil || kept != want {
			t.Errorf("%d is kept: %v, %v", number, kept, err)
		}
	}
	exec(t, s, "UPDATE events SET at = now() - interval '2 days'")
	if _, err := s.PurgeEvents(ctx, 24*time.Hour); err != nil {
		t.Fatal(err)
	}
	if kept, err := s.KeepsEvents(ctx, last); err != nil || !kept { // nothing came after it
		t.Errorf("the last number: %v, %v", kept, err)
	}
	storetest.Claim(t, s, d.Trajectories[0].ID, "worker")
	if next := publish(t, s); next != last+1 {
		t.Errorf("number %d was given after %d", next, last)
	}
}

// Listeners learn of a change at once; without listeners, nothing is notified.
func TestChangesAreHeard(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 1)
	ctx, cancel := context.WithCancel(context.Background())
	heard, ended := make(chan struct{}, 16), make(chan error, 1)
	go func() { ended <- s.ListenEvents(ctx, func() { heard <- struct{}{} }) }()
	<-heard // it listens now
	storetest.Claim(t, s, d.Trajectories[0].ID, "worker")
	<-heard
	cancel()
	if err := <-ended; err == nil {
		t.Error("a listener ends with a reason")
	}
}

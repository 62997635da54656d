package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"relabel"
)

// aLane is a policy's lane at a fresh endpoint.
func aLane(change func(*relabel.Policy)) *lane {
	return NewEndpoints(Observe{}).join("http://model/v1", aPolicy(change))
}

// one allows one call at a time.
func one(p *relabel.Policy) { p.Limits.Concurrency = 1 }

// come makes a call wait in l, and sends its name to turn when it gets a slot. Call it in a bubble.
func come(t *testing.T, l *lane, w *waiter, turn chan<- *waiter) {
	t.Helper()
	go func() {
		if err := l.at.enter(context.Background(), l, w); err != nil {
			t.Error(err)
			return
		}
		turn <- w
	}()
	synctest.Wait()
}

func TestActionsComeBeforeRaisedLabelsAndThoseBeforeOthers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l, turn := aLane(one), make(chan *waiter, 10)
		come(t, l, &waiter{purpose: relabel.PurposeAct}, turn)
		late, soon := &relabel.Urgency{}, &relabel.Urgency{}
		soon.Raise()
		for i, w := range []*waiter{
			{purpose: relabel.PurposeLabel}, {purpose: relabel.PurposeLabel, urgency: late}, {purpose: relabel.PurposeLabel, urgency: soon},
			{purpose: relabel.PurposeAct}, {purpose: relabel.PurposeAct},
		} {
			w.arrived = uint64(i + 1)
			come(t, l, w, turn)
		}
		late.Raise() // while it waits
		var order []uint64
		for range 6 {
			w := <-turn
			order = append(order, w.arrived)
			l.at.release(w, tried{outcome: answered})
			synctest.Wait()
		}
		if want := []uint64{0, 4, 5, 2, 3, 1}; !slices.Equal(order, want) {
			t.Errorf("order %v, not %v", order, want)
		}
	})
}

// TestTheOrderOfTheQueue compares each grant with what the classes and the rule for the
// longest waiter say, for callers that come in any order.
func TestTheOrderOfTheQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var waiting []*waiter
		var o order
		arrived, passed := uint64(0), 0
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			if len(waiting) == 0 || rapid.IntRange(0, 2).Draw(t, "comes") > 0 {
				arrived++
				w := &waiter{arrived: arrived, purpose: rapid.SampledFrom([]relabel.Purpose{relabel.PurposeAct, relabel.PurposeLabel}).Draw(t, "purpose"), urgency: &relabel.Urgency{}}
				if rapid.Bool().Draw(t, "raised") {
					w.urgency.Raise()
				}
				waiting = append(waiting, w)
				continue
			}
			w, over := o.choose(waiting)
			o.note(over)
			longest := slices.MinFunc(waiting, func(a, b *waiter) int { return cmp.Compare(a.arrived, b.arrived) })
			best := slices.MinFunc(waiting, func(a, b *waiter) int {
				return cmp.Or(cmp.Compare(a.class(), b.class()), cmp.Compare(a.arrived, b.arrived))
			})
			if w != best && (w != longest || passed < longestEvery-1) {
				t.Fatalf("arrival %d goes before %d", w.arrived, best.arrived)
			}
			if passed++; w == longest {
				passed = 0
			}
			if passed >= longestEvery {
				t.Fatalf("the longest waiter was passed over %d times", passed)
			}
			waiting = slices.DeleteFunc(waiting, func(x *waiter) bool { return x == w })
		}
	})
}

// TestNobodyStarves: a label waits beside an endless sequence of actions of two policies. It gets a slot
// after a bounded number of grants.
func TestNobodyStarves(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := NewEndpoints(Observe{})
		busy := s.join("http://gateway/v1", aPolicy(func(p *relabel.Policy) { p.Name = "busy"; one(p) }))
		quiet := s.join("http://gateway/v1", aPolicy(func(p *relabel.Policy) { p.Name = "quiet"; one(p) }))
		turn := make(chan *waiter, 1)
		n := uint64(0)
		act := func() { n++; come(t, busy, &waiter{arrived: n, purpose: relabel.PurposeAct}, turn) }
		act()
		act()
		for _, l := range []*lane{busy, quiet} {
			n++
			come(t, l, &waiter{arrived: n, purpose: relabel.PurposeLabel}, turn)
		}
		labels := 0
		for grants := 1; labels < 2; grants++ {
			w := <-turn
			if w.purpose == relabel.PurposeLabel {
				labels++
			} else {
				act() // another waits before this one leaves
			}
			if grants > longestEvery*longestEvery {
				t.Fatalf("%d of 2 labels after %d grants", labels, grants)
			}
			w.lane.at.release(w, tried{outcome: answered})
			synctest.Wait()
		}
		for range 2 { // the actions that still wait
			w := <-turn
			w.lane.at.release(w, tried{outcome: answered})
			synctest.Wait()
		}
	})
}

func TestACancelledWaiterHoldsNoSlot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l, turn := aLane(one), make(chan *waiter, 1)
		come(t, l, &waiter{}, turn)
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error)
		go func() { gone <- l.at.enter(ctx, l, &waiter{arrived: 1}) }()
		synctest.Wait()
		cancel()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if err := l.at.enter(ctx, l, &waiter{}); !errors.Is(err, context.Canceled) {
			t.Fatal("a cancelled caller enters")
		}
		l.at.release(<-turn, tried{outcome: answered})
		if l.inFlight != 0 || l.at.inFlight != 0 || len(l.waiting) != 0 {
			t.Errorf("%d in flight, %d waiting", l.inFlight, len(l.waiting))
		}
	})
}

// TestNoSlotIsLost: callers of two policies start, end and cancel calls in any order.
func TestNoSlotIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := NewEndpoints(Observe{})
		var lanes []*lane
		for i := range 2 {
			size := rapid.IntRange(1, 3).Draw(t, "size")
			lanes = append(lanes, s.join("http://model/v1", aPolicy(func(p *relabel.Policy) { p.Name = fmt.Sprint(i); p.Limits.Concurrency = size })))
		}
		e := lanes[0].at
		var wg sync.WaitGroup
		for i := range rapid.IntRange(1, 30).Draw(t, "callers") {
			l := rapid.SampledFrom(lanes).Draw(t, "lane")
			purpose := rapid.SampledFrom([]relabel.Purpose{relabel.PurposeAct, relabel.PurposeLabel}).Draw(t, "purpose")
			result := rapid.SampledFrom([]outcome{answered, useless, busy, abandoned}).Draw(t, "outcome")
			quits := rapid.Bool().Draw(t, "quits")
			ctx, cancel := context.WithCancel(context.Background())
			wg.Go(func() {
				defer cancel()
				w := &waiter{arrived: uint64(i), purpose: purpose}
				if e.enter(ctx, l, w) != nil {
					return
				}
				e.mu.Lock()
				over := l.inFlight > l.most || e.inFlight > e.limit.ceiling
				e.mu.Unlock()
				if over {
					t.Errorf("too many inside")
				}
				e.release(w, tried{outcome: result})
			})
			if quits {
				wg.Go(cancel)
			}
		}
		wg.Wait()
		for _, l := range lanes {
			if l.inFlight != 0 || len(l.waiting) != 0 || e.inFlight != 0 {
				t.Fatalf("%d, %d in flight, %d waiting", l.inFlight, e.inFlight, len(l.waiting))
			}
		}
	})
}

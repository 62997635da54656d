package rollout

import (
	"context"
	"math"
	"os"
	"testing"

	"relabel/store/storetest"
)

// TestALostConnectionAtAnyStatementChangesNothing cuts the worker's line to the database at
// exchanges of a rollout: before the server gets the request, in the middle of it, before the
// answer, and in the middle of the answer. The trajectory ends like an undisturbed one, in one
// attempt. A fifth of all exchanges is cut, a different one at each place; with
// RELABEL_TEST_ALL each exchange is. With RELABEL_CUT_ONCE each rollout has one cut only, which
// takes minutes.
func TestALostConnectionAtAnyStatementChangesNothing(t *testing.T) {
	t.Parallel()
	for i, where := range storetest.Cuts {
		t.Run(where.String(), func(t *testing.T) {
			t.Parallel()
			cutEverywhere(t, where, i+1)
		})
	}
}

func (m *mortal) attempts() int {
	tr, err := m.db.FindTrajectory(context.Background(), m.claimed)
	noError(m.t, err)
	return tr.Attempt
}

// stride is how many exchanges an ordinary test leaves between two cuts of one rollout:
// more than the longest write takes that is retried on a new connection.
const stride = 25

// cutEverywhere cuts rollouts, the first one from an exchange on, counted from 1.
func cutEverywhere(t *testing.T, where storetest.Cut, first int) {
	database := storetest.Migrated(t)
	m, line := newMortalOn(t, database), storetest.NewLine(t, database)
	want, _ := m.undisturbed()
	m.through = storetest.Open(t, line.URL)
	apart, step := stride, 5
	if everyFault {
		first, step = partOfFaults()
		first++
	}
	if os.Getenv("RELABEL_CUT_ONCE") != "" {
		apart = math.MaxInt
	}
	for n, cut := first, ""; n <= apart && !t.Failed(); n += step {
		m.queue()
		line.CutAt(where, func(k int, _ string) bool { return k >= n && (k-n)%apart == 0 })
		m.arm(moment{}, nil) // nobody kills it
		err := m.work(context.Background())
		cut = line.WasCut()
		if err != nil || m.outcome() != want || m.attempts() != 1 {
			t.Errorf("cut %s from exchange %d on, at\n%s\n%v, %d attempts\n%s\nwant\n%s", where, n, cut, err, m.attempts(), m.outcome(), want)
		}
		if cut == "" {
			t.Logf("%d exchanges", n-1)
			return
		}
	}
}

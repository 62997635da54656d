package rollout

import (
	"context"
	"math"
	"os"
	"testing"

	"relabel/store/storetest"
)

// TestALineCutAtAnyStatementChangesNothing cuts the worker's line to the database at each
// exchange of a rollout: before the server gets it, in the middle of it, when it is done
// and not answered, and in the middle of the answer. What comes of the trajectory is
// what comes of one that nothing befell, in one attempt. With RELABEL_CUT_ONCE each rollout
// suffers one cut alone, which takes some minutes.
func TestALineCutAtAnyStatementChangesNothing(t *testing.T) {
	t.Parallel()
	for _, where := range storetest.Cuts {
		t.Run(where.String(), func(t *testing.T) {
			t.Parallel()
			cutEverywhere(t, where)
		})
	}
}

func (m *mortal) attempts() int {
	tr, err := m.db.FindTrajectory(context.Background(), m.claimed)
	noError(m.t, err)
	return tr.Attempt
}

// stride is how many exchanges an ordinary test leaves between two cuts of one rollout:
// more than the longest write takes that is tried again on a new connection.
const stride = 25

func cutEverywhere(t *testing.T, where storetest.Cut) {
	database := storetest.Schema(t)
	m, line := newMortalOn(t, database), storetest.NewLine(t, database)
	want, _ := m.undisturbed()
	m.through = storetest.Open(t, line.URL)
	apart := stride
	if os.Getenv("RELABEL_CUT_ONCE") != "" {
		apart = math.MaxInt
	}
	for n, cut := 1, ""; n <= apart && !t.Failed(); n++ {
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

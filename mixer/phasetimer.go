package mixer

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"relabel"
)

// phaseEndpoint is the part of an executor's call outside of the answered request, which is known
// only afterwards.
const phaseEndpoint relabel.Phase = "endpoint"

// phaseTimer measures the time that a rollout spends in each phase. The rollout's own goroutine
// begins and ends phases; any goroutine may read.
type phaseTimer struct {
	claim     relabel.Claim
	turn      atomic.Int32 // the current one; 0 before the first
	requested atomic.Int32 // pending requests for labels

	mu       sync.Mutex
	phase    relabel.Phase
	since    time.Time // when phase began
	recorded time.Time // spent contains the time up to this
	waits    string    // the endpoint that is down and that the rollout waits for; "" for none
	spent    map[relabel.Phase]time.Duration
	reported map[relabel.Phase]time.Duration // part of spent that earlier turns reported
}

func newPhaseTimer(c relabel.Claim) *phaseTimer {
	now := time.Now()
	return &phaseTimer{claim: c, phase: relabel.PhaseEngine, since: now, recorded: now,
		spent: map[relabel.Phase]time.Duration{}, reported: map[relabel.Phase]time.Duration{}}
}

// in begins a phase. out ends it, returns to the previous phase, and returns the time in between.
func (a *phaseTimer) in(p relabel.Phase) (out func() time.Duration) {
	begun := time.Now()
	was := a.enter(p, begun)
	return func() time.Duration {
		now := time.Now()
		a.enter(was, now)
		return now.Sub(begun)
	}
}

func (a *phaseTimer) enter(p relabel.Phase, now time.Time) (was relabel.Phase) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.record(now)
	was, a.phase, a.since = a.phase, p, now
	return was
}

// record records the time until now; a.mu is held.
func (a *phaseTimer) record(now time.Time) {
	a.spent[a.phase] += now.Sub(a.recorded)
	a.recorded = now
}

// waited records the part of an executor's call that was not the answered request.
func (a *phaseTimer) waited(executor relabel.Phase, d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.spent[executor] -= d
	a.spent[phaseEndpoint] += d
}

// begin makes t the current turn.
func (a *phaseTimer) begin(t int) { a.turn.Store(int32(t)) }

// currentTurn is the current turn; 0 before the first.
func (a *phaseTimer) currentTurn() int { return int(a.turn.Load()) }

// waitsFor records the endpoint that is down and that the rollout waits for; "" for none.
func (a *phaseTimer) waitsFor(why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waits = why
}

// turnTime is the time spent since the last call.
func (a *phaseTimer) turnTime() relabel.TurnTime {
	a.mu.Lock()
	defer a.mu.Unlock()
	since := func(p relabel.Phase) int64 {
		d := a.spent[p] - a.reported[p]
		a.reported[p] = a.spent[p]
		return d.Milliseconds()
	}
	return relabel.TurnTime{Endpoint: since(phaseEndpoint), Sandbox: since(relabel.PhaseSandbox), Database: since(relabel.PhaseDatabase)}
}

// sum is the time spent until now.
func (a *phaseTimer) sum() relabel.TimeSpent {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.record(time.Now())
	ms := func(p relabel.Phase) int64 { return a.spent[p].Milliseconds() }
	return relabel.TimeSpent{
		Start: ms(relabel.PhaseStart), Slot: ms(relabel.PhaseSlot), Replay: ms(relabel.PhaseReplay),
		Endpoint: ms(phaseEndpoint), Model: (a.spent[relabel.PhaseStudent] + a.spent[relabel.PhaseTeacher]).Milliseconds(),
		Sandbox: ms(relabel.PhaseSandbox), Database: ms(relabel.PhaseDatabase), End: ms(relabel.PhaseEnd),
		Labels: ms(relabel.PhaseLabels), Verify: ms(relabel.PhaseVerify), Engine: ms(relabel.PhaseEngine),
	}
}

// activity describes the rollout's current work.
func (a *phaseTimer) activity() relabel.RolloutActivity {
	a.mu.Lock()
	defer a.mu.Unlock()
	return relabel.RolloutActivity{
		TrajectoryID: a.claim.TrajectoryID, RunID: a.claim.Run.ID, InstanceID: a.claim.Trajectory.InstanceID,
		Attempt: a.claim.Attempt, Turn: a.currentTurn(), Phase: a.phase, PhaseMillis: time.Since(a.since).Milliseconds(),
		LabelsAsked: int(a.requested.Load()), WaitsFor: a.waits,
	}
}

// Run adds the current turn to each line that the rollout logs.
func (a *phaseTimer) Run(e *zerolog.Event, _ zerolog.Level, _ string) { e.Int("turn", a.currentTurn()) }

// Activity lists the current work of this mixer's trajectories, in no particular order.
func (m *Mixer) Activity() []relabel.RolloutActivity {
	list := []relabel.RolloutActivity{}
	for timer := range m.timers.Range {
		list = append(list, timer.(*phaseTimer).activity())
	}
	return list
}

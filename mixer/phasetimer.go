package mixer

import (
	"sync"
	"time"

	"github.com/rs/zerolog"

	"relabel"
)

// phaseEndpoint is the part of an executor's call outside of the answered request. It is known
// only afterwards: no rollout is seen in it.
const phaseEndpoint relabel.Phase = "endpoint"

// phaseTimer knows the phase of a rollout and the time spent in each. The rollout's own
// goroutine begins and ends phases; any goroutine may read.
type phaseTimer struct {
	claim relabel.Claim

	mu       sync.Mutex
	phase    relabel.Phase
	since    time.Time // when it began
	recorded time.Time // up to here time is in spent
	turn     int       // the current one; 0 before the first
	asked    int       // labels that are being asked for
	waits    string    // which endpoint is down that it waits for, and why; "" where none is
	spent    map[relabel.Phase]time.Duration
	reported map[relabel.Phase]time.Duration // of spent, in turns before
}

func newPhaseTimer(c relabel.Claim) *phaseTimer {
	now := time.Now()
	return &phaseTimer{claim: c, phase: relabel.PhaseEngine, since: now, recorded: now,
		spent: map[relabel.Phase]time.Duration{}, reported: map[relabel.Phase]time.Duration{}}
}

// in begins a phase. What it returns ends it, goes back to the one before, and says how
// long that was.
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

// waited records how much of an executor's call was not the answered request.
func (a *phaseTimer) waited(executor relabel.Phase, d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.spent[executor] -= d
	a.spent[phaseEndpoint] += d
}

// begin makes t the current turn.
func (a *phaseTimer) begin(t int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turn = t
}

// asking counts labels that are being asked for.
func (a *phaseTimer) asking(more int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked += more
}

// waitsFor records which endpoint is down that the rollout waits for; "" for none.
func (a *phaseTimer) waitsFor(why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waits = why
}

// currentTurn is the current turn; 0 before the first.
func (a *phaseTimer) currentTurn() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.turn
}

// askedFor counts the labels that are being asked for.
func (a *phaseTimer) askedFor() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked
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

// activity is what the rollout does now.
func (a *phaseTimer) activity() relabel.RolloutActivity {
	a.mu.Lock()
	defer a.mu.Unlock()
	return relabel.RolloutActivity{TrajectoryID: a.claim.TrajectoryID, RunID: a.claim.Run.ID, InstanceID: a.claim.Trajectory.InstanceID,
		Attempt: a.claim.Attempt, Turn: a.turn, Phase: a.phase, PhaseMillis: time.Since(a.since).Milliseconds(), LabelsAsked: a.asked, WaitsFor: a.waits}
}

// Run adds the current turn to each line that the rollout logs.
func (a *phaseTimer) Run(e *zerolog.Event, _ zerolog.Level, _ string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e.Int("turn", a.turn)
}

// present are the phase timers of the rollouts that run.
type present struct {
	mu  sync.Mutex
	all map[*phaseTimer]struct{}
}

func (p *present) add(a *phaseTimer) (remove func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == nil {
		p.all = map[*phaseTimer]struct{}{}
	}
	p.all[a] = struct{}{}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.all, a)
	}
}

// Activity lists what each trajectory of this mixer does now, in no order.
func (m *Mixer) Activity() []relabel.RolloutActivity {
	m.present.mu.Lock()
	defer m.present.mu.Unlock()
	list := make([]relabel.RolloutActivity, 0, len(m.present.all))
	for a := range m.present.all {
		list = append(list, a.activity())
	}
	return list
}

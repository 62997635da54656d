package mixer

import (
	"sync"
	"time"

	"github.com/rs/zerolog"

	"relabel"
)

// phaseEndpoint is where the part of an executor's call is booked that no answered
// request took. It is known only afterwards: no rollout is seen in it.
const phaseEndpoint relabel.Phase = "endpoint"

// account knows what a rollout does now and where its time went. The rollout's own
// goroutine begins and ends phases; anybody may look.
type account struct {
	claim relabel.Claim

	mu     sync.Mutex
	phase  relabel.Phase
	since  time.Time // when it began
	booked time.Time // up to here time is in spent
	turn   int       // in hand; 0 before the first
	asked  int       // labels that are being asked for
	waits  string    // which endpoint is down that it waits for, and why; "" where none is
	spent  map[relabel.Phase]time.Duration
	told   map[relabel.Phase]time.Duration // of spent, in turns before
}

func newAccount(c relabel.Claim) *account {
	now := time.Now()
	return &account{claim: c, phase: relabel.PhaseEngine, since: now, booked: now,
		spent: map[relabel.Phase]time.Duration{}, told: map[relabel.Phase]time.Duration{}}
}

// in begins a phase. What it returns ends it, goes back to the one before, and says how
// long that was.
func (a *account) in(p relabel.Phase) (out func() time.Duration) {
	begun := time.Now()
	was := a.enter(p, begun)
	return func() time.Duration {
		now := time.Now()
		a.enter(was, now)
		return now.Sub(begun)
	}
}

func (a *account) enter(p relabel.Phase, now time.Time) (was relabel.Phase) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.book(now)
	was, a.phase, a.since = a.phase, p, now
	return was
}

// book books the time until now; a.mu is held.
func (a *account) book(now time.Time) {
	a.spent[a.phase] += now.Sub(a.booked)
	a.booked = now
}

// waited says how much of an executor's call was not the request that was answered.
func (a *account) waited(executor relabel.Phase, d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.spent[executor] -= d
	a.spent[phaseEndpoint] += d
}

// begin takes turn t in hand.
func (a *account) begin(t int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turn = t
}

// asking counts labels that are being asked for.
func (a *account) asking(more int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked += more
}

// waitsFor notes which endpoint is down that the rollout waits for, "" where none is.
func (a *account) waitsFor(why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waits = why
}

// turnInHand is the turn in hand; 0 before the first.
func (a *account) turnInHand() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.turn
}

// askedFor counts the labels that are being asked for.
func (a *account) askedFor() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked
}

// turnTime says where the time went since it was last asked.
func (a *account) turnTime() relabel.TurnTime {
	a.mu.Lock()
	defer a.mu.Unlock()
	since := func(p relabel.Phase) int64 {
		d := a.spent[p] - a.told[p]
		a.told[p] = a.spent[p]
		return d.Milliseconds()
	}
	return relabel.TurnTime{Endpoint: since(phaseEndpoint), Sandbox: since(relabel.PhaseSandbox), Database: since(relabel.PhaseDatabase)}
}

// sum says where the time went until now.
func (a *account) sum() relabel.TimeSpent {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.book(time.Now())
	ms := func(p relabel.Phase) int64 { return a.spent[p].Milliseconds() }
	return relabel.TimeSpent{
		Start: ms(relabel.PhaseStart), Slot: ms(relabel.PhaseSlot), Replay: ms(relabel.PhaseReplay),
		Endpoint: ms(phaseEndpoint), Model: (a.spent[relabel.PhaseStudent] + a.spent[relabel.PhaseTeacher]).Milliseconds(),
		Sandbox: ms(relabel.PhaseSandbox), Database: ms(relabel.PhaseDatabase), End: ms(relabel.PhaseEnd),
		Labels: ms(relabel.PhaseLabels), Verify: ms(relabel.PhaseVerify), Engine: ms(relabel.PhaseEngine),
	}
}

// activity is what the rollout does now.
func (a *account) activity() relabel.RolloutActivity {
	a.mu.Lock()
	defer a.mu.Unlock()
	return relabel.RolloutActivity{TrajectoryID: a.claim.TrajectoryID, RunID: a.claim.Run.ID, InstanceID: a.claim.Trajectory.InstanceID,
		Attempt: a.claim.Attempt, Turn: a.turn, Phase: a.phase, PhaseMillis: time.Since(a.since).Milliseconds(), LabelsAsked: a.asked, WaitsFor: a.waits}
}

// Run puts the turn in hand on each line that the rollout logs.
func (a *account) Run(e *zerolog.Event, _ zerolog.Level, _ string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e.Int("turn", a.turn)
}

// present are the accounts of the rollouts that are there.
type present struct {
	mu  sync.Mutex
	all map[*account]struct{}
}

func (p *present) add(a *account) (remove func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == nil {
		p.all = map[*account]struct{}{}
	}
	p.all[a] = struct{}{}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.all, a)
	}
}

// Activity says what each trajectory that this mixer holds does right now, in no order.
func (m *Mixer) Activity() []relabel.RolloutActivity {
	m.present.mu.Lock()
	defer m.present.mu.Unlock()
	list := make([]relabel.RolloutActivity, 0, len(m.present.all))
	for a := range m.present.all {
		list = append(list, a.activity())
	}
	return list
}

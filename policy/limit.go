package policy

// A limit shrinks to shrink of itself when the server refuses, and grows by growth a
// round (as many answers as there are places), at least by one and by a share of its
// ceiling, so that a wide one does not take hours to recover.
const (
	shrink      = 0.7
	growthShare = 1.0 / 64
)

// limit says how many calls may be in flight: additive increase, multiplicative
// decrease, never below one, never above the ceiling. It begins at the ceiling.
type limit struct {
	size    float64
	ceiling int
	settled uint64 // grants up to this one were made before the last cut
}

// raiseTo lifts the ceiling for a policy that allows more. What was learned of the server
// stays.
func (l *limit) raiseTo(ceiling int) {
	if ceiling <= l.ceiling {
		return
	}
	if l.size >= float64(l.ceiling) {
		l.size = float64(ceiling)
	}
	l.ceiling = ceiling
}

// places is how many calls may be in flight.
func (l *limit) places() int { return max(1, int(l.size)) }

// grow follows an answer to a call that came while the places were about taken. With
// places to spare an answer says nothing about having more.
func (l *limit) grow() {
	growth := max(1, float64(l.ceiling)*growthShare)
	l.size = min(l.size+growth/l.size, float64(l.ceiling))
}

// cut follows a refusal of the call with this grant, when granted is the last one given
// so far. Calls that were let in before the last cut show the limit as it was then,
// and change nothing: a burst of refusals is one cut.
func (l *limit) cut(grant, granted uint64) {
	if grant <= l.settled {
		return
	}
	l.settled = granted
	l.size = max(1, l.size*shrink)
}

// restart begins again after an outage: what was learned is void, and a server that has
// just started is spared half of the calls.
func (l *limit) restart() { l.size = max(l.size, float64(l.ceiling)/2) }

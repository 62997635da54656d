package policy

// When the server refuses, a limit is multiplied by shrink. In a round (one answer per slot) it grows by
// growthShare of its ceiling, at least by one: a wide limit must not take hours to recover.
const (
	shrink      = 0.7
	growthShare = 1.0 / 64
)

// limit is the number of calls that may be in flight: additive increase, multiplicative decrease, from
// one to the ceiling. It starts at the ceiling.
type limit struct {
	size    float64
	ceiling int
	settled uint64 // the last grant before the last cut
}

// raiseTo raises the ceiling for a policy that allows more. It keeps what was learned about the server.
func (l *limit) raiseTo(ceiling int) {
	if ceiling <= l.ceiling {
		return
	}
	if l.size >= float64(l.ceiling) {
		l.size = float64(ceiling)
	}
	l.ceiling = ceiling
}

// places is the number of calls that may be in flight.
func (l *limit) places() int { return max(1, int(l.size)) }

// grow follows an answer to a call that started when nearly all slots were in use. With free slots, an
// answer does not show that more would work.
func (l *limit) grow() {
	growth := max(1, float64(l.ceiling)*growthShare)
	l.size = min(l.size+growth/l.size, float64(l.ceiling))
}

// cut follows a refusal of the call with this grant; granted is the last grant so far. Refusals of calls
// that started before the last cut change nothing: a burst of refusals is one cut.
func (l *limit) cut(grant, granted uint64) {
	if grant <= l.settled {
		return
	}
	l.settled = granted
	l.size = max(1, l.size*shrink)
}

// restart follows an outage. What was learned is void, and a server that has just started gets half of
// the calls.
func (l *limit) restart() { l.size = max(l.size, float64(l.ceiling)/2) }

package labelrule

import (
	"crypto/sha256"
	"encoding/binary"

	"relabel"
)

// Place is the trajectory that a decision belongs to.
type Place struct {
	Seed       int64 // of the run
	Iteration  int   // number i, from 1
	Instance   string
	Generation int // from 0
}

// State is what a rule knows of the state of turn t before the teacher is asked.
type State struct {
	T            int      // from 1
	AfterFailure bool     // a call of the turn before failed, or had an exit code other than 0
	Uncertainty  *float64 // of the student's action at t, see Uncertainty; nil if unknown
}

// Decision says whether the teacher is asked.
type Decision struct {
	Ask bool
	// Chance is the probability of Ask given the trajectory up to the state and its executors. It is
	// 1 where the teacher acts, since its action is the label.
	Chance float64
	// Unknown: the rule needs log-probabilities that are not there, and asks.
	Unknown bool
}

// Decide decides at a state. Executors are those of the whole trajectory as they were drawn.
func (r Rule) Decide(at Place, executors relabel.Executors, s State) Decision {
	return r.decide(at.uniform, executors, s)
}

// draw returns a number from [0, 1) for a purpose at a turn, the same each time.
type draw func(purpose string, t int) float64

func (r Rule) decide(uniform draw, executors relabel.Executors, s State) Decision {
	switch {
	case r.kind == teacherTurns:
		return certain(s.T <= r.LastTurn(executors))
	case r.kind == all || executors.At(s.T) == relabel.Teacher:
		return certain(true)
	case r.kind == uncertain && s.Uncertainty == nil:
		return Decision{Ask: true, Chance: 1, Unknown: true}
	}
	d := r.selects(uniform, executors, s)
	if r.floor > 0 {
		d.Ask = d.Ask || uniform("floor", s.T) < r.floor
		d.Chance += (1 - d.Chance) * r.floor
	}
	return d
}

// selects is the decision without the floor.
func (r Rule) selects(uniform draw, executors relabel.Executors, s State) Decision {
	switch r.kind {
	case every:
		phase := int(uniform("phase", 0) * float64(r.n)) // below n: uniform is below 1 by 2^-53 at least
		return Decision{Ask: (s.T-1)%r.n == phase, Chance: 1 / float64(r.n)}
	case uncertain:
		return certain(*s.Uncertainty >= r.threshold)
	case afterFailure:
		return certain(s.AfterFailure)
	}
	return certain(afterParting(executors, s.T, r.n)) // first_after_parting
}

func certain(ask bool) Decision {
	if ask {
		return Decision{Ask: true, Chance: 1}
	}
	return Decision{}
}

// afterParting reports whether one of the n turns before t is a parting: a turn that the student
// executes, and the teacher executed the one before, or there is none before.
func afterParting(executors relabel.Executors, t, n int) bool {
	for u := t - 1; u >= max(1, t-n); u-- {
		if executors.At(u) == relabel.Student && (u == 1 || executors.At(u-1) == relabel.Teacher) {
			return true
		}
	}
	return false
}

// LastTurn is the last turn that a rollout with these executors may have: all of them, unless the rule
// ends rollouts.
func (r Rule) LastTurn(executors relabel.Executors) int {
	if r.kind != teacherTurns {
		return len(executors)
	}
	return min(len(executors), prefix(executors)+r.n)
}

// prefix is the number of turns that the student executes before the teacher does.
func prefix(executors relabel.Executors) (turns int) {
	for turns < len(executors) && executors.At(turns+1) == relabel.Student {
		turns++
	}
	return turns
}

// Weight is the weight of the label: 1 / Chance. It is 0 where the teacher is not asked.
func (d Decision) Weight() float64 {
	if !d.Ask {
		return 0
	}
	return 1 / d.Chance
}

// uniform draws from [0, 1) a multiple of 2^-53 by SHA-256 of the purpose, the place and the turn.
func (p Place) uniform(purpose string, t int) float64 {
	b := []byte("relabel/label-rule/" + purpose + "\n")
	for _, n := range []int64{p.Seed, int64(p.Iteration), int64(p.Generation), int64(t)} {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	sum := sha256.Sum256(append(b, p.Instance...))
	return float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53)
}

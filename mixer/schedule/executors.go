package schedule

import (
	"strings"

	"relabel"
)

// The executors of a turn as letters of relabel.Executors.
const (
	teacherTurn = 'T'
	studentTurn = 's'
)

// Mixture draws b1…bT of a turn-level mixture, each bt independently with chance beta (eq. 8). At 0
// and 1 it is exact.
func Mixture(beta float64, turns int, stream Stream) relabel.Executors {
	b := make([]byte, turns)
	for t := range b {
		b[t] = studentTurn
		if stream.Happens(beta) {
			b[t] = teacherTurn
		}
	}
	return relabel.Executors(b)
}

// Prefix returns b1…bT of a trajectory-level mixture: the student for kappa turns, then the teacher
// (eq. 9). If kappa is at least turns, the teacher executes none.
func Prefix(kappa, turns int) relabel.Executors {
	kappa = min(kappa, turns)
	return relabel.Executors(strings.Repeat(string(studentTurn), kappa) + strings.Repeat(string(teacherTurn), turns-kappa))
}

// Executors draws the executors of one trajectory, and κ for an aggrevate run. The student
// executes all turns if the iteration has no labels.
func Executors(it relabel.Iteration, turns int, at Place) (relabel.Executors, *int) {
	switch {
	case !it.Kind.Labelled():
		return Prefix(turns, turns), nil
	case it.Rho != nil:
		kappa := Kappa(*it.Rho, it.Number, at.Stream("relabel/kappa"))
		return Prefix(kappa, turns), &kappa
	}
	return Mixture(*it.Beta, turns, at.Stream("relabel/b")), nil
}

// CallSeed is the sampling seed of turn t's call to a policy in this role: from 0 to 2^31−1, which
// every server accepts. The teacher has the same seed for an action and a label.
func CallSeed(at Place, t int, role relabel.Role) int64 {
	d := digest(purposeOf(at.Kind, "relabel/call/"+string(role)), at.Seed, at.Instance, int64(at.Iteration), int64(at.Generation), int64(t))
	return int64(d[0]&0x7F)<<24 | int64(d[1])<<16 | int64(d[2])<<8 | int64(d[3])
}

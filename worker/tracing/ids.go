package tracing

import (
	"crypto/sha256"
	"encoding/binary"

	"relabel"
)

type (
	traceID [16]byte
	spanID  [8]byte // zero: none
)

// place is an attempt at a trajectory: a trace.
type place struct {
	trajectory relabel.ID
	attempt    int
}

// derive hashes a place and a turn; turn -1 stands for the trace, 0 for the attempt.
func (p place) derive(turn int) [sha256.Size]byte {
	b := append([]byte("relabel span "), p.trajectory[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(p.attempt))
	return sha256.Sum256(binary.BigEndian.AppendUint64(b, uint64(turn)))
}

func (p place) trace() traceID {
	sum := p.derive(-1)
	return traceID(sum[:16])
}

// turn is the span of a turn, or of the attempt if t is 0.
func (p place) turn(t int) spanID {
	sum := p.derive(max(t, 0))
	return spanID(sum[:8])
}

// answer is the span of a line of a batch.
func (p place) answer(line string) spanID {
	whole := p.derive(0)
	sum := sha256.Sum256(append(whole[:], line...))
	return spanID(sum[:8])
}

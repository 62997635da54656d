package policy

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"relabel"
)

// affinity is the order in which a trajectory prefers replicas: rendezvous hashing, the
// same in every process, so that its turns find the prefix that its earlier turns left
// in a replica's cache, and a replica more or less moves no trajectory but its own.
// What belongs to no trajectory takes them as they are.
func affinity(replicas []*lane, trajectory relabel.ID) []*lane {
	if len(replicas) < 2 || trajectory == (relabel.ID{}) {
		return replicas
	}
	sorted := slices.Clone(replicas)
	weight := func(l *lane) uint64 {
		sum := sha256.Sum256(append(trajectory[:], l.at.base...))
		return binary.BigEndian.Uint64(sum[:])
	}
	slices.SortStableFunc(sorted, func(a, b *lane) int { return cmp.Compare(weight(b), weight(a)) })
	return sorted
}

// choose returns the first replica that takes calls (it is up or due for a probe, and has
// not named a later time), and if none does, the one that is due first.
func choose(replicas []*lane) *lane {
	best, least := replicas[0], replicas[0].at.wait()
	for _, l := range replicas[1:] {
		if least == 0 {
			break
		}
		if wait := l.at.wait(); wait < least {
			best, least = l, wait
		}
	}
	return best
}

// spare returns a replica beside taken that takes calls, or nil.
func spare(replicas []*lane, taken *lane) *lane {
	for _, l := range replicas {
		if l != taken && l.at.wait() == 0 {
			return l
		}
	}
	return nil
}

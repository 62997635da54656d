package policy

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"relabel"
)

// affinity is the order in which a trajectory prefers replicas: rendezvous hashing, the same in every
// process, so that turns find the prefix of earlier turns in a replica's cache, and a replica
// more or less moves only its own trajectories. Without a trajectory it keeps the order.
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

// choose returns the first replica that accepts calls, or else the one that will first. A replica accepts
// calls if it is up or due for a probe, and has not asked for a pause.
func choose(replicas []*lane) *lane {
	return slices.MinFunc(replicas, func(a, b *lane) int { return cmp.Compare(a.at.wait(), b.at.wait()) })
}

// spare returns another replica than taken that accepts calls, or nil.
func spare(replicas []*lane, taken *lane) *lane {
	for _, l := range replicas {
		if l != taken && l.at.wait() == 0 {
			return l
		}
	}
	return nil
}

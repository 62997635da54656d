package schedule

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"

	"relabel"
)

// Stream is a source of random numbers that is the same on any machine: ChaCha8 (chacha8rand, as
// specified by math/rand/v2) with the SHA-256 of the draw's purpose and place as its key. Golden
// values pin it, because a change would change every run that is drawn afterwards.
type Stream struct{ source *rand.ChaCha8 }

// Place is the trajectory that a draw belongs to.
type Place struct {
	Seed       int64 // of the run
	Kind       relabel.IterationKind
	Iteration  int    // number i, from 1
	Instance   string // the task's instance id
	Generation int    // from 0
}

// Stream returns the place's stream for one purpose. Streams of different purposes or places are
// independent.
func (p Place) Stream(purpose string) Stream {
	return Stream{rand.NewChaCha8(digest(purposeOf(p.Kind, purpose), p.Seed, p.Instance, int64(p.Iteration), int64(p.Generation)))}
}

// purposeOf is the purpose of a draw in an iteration of a kind. Sample iterations have streams of
// their own, so that their draws do not repeat those of the collect iteration of the same number.
func purposeOf(kind relabel.IterationKind, purpose string) string {
	if kind == relabel.Sample {
		return purpose + "/sample"
	}
	return purpose
}

// digest is the SHA-256 of, in this order: the length of purpose (8 bytes, big endian, like all
// numbers) and its bytes, the seed, the length of name and its bytes, and each number. The lengths
// distinguish ("ab", "c") and ("a", "bc").
func digest(purpose string, seed int64, name string, numbers ...int64) [sha256.Size]byte {
	var b []byte
	b = binary.BigEndian.AppendUint64(b, uint64(len(purpose)))
	b = append(b, purpose...)
	b = binary.BigEndian.AppendUint64(b, uint64(seed))
	b = binary.BigEndian.AppendUint64(b, uint64(len(name)))
	b = append(b, name...)
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	return sha256.Sum256(b)
}

// Happens draws an event of chance p: never at 0, always at 1. It always takes one number from the
// stream, so a turn's draw does not depend on earlier ones.
func (s Stream) Happens(p float64) bool { return s.unit() < p }

// unit draws from [0, 1): a multiple of 2^-53, which is exactly representable.
func (s Stream) unit() float64 { return float64(s.source.Uint64()>>11) / (1 << 53) }

// Uniform draws from Unif{0, …, n-1}, without the bias of a plain remainder. n is at least 1.
func (s Stream) Uniform(n int) int {
	size := uint64(n)
	whole := -size % size // 2^64 mod n: values in the incomplete last range are drawn again
	for {
		if v := s.source.Uint64(); v <= ^uint64(0)-whole {
			return int(v % size)
		}
	}
}

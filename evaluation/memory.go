package evaluation

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"relabel/stats"
)

// mostRemembered bounds the intervals that are remembered. With more, all are forgotten.
const mostRemembered = 1000

// bootstraps are the intervals of earlier comparisons. Pages show the same ones at each event, and a
// bootstrap over 466 tasks takes about 30 ms.
var bootstraps memory

// memory remembers intervals by the values that they are computed from.
type memory struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]remembered
}

type remembered struct {
	interval stats.Interval
	known    bool
}

// of returns the interval of values, which it computes unless it remembers it.
func (m *memory) of(values []float64, compute func([]float64, uint64) (stats.Interval, bool)) (stats.Interval, bool) {
	key := keyOf(values)
	m.mu.Lock()
	is, found := m.known[key]
	m.mu.Unlock()
	if found {
		return is.interval, is.known
	}
	is.interval, is.known = compute(values, bootstrapSeed)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil || len(m.known) >= mostRemembered {
		m.known = map[[sha256.Size]byte]remembered{}
	}
	m.known[key] = is
	return is.interval, is.known
}

// keyOf is the hash of values in their order.
func keyOf(values []float64) [sha256.Size]byte {
	text := make([]byte, 8*len(values))
	if _, err := binary.Encode(text, binary.LittleEndian, values); err != nil {
		panic(err) // it has the right length
	}
	return sha256.Sum256(text)
}

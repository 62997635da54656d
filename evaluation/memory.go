package evaluation

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"sync"

	"relabel/stats"
)

// mostRemembered bounds the intervals that are remembered. With more, all are forgotten.
const mostRemembered = 1000

// bootstraps are the intervals of earlier comparisons. Pages show the same ones at each event, and a
// bootstrap over 466 tasks takes about 30 ms.
var bootstraps memory

// memory remembers intervals by the rows of values that they are computed from.
type memory struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]remembered
}

type remembered struct {
	intervals []stats.Interval
	known     bool
}

// of returns the intervals of the columns of rows, which it computes unless it remembers them.
func (m *memory) of(rows [][]float64, compute func([][]float64, uint64) ([]stats.Interval, bool)) ([]stats.Interval, bool) {
	key := keyOf(rows)
	m.mu.Lock()
	is, found := m.known[key]
	m.mu.Unlock()
	if found {
		return is.intervals, is.known
	}
	is.intervals, is.known = compute(rows, bootstrapSeed)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil || len(m.known) >= mostRemembered {
		m.known = map[[sha256.Size]byte]remembered{}
	}
	m.known[key] = is
	return is.intervals, is.known
}

// keyOf is the hash of rows in their order.
func keyOf(rows [][]float64) (key [sha256.Size]byte) {
	hash := sha256.New()
	for _, row := range rows {
		text := binary.LittleEndian.AppendUint64(nil, uint64(len(row)))
		for _, value := range row {
			text = binary.LittleEndian.AppendUint64(text, math.Float64bits(value))
		}
		hash.Write(text)
	}
	hash.Sum(key[:0])
	return key
}

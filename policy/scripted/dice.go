package scripted

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strconv"
)

// dice are the random draws of one answer. They depend on the model, the seed and the state alone,
// and are the same on any machine.
type dice struct {
	*rand.Rand
	digest [sha256.Size]byte
}

// newDice seeds the draws of a model at a state. Greedy decoding passes a nil seed.
func newDice(model string, seed *int64, state []byte) *dice {
	from := ""
	if seed != nil {
		from = strconv.FormatInt(*seed, 10)
	}
	d := &dice{digest: sha256.Sum256(append([]byte(model+"\x00"+from+"\x00"), state...))}
	d.Rand = rand.New(rand.NewPCG(binary.LittleEndian.Uint64(d.digest[:8]), binary.LittleEndian.Uint64(d.digest[8:16])))
	return d
}

// id is a short name for the answer.
func (d *dice) id() string { return hex.EncodeToString(d.digest[16:28]) }

func (d *dice) chance(p float64) bool { return d.Float64() < p }

func (d *dice) pick(from []string) string { return from[d.IntN(len(from))] }

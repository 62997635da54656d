package verify

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"math/bits"
)

// Each fact that all views must contain equally often is hashed to 128 bits, with keys drawn
// for each check, and the hashes are added up. Different multisets have equal sums with
// probability 2^-128, and two prefixes of n tokens equal hashes with probability (n ÷ 2^61)².
// So views of any size are compared in constant memory.

// A class is a kind of fact.
type class int

// The classes. Bare rows contain only tokens and runs, rendered or served; messages contain
// weights, and, if they are rendered, rendered tokens, runs and pairs.
const (
	rendered class = iota // a supervised token (prefix, target, weight) whose ids were rendered
	served                // one whose ids were returned by a server
	anyToken              // either of these
	labels                // a label: whose it is, all of its span, its prefix, ids, weights
	pairs                 // a rendered label: whose it is, its prefix, ids and weights
	weights               // a label: whose it is, its weights
	runs                  // a label: its prefix and ids, and which of them are the label's
	written               // a state and its label as text, without reasoning
	classes  = 8
)

// fact is the hash of a fact.
type fact struct{ high, low uint64 }

// groups is the number of sums per class: only the groups whose sums differ are searched.
const groups = 4096

// sums are those of the facts of a class, mod 2^128.
type sums [groups]fact

func (f fact) group() int { return int(f.low % groups) }

func (f fact) plus(g fact) fact {
	low, carry := bits.Add64(f.low, g.low, 0)
	high, _ := bits.Add64(f.high, g.high, carry)
	return fact{high, low}
}

func (s *sums) add(f fact) { s[f.group()] = s[f.group()].plus(f) }

func (s *sums) merge(t *sums) {
	for i := range t {
		s[i] = s[i].plus(t[i])
	}
}

// prime is 2^61 − 1.
const prime = 1<<61 - 1

// text is the hash of a sequence of 32-bit words: the polynomial with these coefficients,
// evaluated at two secret points, mod prime.
type text struct{ a, b uint64 }

// hasher holds the secret keys of a check. It is safe for concurrent use.
type hasher struct {
	a, b  uint64
	block cipher.Block
}

func newHasher() *hasher {
	var key [32]byte
	rand.Read(key[:]) // never fails
	block, err := aes.NewCipher(key[:16])
	if err != nil { // 16 bytes are a key
		panic(err)
	}
	point := func(b []byte) uint64 { return binary.LittleEndian.Uint64(b) % prime }
	return &hasher{point(key[16:24]), point(key[24:]), block}
}

// times returns x·y + word + 1 mod prime; the one distinguishes a word 0 from none.
func times(x, y uint64, word uint32) uint64 {
	high, low := bits.Mul64(x, y)
	low, carry := bits.Add64(low, uint64(word)+1, 0)
	high += carry
	sum := low&prime + (low>>61 | high<<3) // 2^61 is 1
	if sum >= prime {
		sum -= prime
	}
	return sum
}

// then returns the hash of a run followed by a word.
func (h *hasher) then(t text, word uint32) text {
	return text{times(t.a, h.a, word), times(t.b, h.b, word)}
}

// thenText returns the hash of a run followed by the hash of another one.
func (h *hasher) thenText(t, u text) text {
	for _, v := range []uint64{u.a, u.b} {
		t = h.then(h.then(t, uint32(v)), uint32(v>>32))
	}
	return t
}

// thenString returns the hash of a run followed by a string.
func (h *hasher) thenString(t text, s string) text {
	for i := range len(s) {
		t = h.then(t, uint32(s[i]))
	}
	return h.then(t, uint32(len(s)))
}

// fact hashes a run so that equal sums of such hashes mean equal multisets.
func (h *hasher) fact(t text) fact {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], t.a)
	binary.LittleEndian.PutUint64(b[8:], t.b)
	h.block.Encrypt(b[:], b[:])
	return fact{binary.LittleEndian.Uint64(b[:8]), binary.LittleEndian.Uint64(b[8:])}
}

// name hashes the name of a row or a label.
func (h *hasher) name(s string, turn int) uint64 {
	return h.fact(h.then(h.thenString(text{}, s), uint32(turn))).low
}

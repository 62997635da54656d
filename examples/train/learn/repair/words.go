package repair

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
)

// The words that names of functions and files are made of. The student's tokenizer has them as whole
// pieces: a test compares them with ../words.json.
var (
	adjectives = strings.Fields(`amber bold brisk calm clean clear cold cool dark deep dry fair fast firm flat fresh
		gold grand green grey kind late light loud mild neat pale plain quick quiet rare round`)
	nouns = strings.Fields(`apple badge barn bell boat bolt bowl brick cabin cart chair cloud coin crane desk door
		drum fence field flute gate glass hill horse kite lamp lake mill nest pond road tower`)
	files = strings.Fields(`atlas bridge depot edge frame hub index kernel ledger link matrix panel pivot
		pool relay report rule sector shape stage store table unit valve vault zone`)
)

// operators are the operators that a function may apply to its arguments.
var operators = []string{"+", "-", "*", "&", "|"}

// apply returns the value of a OP b.
func apply(operator string, a, b int) int {
	switch operator {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "&":
		return a & b
	}
	return a | b
}

// isHeldOut reports whether a name or a pair of numbers occurs only in held-out tasks, as a quarter of
// them do.
func isHeldOut(word string) bool { return sha256.Sum256([]byte(word))[0]%4 == 0 }

// dice draws numbers from a seed, the same on any machine and with any version of Go.
type dice struct {
	seed string
	n    uint64
}

// below draws a number from 0 to n-1.
func (d *dice) below(n int) int {
	d.n++
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(d.seed), d.n))
	return int(binary.BigEndian.Uint64(sum[:8]) % uint64(n))
}

// pick draws one of words.
func (d *dice) pick(words []string) string { return words[d.below(len(words))] }

// shuffle puts words in a random order, in place.
func shuffle[T any](d *dice, words []T) {
	for i := len(words) - 1; i > 0; i-- {
		j := d.below(i + 1)
		words[i], words[j] = words[j], words[i]
	}
}

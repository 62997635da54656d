package verify

import (
	crand "crypto/rand"
	"fmt"
	"math/rand/v2"
	"strings"
)

// The words that names of canaries are made of: such as stand in names of tests.
var (
	canaryNouns = strings.Fields(`batch border buffer bytes cache case chain chunk clause column config count cursor date default delta
		depth edge encoding entry escape event factor field filter flag format frame group header index input interval item
		key label layout length level limit line list lookup margin mapping mask match merge message method mode name node
		number offset option order output padding pair path pattern payload prefix quote range record region result row rule
		scale scope segment separator sequence shape signature size slice sort source span stack state step suffix table tag
		target template text token total trailing tree type unit update value vector version view weight width window`)
	canaryVerbs = strings.Fields(`accepts adds applies builds checks clears closes combines compares computes copies counts
		drops expands extends fills finds folds formats handles ignores inserts joins keeps limits loads maps matches merges
		moves normalises orders parses preserves reads reduces removes replaces resets resolves restores returns rounds
		shifts skips sorts splits strips swaps trims unpacks updates validates wraps writes`)
)

// canaryRandom returns a source whose seed nobody can guess.
func canaryRandom() *rand.Rand {
	var seed [32]byte
	_, _ = crand.Read(seed[:]) // crypto/rand never fails: it ends the process instead
	return rand.New(rand.NewChaCha8(seed))
}

// namer draws names, each once.
type namer struct {
	random *rand.Rand
	used   map[string]bool
}

func newNamer(random *rand.Rand) *namer { return &namer{random: random, used: map[string]bool{}} }

// phrase returns three words that have not been drawn before, such as "parses",
// "nested" and "width".
func (n *namer) phrase() []string {
	for {
		words := []string{n.pick(canaryNouns), n.pick(canaryVerbs), n.pick(canaryNouns)}
		if key := strings.Join(words, " "); !n.used[key] {
			n.used[key] = true
			return words
		}
	}
}

// pick returns one of the words.
func (n *namer) pick(words []string) string { return words[n.random.IntN(len(words))] }

// snake returns a name such as buffer_splits_row.
func (n *namer) snake() string { return strings.Join(n.phrase(), "_") }

// camel returns a name such as BufferSplitsRow.
func (n *namer) camel() string {
	name := ""
	for _, word := range n.phrase() {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	return name
}

// between returns a number of [low, high).
func (n *namer) between(low, high int) int { return low + n.random.IntN(high-low) }

// sum is a computation and what it comes to.
type sum struct {
	code   string
	result int
}

// drawSum draws a computation. Its result has at least seven digits, so that it is in no log
// by chance.
func drawSum(n *namer) sum {
	a, b, c := n.between(2011, 9973), n.between(1009, 9973), n.between(11, 997)
	return sum{code: fmt.Sprintf("%d * %d + %d", a, b, c), result: a*b + c}
}

// mix draws which of n canaries fail: at least one, and at least one does not.
func mix(random *rand.Rand, n int) []bool {
	fails := make([]bool, n)
	for i := range fails {
		fails[i] = random.IntN(2) == 0
	}
	at := random.Perm(n)
	fails[at[0]], fails[at[1]] = true, false
	return fails
}

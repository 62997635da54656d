package canary

import (
	crand "crypto/rand"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Words of the names of canaries, as they occur in names of tests.
var (
	Nouns = strings.Fields(`batch border buffer bytes cache case chain chunk clause column config count cursor date default delta
		depth edge encoding entry escape event factor field filter flag format frame group header index input interval item
		key label layout length level limit line list lookup margin mapping mask match merge message method mode name node
		number offset option order output padding pair path pattern payload prefix quote range record region result row rule
		scale scope segment separator sequence shape signature size slice sort source span stack state step suffix table tag
		target template text token total trailing tree type unit update value vector version view weight width window`)
	verbs = strings.Fields(`accepts adds applies builds checks clears closes combines compares computes copies counts
		drops expands extends fills finds folds formats handles ignores inserts joins keeps limits loads maps matches merges
		moves normalises orders parses preserves reads reduces removes replaces resets resolves restores returns rounds
		shifts skips sorts splits strips swaps trims unpacks updates validates wraps writes`)
)

// Random returns a source with a seed that cannot be guessed.
func Random() *rand.Rand {
	var seed [32]byte
	_, _ = crand.Read(seed[:]) // crypto/rand never fails: it ends the process instead
	return rand.New(rand.NewChaCha8(seed))
}

// Namer draws names, each once, and the code and order of canaries.
type Namer struct {
	Random *rand.Rand
	used   map[string]bool
}

// NewNamer returns a namer that has drawn no name.
func NewNamer(random *rand.Rand) *Namer { return &Namer{Random: random, used: map[string]bool{}} }

// Phrase returns three words, each time others, such as "table", "parses" and "width".
func (n *Namer) Phrase() []string {
	for {
		words := []string{n.Pick(Nouns), n.Pick(verbs), n.Pick(Nouns)}
		if key := strings.Join(words, " "); !n.used[key] {
			n.used[key] = true
			return words
		}
	}
}

// Pick returns one of the words.
func (n *Namer) Pick(words []string) string { return words[n.Random.IntN(len(words))] }

// Snake returns a name such as buffer_splits_row.
func (n *Namer) Snake() string { return strings.Join(n.Phrase(), "_") }

// Camel returns a name such as BufferSplitsRow.
func (n *Namer) Camel() string {
	name := ""
	for _, word := range n.Phrase() {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	return name
}

// Between returns a number in [low, high).
func (n *Namer) Between(low, high int) int { return low + n.Random.IntN(high-low) }

// Shuffle puts pieces of code into a random order.
func (n *Namer) Shuffle(code []string) {
	n.Random.Shuffle(len(code), func(i, j int) { code[i], code[j] = code[j], code[i] })
}

// Sum is an expression and its value.
type Sum struct {
	Code   string
	Result int
}

// Sum draws an expression. Its value has at least seven digits, so that no log contains it by
// chance.
func (n *Namer) Sum() Sum {
	a, b, c := n.Between(2011, 9973), n.Between(1009, 9973), n.Between(11, 997)
	return Sum{Code: fmt.Sprintf("%d * %d + %d", a, b, c), Result: a*b + c}
}

// Claimed is the number that a canary compares a sum with: another number if it must fail.
func (n *Namer) Claimed(s Sum, fails bool) int {
	if fails {
		return s.Result + n.Between(1, 900)
	}
	return s.Result
}

// Mix draws which of n canaries fail: at least one fails and at least one passes.
func Mix(random *rand.Rand, n int) []bool {
	fails := make([]bool, n)
	for i := range fails {
		fails[i] = random.IntN(2) == 0
	}
	at := random.Perm(n)
	fails[at[0]], fails[at[1]] = true, false
	return fails
}

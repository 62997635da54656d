package chat

import (
	"strings"
	"unicode"

	"relabel"
)

// Distance is how different two actions are, from 0 (the same words) to 1 (no common word): 1 less the
// Sørensen–Dice coefficient of their words, which are those of the calls, or of the text without a call.
func Distance(a, b relabel.Message) float64 {
	counts, common := map[string]int{}, 0
	words, others := wordsOf(a), wordsOf(b)
	for _, w := range words {
		counts[w]++
	}
	for _, w := range others {
		if counts[w] > 0 {
			counts[w]--
			common++
		}
	}
	if len(words)+len(others) == 0 {
		return 0
	}
	return 1 - float64(2*common)/float64(len(words)+len(others))
}

// wordsOf are the runs of letters, digits and underscores of an action.
func wordsOf(m relabel.Message) []string {
	return strings.FieldsFunc(ActionKey(m), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
}

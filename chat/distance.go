package chat

import (
	"fmt"
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

// wordsOf are the runs of letters, digits and underscores of an action: of its calls' names and arguments (their
// names and values), or of its text.
func wordsOf(m relabel.Message) []string {
	texts := []string{m.Content}
	if len(m.ToolCalls) > 0 {
		texts = nil
	}
	for _, c := range m.ToolCalls {
		texts = append(texts, c.Name)
		if v, ok := jsonValue(c.Arguments); ok {
			texts = appendValues(texts, v)
		} else {
			texts = append(texts, c.Arguments)
		}
	}
	return strings.FieldsFunc(strings.Join(texts, " "), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
}

// appendValues appends the texts in a JSON value, without its escapes.
func appendValues(texts []string, v any) []string {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			texts = appendValues(append(texts, name), value)
		}
	case []any:
		for _, value := range v {
			texts = appendValues(texts, value)
		}
	default:
		texts = append(texts, fmt.Sprint(v))
	}
	return texts
}

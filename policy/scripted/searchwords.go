package scripted

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

var (
	identifier = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]{2,}`)
	inCode     = regexp.MustCompile("`([^`\n]+)`|([A-Za-z_][A-Za-z0-9_]*)\\(|\\b(?:[Ff]unction|[Mm]ethod|[Cc]lass)\\s+([A-Za-z_][A-Za-z0-9_]*)")
	letters    = regexp.MustCompile(`[A-Za-z]{2}`)
	subword    = regexp.MustCompile(`[A-Z]+(?:[^A-Za-z]|$)|[A-Z]?[a-z]+|[A-Z]+`)
)

// common are words of issues that name nothing.
var common = strings.Fields("the and for are was not with this that from have has when should would could which what but its into than then them they there here will can may does did use used using only also after before returns return value values error issue bug code python file files function functions method class line lines none true false self def import must one two three all any more both instead whose becomes always work works like although comes given gives still every get set has init")

// issueWords are the words of an issue.
type issueWords struct {
	named  []string           // identifiers: first those written as code, then those with the form of one
	weight map[string]float64 // of the stems of all words
}

// wordsOf reads an issue.
func wordsOf(issue string) issueWords {
	w := issueWords{weight: map[string]float64{}}
	add := func(word string) {
		if !slices.Contains(w.named, word) && !slices.Contains(common, strings.ToLower(word)) && letters.MatchString(word) {
			w.named = append(w.named, word)
		}
	}
	for _, m := range inCode.FindAllStringSubmatch(issue, -1) {
		for _, word := range identifier.FindAllString(m[1]+" "+m[2]+" "+m[3], -1) {
			add(word)
		}
	}
	for _, word := range identifier.FindAllString(issue, -1) {
		if strings.ContainsRune(strings.Trim(word, "_"), '_') || strings.ToLower(word[1:]) != word[1:] && strings.ToUpper(word) != word {
			add(word)
		}
		for _, stem := range stems(word) {
			w.weight[stem] = max(w.weight[stem], 1)
		}
	}
	for _, word := range w.named {
		for _, stem := range stems(word) {
			w.weight[stem] = 2
		}
		w.weight[strings.ToLower(word)] = 6
	}
	return w
}

// stems are the words in a name, without endings and what is common.
func stems(name string) (all []string) {
	for _, word := range subword.FindAllString(name, -1) {
		word = strings.ToLower(strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }))
		if len(word) < 3 || slices.Contains(common, word) {
			continue
		}
		for _, ending := range []string{"ing", "ed", "es", "s", "er", "e"} {
			if rest, is := strings.CutSuffix(word, ending); is && len(rest) >= 3 {
				word = rest
				break
			}
		}
		if n := len(word); n > 3 && word[n-1] == word[n-2] {
			word = word[:n-1]
		}
		all = append(all, word)
	}
	return all
}

// match says how well a name fits the issue; 0: not at all.
func (w issueWords) match(name string) float64 {
	sum := w.weight[strings.ToLower(lastPart(name))]
	words := stems(name)
	for _, stem := range words {
		sum += w.weight[stem]
	}
	return sum / math.Sqrt(float64(max(len(words), 1)))
}

// density says how many of the issue's words a code has, from 0 to 2.
func (w issueWords) density(code string) float64 {
	has := map[string]bool{}
	for _, word := range identifier.FindAllString(code, -1) {
		for _, stem := range stems(word) {
			has[stem] = true
		}
	}
	sum, all := 0.0, 1.0
	for stem, weight := range w.weight {
		all += weight
		if has[stem] {
			sum += weight
		}
	}
	return 2 * sum / all
}

// lastPart is the name without what it is inside of.
func lastPart(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// isClass guesses by its form whether a name is one of a class.
func isClass(name string) bool {
	return name != "" && unicode.IsUpper(rune(name[0])) && strings.ToUpper(name) != name && !strings.Contains(name, ".")
}

// camel is a file's name in the form of a class.
func camel(name string) (class string) {
	for part := range strings.SplitSeq(name, "_") {
		if part != "" {
			class += strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return class
}

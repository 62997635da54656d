// Package secretscan finds keys, tokens and passwords in text: those of known forms, and those that a process knows.
package secretscan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// OwnPrefix begins the rule of a secret that the process itself has, before its name.
const OwnPrefix = "own:"

// IsOwn reports whether a rule is that of a secret of the process.
func IsOwn(rule string) bool { return strings.HasPrefix(rule, OwnPrefix) }

// Names lists the rules in alphabetical order.
func Names() []string {
	names := make([]string, len(rules))
	for i, r := range rules {
		names[i] = r.name
	}
	slices.Sort(names)
	return names
}

// Finding is a secret in a text.
type Finding struct {
	Rule  string // one of Names, or OwnPrefix with the name of a secret of the process
	Start int    // index of its first byte
	End   int    // index after its last byte
	// Excerpt shows it in its surroundings as one line, without the secret: of one of a known form its first bytes.
	Excerpt string
}

// leastOwn is the least length of a secret of the process that is searched for, in bytes: shorter ones are words
// that stand in any text.
const leastOwn = 12

// Scanner finds secrets. It is safe for concurrent use.
type Scanner struct{ own []own }

// own is a secret of the process.
type own struct{ name, value string }

// NewScanner returns a scanner that also finds the values of the process's own secrets, by their names. Values
// of fewer than 12 bytes are not searched for.
func NewScanner(values map[string]string) *Scanner {
	s := &Scanner{}
	for name, value := range values {
		if len(value) < leastOwn {
			continue
		}
		s.own = append(s.own, own{name, value})
		// In the arguments of a call, which are JSON.
		if quoted, err := json.Marshal(value); err == nil && string(quoted) != `"`+value+`"` {
			s.own = append(s.own, own{name, string(quoted[1 : len(quoted)-1])})
		}
	}
	slices.SortFunc(s.own, func(a, b own) int { return strings.Compare(a.name+a.value, b.name+b.value) })
	return s
}

// Find returns the secrets of a text in the order of their places. A place has one finding: an own secret, else
// the first rule in alphabetical order.
func (s *Scanner) Find(text string) []Finding {
	var all []Finding
	for _, o := range s.own {
		for _, i := range places(text, o.value) {
			all = append(all, Finding{Rule: OwnPrefix + o.name, Start: i, End: i + len(o.value)})
		}
	}
	all = appendFormed(all, text)
	slices.SortStableFunc(all, func(a, b Finding) int { return a.Start - b.Start })
	all = withoutOverlap(all)
	for i, end := 0, 0; i < len(all); i++ {
		all[i].Excerpt = excerpt(text, all[i], end)
		end = all[i].End
	}
	return all
}

// starts has, by the first two bytes of a head, the number of its entry in groups; 0: no head begins so. A text is
// searched for all heads at once by it.
var starts, groups = index()

// headed is a head of a rule.
type headed struct {
	head string
	rule *rule
}

func index() (starts [1 << 16]uint8, groups [][]headed) {
	groups = make([][]headed, 1)
	for i := range rules {
		for _, head := range rules[i].heads {
			at := &starts[pair(head[0], head[1])]
			if *at == 0 {
				*at = uint8(len(groups))
				groups = append(groups, nil)
			}
			groups[*at] = append(groups[*at], headed{head, &rules[i]})
		}
	}
	return starts, groups
}

func pair(a, b byte) uint16 { return uint16(a) | uint16(b)<<8 }

// appendFormed appends the secrets of known forms.
func appendFormed(all []Finding, text string) []Finding {
	for i := 0; i+1 < len(text); i++ {
		group := starts[pair(text[i], text[i+1])]
		if group == 0 {
			continue
		}
		for _, h := range groups[group] {
			if !strings.HasPrefix(text[i:], h.head) || h.rule.may != nil && !h.rule.may(text[i+len(h.head):]) {
				continue
			}
			if f, is := h.rule.match(text, i); is {
				all = append(all, f)
			}
		}
	}
	return all
}

// places returns the indices of a word in a text.
func places(text, word string) (all []int) {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return all
		}
		all = append(all, from+i)
		from += i + len(word)
	}
}

// match returns the secret whose head is at i.
func (r *rule) match(text string, i int) (f Finding, is bool) {
	if !r.within && i > 0 && isWord(text[i-1]) {
		return f, false
	}
	found := r.form.FindStringSubmatchIndex(text[i:min(len(text), i+reach)])
	if found == nil {
		return f, false
	}
	group := found[len(found)-2:] // group 1 if there is one, else all
	f = Finding{Rule: r.name, Start: i + group[0], End: i + group[1]}
	return f, r.real(text[f.Start:f.End])
}

func isWord(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_'
}

// withoutOverlap keeps the first of the findings that overlap.
func withoutOverlap(all []Finding) []Finding {
	end := 0
	return slices.DeleteFunc(all, func(f Finding) bool {
		if f.Start < end {
			return true
		}
		end = f.End
		return false
	})
}

// Lengths of an excerpt, in bytes.
const (
	before   = 24 // shown before the secret
	revealed = 4  // shown of a secret of a known form, which is its head
)

// excerpt returns Finding.Excerpt; another secret ends at end.
func excerpt(text string, f Finding, end int) string {
	shown := ""
	if !IsOwn(f.Rule) && f.Rule != "password-in-url" {
		shown = text[f.Start:min(f.End, f.Start+revealed)]
	}
	lead := strings.ToValidUTF8(text[max(end, f.Start-before):f.Start], "")
	return strings.Join(strings.Fields(fmt.Sprintf("%s%s…[%d bytes]", lead, shown, f.End-f.Start)), " ")
}

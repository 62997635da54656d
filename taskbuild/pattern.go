package taskbuild

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// compiled caches the expressions of patterns.
var compiled sync.Map

// Match reports whether a path matches a pattern: * stands for any characters but /, ? for one of them, ** for
// any characters; **/ at the beginning also for nothing, so **/a.py matches a.py.
func Match(pattern, path string) bool {
	known, ok := compiled.Load(pattern)
	if !ok {
		known, _ = compiled.LoadOrStore(pattern, expression(pattern))
	}
	return known.(*regexp.Regexp).MatchString(path)
}

// MatchAny reports whether a path matches one of the patterns.
func MatchAny(patterns []string, path string) bool {
	for _, p := range patterns {
		if Match(p, path) {
			return true
		}
	}
	return false
}

// expression translates a pattern.
func expression(pattern string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`\A`)
	for rest := pattern; rest != ""; {
		switch {
		case strings.HasPrefix(rest, "**/"):
			b.WriteString(`(?:.*/)?`)
			rest = rest[3:]
		case strings.HasPrefix(rest, "**"):
			b.WriteString(`.*`)
			rest = rest[2:]
		case rest[0] == '*':
			b.WriteString(`[^/]*`)
			rest = rest[1:]
		case rest[0] == '?':
			b.WriteString(`[^/]`)
			rest = rest[1:]
		default:
			_, size := utf8.DecodeRuneInString(rest)
			b.WriteString(regexp.QuoteMeta(rest[:size]))
			rest = rest[size:]
		}
	}
	b.WriteString(`\z`)
	return regexp.MustCompile(`(?s)` + b.String())
}

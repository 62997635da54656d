package protect

import (
	"errors"
	"regexp"
	"strings"
)

// nodeText and nodeList are a string and a list of strings in JavaScript, as expressions.
const (
	nodeText = `"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`
	nodeList = `\[(?:` + nodeText + `|[^\]"'])*\]`
)

// A configuration of Jest or Vitest at the base may choose files that are not called like
// tests. PASS_TO_PASS names the tests in them by their titles alone.
var (
	// nodeChoices finds the keys that choose files with tests by globs. Vitest has other keys
	// called include further inside.
	nodeChoices = []*regexp.Regexp{
		regexp.MustCompile(`\btestMatch["']?\s*:\s*(` + nodeList + `)`),
		regexp.MustCompile(`\btest["']?\s*:\s*\{[^{}]*?\binclude["']?\s*:\s*(` + nodeList + `)`),
	}
	nodeExpressions = regexp.MustCompile(`\btestRegex["']?\s*:\s*(` + nodeList + `|` + nodeText + `)`)
	nodeStrings     = regexp.MustCompile(nodeText)
)

// nodeTestPatterns returns what the files match that a configuration chooses for tests.
func nodeTestPatterns(config []byte) []*regexp.Regexp {
	var patterns []*regexp.Regexp
	for _, choice := range nodeChoices {
		for _, m := range choice.FindAllSubmatch(config, -1) {
			for _, glob := range stringsIn(m[1]) {
				if pattern, err := globPattern(glob); err == nil {
					patterns = append(patterns, pattern)
				}
			}
		}
	}
	for _, m := range nodeExpressions.FindAllSubmatch(config, -1) {
		for _, text := range stringsIn(m[1]) {
			if pattern, err := regexp.Compile(strings.ReplaceAll(text, `\\`, `\`)); err == nil {
				patterns = append(patterns, pattern)
			}
		}
	}
	return patterns
}

// stringsIn returns the strings of a list in JavaScript.
func stringsIn(list []byte) []string {
	var found []string
	for _, text := range nodeStrings.FindAll(list, -1) {
		found = append(found, string(text[1:len(text)-1]))
	}
	return found
}

var (
	errGlob = errors.New("a glob that cannot be read")
	// globParts finds what has a meaning in a glob, and what has none.
	globParts = regexp.MustCompile(`\*\*/|\*\*|[?*+@]\(|\*|\?|\[[^\]]*\]|[{},()|!]|[^*?+@[{},()|!]+|.`)
)

// globPattern returns the expression for a glob of Jest or Vitest. Paths begin with a slash
// there. Those with exclusions are an error.
func globPattern(glob string) (*regexp.Regexp, error) {
	glob = strings.TrimPrefix(strings.TrimPrefix(glob, "<rootDir>/"), "./")
	var b strings.Builder
	var ends []string // what closes the groups around
	for _, part := range globParts.FindAllString(glob, -1) {
		switch {
		case part == "!":
			return nil, errGlob
		case part == "**/":
			b.WriteString("(?:.*/)?")
		case part == "**":
			b.WriteString(".*")
		case part == "*":
			b.WriteString("[^/]*")
		case part == "?":
			b.WriteString("[^/]")
		case len(part) == 2 && part[1] == '(':
			ends = append(ends, ")"+strings.Trim(part[:1], "@"))
			b.WriteString("(?:")
		case part == "{", part == "(":
			ends = append(ends, ")")
			b.WriteString("(?:")
		case part == "}" || part == ")":
			if len(ends) == 0 {
				return nil, errGlob
			}
			b.WriteString(ends[len(ends)-1])
			ends = ends[:len(ends)-1]
		case len(ends) > 0 && (part == "," || part == "|"):
			b.WriteByte('|')
		case part[0] == '[':
			b.WriteString(part)
		default:
			b.WriteString(regexp.QuoteMeta(part))
		}
	}
	return regexp.Compile("^/" + b.String() + "$")
}

// choosesCode reports whether a pattern matches what the gold patch changes: then it does
// not choose tests alone.
func (p protection) choosesCode(pattern *regexp.Regexp) bool {
	for name := range p.gold {
		if pattern.MatchString("/" + name) {
			return true
		}
	}
	return false
}

// isChosen reports whether the configuration at the base has a file run as a test.
func (p protection) isChosen(name string) bool {
	for _, pattern := range p.chosen {
		if pattern.MatchString("/"+name) && !p.choosesCode(pattern) {
			return true
		}
	}
	return false
}

package protect

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// nodeText and nodeList match a string and a list of strings in JavaScript.
const (
	nodeText = `"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`
	nodeList = `\[(?:` + nodeText + `|[^\]"'])*\]`
)

// The base's settings of Jest or Vitest may select files that are not named like tests. PASS_TO_PASS
// contains only the titles of their tests.
var (
	// nodeChoices matches the settings that select test files by globs. Vitest has nested settings
	// with the name include that mean something else.
	nodeChoices = []*regexp.Regexp{
		regexp.MustCompile(`\btestMatch["']?\s*:\s*(` + nodeList + `)`),
		regexp.MustCompile(`\btest["']?\s*:\s*\{[^{}]*?\binclude["']?\s*:\s*(` + nodeList + `)`),
	}
	nodeExpressions = regexp.MustCompile(`\btestRegex["']?\s*:\s*(` + nodeList + `|` + nodeText + `)`)
	nodeStrings     = regexp.MustCompile(nodeText)
)

// nodeTestPatterns returns the patterns of the test files that settings select.
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
	errGlob = errors.New("unknown glob syntax")
	// globParts matches the parts of a glob.
	globParts = regexp.MustCompile(`\*\*/|\*\*|[?*+@]\(|\*|\?|\[[^\]]*\]|[{},()|!]|[^*?+@[{},()|!]+|.`)
)

// globPattern returns the expression for a glob of Jest or Vitest, for paths that begin with a
// slash. Exclusions are an error.
func globPattern(glob string) (*regexp.Regexp, error) {
	glob = strings.TrimPrefix(strings.TrimPrefix(glob, "<rootDir>/"), "./")
	var b strings.Builder
	var ends []string // the ends of the open groups
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

// isChosen reports whether the base's settings select a file as a test. A pattern that also matches
// files of the gold patch does not count.
func (p protection) isChosen(name string) bool {
	return slices.ContainsFunc(p.chosen, func(pattern *regexp.Regexp) bool {
		matches := func(name string) bool { return pattern.MatchString("/" + name) }
		return matches(name) && !slices.ContainsFunc(slices.Collect(maps.Keys(p.gold)), matches)
	})
}

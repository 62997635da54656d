package python

import (
	"fmt"
	"regexp"
	"strings"

	"relabel/envs/verify/canary"
)

// classGroup holds the classes of a test file that have tests and the same base classes. A replaced
// base class changes the results of its tests, so each group has canaries in a class that derives
// from one of its classes.
type classGroup struct {
	name  string // of one of its classes
	bases string // as in the file
	body  string // of all its classes
}

// maxClassGroups limits the groups of classes in a file that get canaries.
const maxClassGroups = 8

var (
	pythonClass    = regexp.MustCompile(`(?m)^class[ \t]+(\w+)[ \t]*(?:\(([^()]*)\))?[ \t]*:`)
	pythonTopLevel = regexp.MustCompile(`(?m)^(?:class|def|async def|@\w)`)
	pythonMethod   = regexp.MustCompile(`(?m)^[ \t]+(?:async[ \t]+)?def[ \t]+test`)
	pythonSpace    = regexp.MustCompile(`#.*|\s+`)
	unittestUse    = regexp.MustCompile(`\bself\.assert[A-Z]|TestCase\b`)
)

// classGroups returns the groups of a file, in its order. The name of a group is that of a class
// that ids name, if there is one.
func classGroups(content []byte, ids []string) []classGroup {
	var groups []classGroup
	at := map[string]int{}
	chosen := wordsOf(ids)
	for _, m := range pythonClass.FindAllSubmatchIndex(content, -1) {
		body := content[m[1]:]
		if end := pythonTopLevel.FindIndex(body); end != nil {
			body = body[:end[0]]
		}
		if !pythonMethod.Match(body) {
			continue
		}
		name, bases := string(content[m[2]:m[3]]), ""
		if m[4] >= 0 {
			bases = pythonSpace.ReplaceAllString(string(content[m[4]:m[5]]), "")
		}
		i, known := at[bases]
		if !known {
			i, at[bases] = len(groups), len(groups)
			groups = append(groups, classGroup{name: name, bases: bases})
		}
		if !chosen[groups[i].name] && chosen[name] {
			groups[i].name = name
		}
		groups[i].body += string(body)
	}
	return groups[:min(len(groups), maxClassGroups)]
}

var pythonWord = regexp.MustCompile(`\w+`)

// wordsOf returns the words of texts.
func wordsOf(texts []string) map[string]bool {
	words := map[string]bool{}
	for _, text := range texts {
		for _, word := range pythonWord.FindAllString(text, -1) {
			words[word] = true
		}
	}
	return words
}

// containsWord reports whether a text contains a whole word.
func containsWord(text, word string) bool {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(word) + `\b`).MatchString(text)
}

// unittest reports whether the classes are test cases of unittest.
func (c classGroup) unittest() bool { return unittestUse.MatchString(c.bases + c.body) }

// derived is a class of canaries that derives from a class of its file, without that class's tests.
// cases: the runner only runs test cases of unittest. If no class can derive from it, the code has
// no effect.
func (p *pythonCanaries) derived(file string, content []byte, group classGroup, cases bool, name func(class, method string) string) (class, code string) {
	cases = cases || group.unittest()
	class = p.Camel() + "Test"
	if !cases && strings.HasPrefix(group.name, "Test") {
		class = "Test" + p.Camel()
	}
	at := strings.TrimSuffix(file+" "+group.bases, " ")
	var methods []string
	if p.under(at) {
		for _, fails := range canary.Mix(p.Random, 2) {
			methods = append(methods, p.method(class, cases, fails, name))
		}
	}
	if cases {
		body := []byte(group.body)
		claims := append(usedIn(unittestClaims, body, 2), usedIn(djangoClaims, body, 0)...)
		methods = append(methods, p.methods(at, class, append(claims, helperClaims(content, body)...), name)...)
	}
	if len(methods) == 0 {
		return "", ""
	}
	return class, withoutTests(class, group.name, p.shuffled(methods))
}

// withoutTests is a class with methods that derives from another class, without its tests.
func withoutTests(class, from, methods string) string {
	code := fmt.Sprintf("class %s(%s):\n    locals().update({name: None for name in dir(%s) if name.startswith(\"test\") and callable(getattr(%s, name))})\n\n%s",
		class, from, from, from, methods)
	return "try:\n" + indented(code, "    ") + "except Exception:\n    pass\n"
}

// method is a method of a test class with a comparison.
func (p *pythonCanaries) method(class string, cases, fails bool, name func(class, method string) string) string {
	method, s := p.function(), p.Sum()
	p.must(name(class, method), fails, s.Result)
	if cases {
		return fmt.Sprintf("    def %s(self):\n        self.%s\n", method, p.comparison(s, fails))
	}
	variable := p.Pick(canary.Nouns)
	return fmt.Sprintf("    def %s(self):\n        %s = %s\n        assert %s == %d, %s\n", method, variable, s.Code, variable, p.Claimed(s, fails), variable)
}

// indented indents each line that is not empty.
func indented(code, by string) string {
	lines := strings.SplitAfter(code, "\n")
	for i, line := range lines {
		if strings.TrimSpace(line) != "" {
			lines[i] = by + line
		}
	}
	return strings.Join(lines, "")
}

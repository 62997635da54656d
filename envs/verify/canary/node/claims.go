package node

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"relabel/envs/verify/canary"
)

// nodeClaim is a false claim of a test.
type nodeClaim struct {
	statement string // with the words that matchers.go explains
	stored    string // see nodeMatcher
	shown     bool   // see nodeMatcher
}

// nodeWays are claims that get their value by a function or statement that code under test may
// change, by a text of files that use it. CHECK compares value with WRONG.
var nodeWays = []struct{ use, statement string }{
	{".then(", "return Promise.resolve(VALUE).then((value) => { CHECK; })"},
	{".catch(", "return Promise.reject(VALUE).catch((value) => { CHECK; })"},
	{".finally(", "return Promise.resolve(VALUE).finally(() => { const value = VALUE; CHECK; })"},
	{".forEach(", "[VALUE].forEach((value) => { CHECK; })"},
	{".map(", "[VALUE].map((value) => { CHECK; })"},
	{".every(", "if (![VALUE].every((value) => value < 0)) throw new Error('got ' + VALUE)"},
	{".some(", "if (![VALUE].some((value) => value < 0)) throw new Error('got ' + VALUE)"},
	{" of ", "for (const value of [VALUE]) { CHECK; }"},
	{"Object.keys(", "Object.keys({ [VALUE]: 1 }).forEach((key) => { const value = Number(key); CHECK; })"},
	{"Object.values(", "Object.values({ key: VALUE }).forEach((value) => { CHECK; })"},
	{"Object.entries(", "Object.entries({ key: VALUE }).forEach(([, value]) => { CHECK; })"},
	{"JSON.stringify(", "if (JSON.stringify([VALUE]) !== JSON.stringify([WRONG])) throw new Error('got ' + VALUE)"},
	{"setTimeout(", "return new Promise((resolve, reject) => { setTimeout(() => { try { const value = VALUE; CHECK; resolve(null); } catch (e) { reject(e); } }, 1); })"},
}

// wayClaims returns the claims of nodeWays that a file uses.
func wayClaims(content []byte) []nodeClaim {
	check := "if (value !== WRONG) throw new Error('got ' + value)"
	switch {
	case !nodeExpect.Match(content):
	case chaiExpect.Match(content):
		check = "expect(value).to.equal(WRONG)"
	default:
		check = "expect(value).toBe(WRONG)"
	}
	var claims []nodeClaim
	for _, way := range nodeWays {
		if bytes.Contains(content, []byte(way.use)) {
			claims = append(claims, nodeClaim{statement: strings.ReplaceAll(way.statement, "CHECK", check), shown: true})
		}
	}
	return claims
}

var (
	// nodeMatch matches calls of matchers, with promise and not before them.
	nodeMatch = regexp.MustCompile(`\.\s*(?:(resolves|rejects)\s*\.\s*)?(?:(not)\s*\.\s*)?((?:to|last|nth)[A-Z]\w*)\s*(?:<[^>()]*>)?\(`)
	// nodeMocks matches the object of Jest or Vitest that makes mocks.
	nodeMocks = regexp.MustCompile(`\b(jest|vi|vitest)\.(?:fn|spyOn|mock|mocked)\b`)
)

// nodeClaims returns the different claims for a test file: two for every file with expectations,
// and those with everything else that it uses.
func nodeClaims(content []byte) []nodeClaim {
	var claims []nodeClaim
	if nodeExpect.Match(content) && !chaiExpect.Match(content) {
		claims = append(claims, nodeMatchers[0].claim("toBe", "", ""), nodeMatchers[1].claim("toEqual", "", ""))
		claims = append(claims, matcherClaims(content)...)
	}
	if nodeExpect.Match(content) {
		claims = append(claims, chaiClaims(content)...)
	}
	claims = append(append(claims, assertions(content)...), wayClaims(content)...)
	var all []nodeClaim
	seen := map[string]bool{}
	mocks := nodeMocks.FindSubmatch(content)
	for _, c := range claims {
		c.statement = strings.NewReplacer("CALLED", nodeCalled, "TWICE", nodeTwice).Replace(c.statement)
		if strings.Contains(c.statement, "MOCK") {
			if mocks == nil {
				continue
			}
			c.statement = strings.ReplaceAll(c.statement, "MOCK", string(mocks[1])+".fn")
		}
		if !seen[c.statement] && len(all) < canary.MaxClaims {
			seen[c.statement] = true
			all = append(all, c)
		}
	}
	return all
}

// matcherClaims are claims with the matchers that a file calls, also after not and promises like
// there, and with other parts of expect.
func matcherClaims(content []byte) []nodeClaim {
	var claims []nodeClaim
	if bytes.Contains(content, []byte(".not.")) {
		claims = append(claims, nodeMatchers[0].claim("toBe", "", "not"))
	}
	for _, m := range nodeMatch.FindAllSubmatch(content, -1) {
		promise, not, name := string(m[1]), string(m[2]), string(m[3])
		for _, matcher := range nodeMatchers {
			if oneOf(matcher.names, name) && !(matcher.plain && not != "") && !(matcher.sync && promise != "") {
				claims = append(claims, matcher.claim(name, promise, not))
			}
		}
	}
	for _, u := range nodeUses {
		if bytes.Contains(content, []byte(u.use)) {
			claims = append(claims, u.nodeClaim)
		}
	}
	return claims
}

// oneOf reports whether names, which are separated by spaces, contain a name.
func oneOf(names, name string) bool { return slices.Contains(strings.Fields(names), name) }

// claim is a claim with a matcher after promise ("resolves", "rejects" or "") and not ("not" or
// "").
func (m nodeMatcher) claim(name, promise, not string) nodeClaim {
	received, args := m.bad, m.args
	if promise == "rejects" && m.rejected != "" {
		received = m.rejected
	}
	chain := "." + name
	if not != "" {
		chain = ".not" + chain
		if m.good != "" {
			received = m.good
		}
		received, args = strings.ReplaceAll(received, "WRONG", "RIGHT"), strings.ReplaceAll(args, "WRONG", "RIGHT")
		if strings.Contains(received, "CALLED") {
			received = strings.ReplaceAll(nodeCalled, "WRONG", "RIGHT")
		}
	}
	before := ""
	if promise != "" {
		before, received, chain = "await ", "Promise."+strings.TrimSuffix(promise, "s")+"("+received+")", "."+promise+chain
	}
	return nodeClaim{
		statement: before + "expect(" + received + ")" + chain + "(" + args + ")",
		stored:    m.stored, shown: m.shown && promise == "" && not == "",
	}
}

package node

import (
	"cmp"
	"regexp"
	"strings"
)

// chaiTerm is the end of a chain of chai's expect, such as equal in expect(a).to.deep.equal(b).
// Its fields are as in nodeMatcher.
type chaiTerm struct {
	names     string
	bad, args string
	good      string
	property  bool // it is not called
}

// chaiTerms are the ends of chains. Vitest's expect has them too.
var chaiTerms = []chaiTerm{
	{names: "equal equals eq eql eqls", bad: "VALUE", args: "WRONG"},
	{names: "true ok", bad: "VALUE < 0", good: "VALUE > 0", property: true},
	{names: "false", bad: "VALUE > 0", good: "VALUE < 0", property: true},
	{names: "null", bad: "VALUE", good: "VALUE > 0 ? null : VALUE", property: true},
	{names: "undefined", bad: "VALUE", good: "[VALUE][1]", property: true},
	{names: "NaN", bad: "VALUE", good: "VALUE * NaN", property: true},
	{names: "exist", bad: "[VALUE][1]", good: "VALUE", property: true},
	{names: "empty", bad: "[VALUE]", good: "[VALUE].slice(1)", property: true},
	{names: "a an", bad: "'' + VALUE", args: "'number'", good: "VALUE"},
	{names: "include includes contain contains", bad: "[VALUE]", args: "WRONG"},
	{names: "property", bad: "{ value: VALUE }", args: "'value', WRONG"},
	{names: "length lengthOf", bad: "[VALUE]", args: "2", good: "[VALUE, VALUE]"},
	{names: "match matches", bad: "'' + VALUE", args: "/^WRONG$/"},
	{names: "string", bad: "'' + VALUE", args: "'WRONG'"},
	{names: "throw throws Throw", bad: nodeThrower, args: "'WRONG'"},
	{names: "above gt greaterThan least gte", bad: "-VALUE", args: "0", good: "VALUE"},
	{names: "below lt lessThan most lte", bad: "VALUE", args: "0", good: "-VALUE"},
	{names: "within", bad: "VALUE", args: "1, 2", good: "VALUE / VALUE"},
	{names: "closeTo approximately", bad: "VALUE", args: "WRONG, 0.5"},
	{names: "instanceof instanceOf", bad: "new Number(VALUE)", args: "Error", good: "new Error('' + VALUE)"},
	{names: "keys key", bad: "{ value: VALUE }", args: "'other'", good: "{ other: VALUE }"},
	{names: "members", bad: "[VALUE]", args: "[WRONG]"},
	{names: "oneOf", bad: "VALUE", args: "[WRONG]"},
	{names: "satisfy satisfies", bad: "VALUE", args: "(value) => value < 0", good: "-VALUE"},
}

var (
	// chaiChain matches chains such as ".to.not.deep.equal(" and ".not.to.be.true".
	chaiChain = regexp.MustCompile(`\)\s*\.((?:not\.)?to(?:\.[a-zA-Z]+)+)`)
	// chaiExpect matches an import of chai's expect.
	chaiExpect = regexp.MustCompile(`\{[^}]*\bexpect\b[^}]*\}\s*(?:from|=)\s*(?:require\(\s*)?(?:['"]chai['"]|chai\b)|require\(\s*['"]chai['"]\s*\)\.expect|\bexpect\s*=\s*chai\.expect`)
)

// chaiClaims are claims with the chains that a file uses.
func chaiClaims(content []byte) []nodeClaim {
	var claims []nodeClaim
	for _, m := range chaiChain.FindAllSubmatch(content, -1) {
		chain := string(m[1])
		parts := strings.Split(chain, ".")
		for _, term := range chaiTerms {
			if oneOf(term.names, parts[len(parts)-1]) {
				claims = append(claims, term.claim(chain))
			}
		}
	}
	return claims
}

// claim is a claim with a chain that ends with the term.
func (t chaiTerm) claim(chain string) nodeClaim {
	bad, args, words := t.bad, t.args, "."+chain+"."
	if strings.Contains(words, ".deep.") && args == "WRONG" {
		args = "[WRONG]"
		bad = strings.Replace(bad, "VALUE", "[VALUE]", 1)
	}
	if strings.Contains(words, ".include.members") || strings.Contains(words, ".contain.members") {
		bad = "[VALUE, VALUE]"
	}
	if strings.Contains(words, ".not.") {
		if t.good != "" {
			bad = t.good
		}
		args = strings.ReplaceAll(args, "WRONG", "RIGHT")
	}
	if !t.property {
		chain += "(" + args + ")"
	}
	return nodeClaim{statement: "expect(" + bad + ")." + chain}
}

// assertClaims are failing calls of assert of Node.js and of chai, by function. The name "" is
// assert itself.
var assertClaims = map[string]string{
	"": "(VALUE < 0)", "ok": "(VALUE < 0)", "isOk": "(VALUE < 0)", "notOk": "(VALUE > 0)", "isNotOk": "(VALUE > 0)",
	"equal": "(VALUE, WRONG)", "notEqual": "(VALUE, RIGHT)", "strictEqual": "(VALUE, WRONG)", "notStrictEqual": "(VALUE, RIGHT)",
	"deepEqual": "([VALUE], [WRONG])", "notDeepEqual": "([VALUE], [RIGHT])",
	"deepStrictEqual": "([VALUE], [WRONG])", "notDeepStrictEqual": "([VALUE], [RIGHT])",
	"partialDeepStrictEqual": "({ value: VALUE }, { value: WRONG })",
	"throws":                 "(() => VALUE)", "doesNotThrow": "(" + nodeThrower + ")",
	"rejects": "(Promise.resolve(VALUE))", "doesNotReject": "(Promise.reject(new Error('' + VALUE)))",
	"match": "('' + VALUE, /^WRONG$/)", "doesNotMatch": "('' + VALUE, /^RIGHT$/)", "notMatch": "('' + VALUE, /^RIGHT$/)",
	"fail": "('' + VALUE)", "ifError": "(new Error('' + VALUE))",
	"isTrue": "(VALUE < 0)", "isFalse": "(VALUE > 0)", "isNotTrue": "(VALUE > 0)", "isNotFalse": "(VALUE < 0)",
	"isNull": "(VALUE)", "isNotNull": "(VALUE > 0 ? null : VALUE)", "isUndefined": "(VALUE)", "isDefined": "([VALUE][1])",
	"exists": "([VALUE][1])", "notExists": "(VALUE)", "isNaN": "(VALUE)", "isNotNaN": "(VALUE * NaN)",
	"isArray": "(VALUE)", "isNotArray": "([VALUE])", "isObject": "(VALUE)", "isString": "(VALUE)", "isNumber": "('' + VALUE)",
	"isBoolean": "(VALUE)", "isFunction": "(VALUE)", "typeOf": "(VALUE, 'string')", "notTypeOf": "(VALUE, 'number')",
	"instanceOf": "(new Number(VALUE), Error)", "notInstanceOf": "(new Error('' + VALUE), Error)",
	"include": "([VALUE], WRONG)", "notInclude": "([VALUE], RIGHT)", "deepInclude": "([[VALUE]], [WRONG])",
	"property": "({ value: VALUE }, 'other')", "notProperty": "({ value: VALUE }, 'value')", "propertyVal": "({ value: VALUE }, 'value', WRONG)",
	"lengthOf": "([VALUE], 2)", "isAbove": "(-VALUE, 0)", "isAtLeast": "(-VALUE, 0)", "isBelow": "(VALUE, 0)", "isAtMost": "(VALUE, 0)",
	"approximately": "(VALUE, WRONG, 0.5)", "closeTo": "(VALUE, WRONG, 0.5)", "isEmpty": "([VALUE])", "isNotEmpty": "([VALUE].slice(1))",
	"sameMembers": "([VALUE], [WRONG])", "sameDeepMembers": "([[VALUE]], [[WRONG]])", "includeMembers": "([VALUE], [WRONG])",
	"sameOrderedMembers": "([VALUE, 1], [1, RIGHT])", "oneOf": "(VALUE, [WRONG])", "hasAllKeys": "({ value: VALUE }, ['other'])",
}

const assertModule = `['"](?:node:)?assert(?:/strict)?['"]`

var (
	// assertObject matches a file's name for the module assert, and assertNames those for functions
	// of it.
	assertObject = regexp.MustCompile(`(?:import|const|let|var)\s+(?:\*\s*as\s+)?(\w+)\s*(?:from\s*|=\s*require\(\s*)` + assertModule)
	assertNames  = regexp.MustCompile(`(?:import|const|let|var)\s*\{([^}]*)\}\s*(?:from\s*|=\s*require\(\s*)` + assertModule)
	assertRename = regexp.MustCompile(`(\w+)(?:\s+as\s+|\s*:\s*)?(\w*)`)
)

// assertions are claims with the functions of assert that a file calls.
func assertions(content []byte) []nodeClaim {
	var claims []nodeClaim
	object := "assert"
	if m := assertObject.FindSubmatch(content); m != nil {
		object = string(m[1])
	}
	calls := regexp.MustCompile(`\b` + object + `(?:\.(?:strict\.)?(\w+))?\s*\(`)
	for _, m := range calls.FindAllSubmatch(content, -1) {
		claims = append(claims, assertClaim(string(m[1]), strings.TrimRight(string(m[0]), " \t\r\n("))...)
	}
	if m := assertNames.FindSubmatch(content); m != nil {
		for _, names := range assertRename.FindAllSubmatch(m[1], -1) {
			name, local := string(names[1]), string(names[2])
			claims = append(claims, assertClaim(name, cmp.Or(local, name))...)
		}
	}
	return claims
}

// assertClaim returns a claim with a function of assert that the file calls by another name. It
// returns none for an unknown function.
func assertClaim(name, called string) []nodeClaim {
	args, known := assertClaims[name]
	if !known {
		return nil
	}
	statement := called + args
	if name == "rejects" || name == "doesNotReject" {
		statement = "await " + statement
	}
	return []nodeClaim{{statement: statement}}
}

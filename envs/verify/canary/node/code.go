package node

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"relabel/envs/verify/canary"
)

// nodeCode writes the code of canaries, which is both JavaScript and TypeScript.
type nodeCode struct {
	*canary.Namer
	canaries []canary.Test
	left     map[string]bool // keys of excluded canaries
	file     nodeFile        // the present test file
	call     string          // test or it: the function that the next canary calls
	stored   []string        // snapshots of the present file's canaries
}

// nodeFile is a test file and the functions that it uses.
type nodeFile struct {
	name    string
	content []byte
	calls   []string // test, it or both
	each    []string // those of them that have tables
	groups  bool     // calls describe
	expects bool     // calls expect
	done    bool     // has tests with a callback
	counted bool     // tests without expectations may fail
	chai    bool     // expect is chai's
}

var (
	nodeGroup = regexp.MustCompile(`(?m)^\s*describe(?:\.\w+)*(?:\.each\b.*)?\(`)
	nodeDone  = regexp.MustCompile(`(?m)^\s*(?:test|it)\b.*(?:\(done\b|function\s*\w*\(done\b|,\s*done\s*=>)`)
	nodeEach  = regexp.MustCompile(`(?m)^\s*(test|it)(?:\.\w+)*\.each\b`)
)

// newNodeFile finds the functions that a test file uses.
func newNodeFile(name string, content []byte) nodeFile {
	return nodeFile{
		name: name, content: content, calls: distinct(nodeTestCall.FindAllSubmatch(content, -1)), each: distinct(nodeEach.FindAllSubmatch(content, -1)),
		groups: nodeGroup.Match(content), expects: nodeExpect.Match(content), done: nodeDone.Match(content),
		counted: bytes.Contains(content, []byte("hasAssertions(")), chai: chaiExpect.Match(content),
	}
}

// distinct returns the different first groups of matches.
func distinct(matches [][][]byte) []string {
	var texts []string
	for _, m := range matches {
		if !slices.Contains(texts, string(m[1])) {
			texts = append(texts, string(m[1]))
		}
	}
	return texts
}

// files returns a test file with canaries at its end, and its snapshot file if they need one. The
// canaries use the functions that the file's tests use, and groups if the file has groups.
func (c *nodeCode) files(g canary.Garden, name string) []canary.File {
	content, ok := g.Read(name)
	c.file, c.stored = newNodeFile(name, content), nil
	if !ok || len(c.file.calls) == 0 {
		return nil
	}
	code, grouped := c.usual(), []string(nil)
	if c.file.groups {
		grouped = c.usual()
	}
	for _, claim := range nodeClaims(content) {
		key := c.key(claim.statement)
		c.call = c.Pick(c.file.calls)
		switch {
		case key == "", claim.stored != "" && g.Late: // the evaluation script may write the snapshots
		case c.file.groups && claim.stored == "": // the names of snapshots contain those of groups
			grouped = append(grouped, c.fails(key, claim))
		default:
			code = append(code, c.fails(key, claim))
		}
	}
	if len(grouped) > 0 {
		c.Shuffle(grouped)
		code = append(code, fmt.Sprintf("describe('%s', () => {\n%s});\n", strings.Join(c.Phrase(), " "), strings.Join(grouped, "\n")))
	}
	c.Shuffle(code)
	files := []canary.File{g.Below(c.Namer, name, content, "\n"+strings.Join(code, "\n"))}
	if len(c.stored) > 0 {
		files = append(files, c.snapshots(g, name, string(content)))
	}
	return files
}

// key is the key of a canary of the present file; "" if it is excluded.
func (c *nodeCode) key(about string) string {
	key := c.file.name + ": " + about
	if c.left[key] || c.left[canary.BelowKey] {
		return ""
	}
	return key
}

// usual returns tests that throw, await or expect something, called like the tests of the present
// file. Some of them fail.
func (c *nodeCode) usual() []string {
	var code []string
	for _, c.call = range c.file.calls {
		code = append(code, c.throws(true), c.throws(c.Random.IntN(2) == 0), c.throws(false))
		if c.file.expects {
			code = append(code, c.passes())
		}
		if key := c.key("an async test"); key != "" {
			code = append(code, c.later(key, true), c.later(key, c.Random.IntN(2) == 0))
		}
	}
	if key := c.key("a test with a callback"); key != "" && c.file.done {
		code = append(code, c.calledBack(key))
	}
	for _, c.call = range c.file.each {
		if key := c.key("a test with a table"); key != "" {
			code = append(code, c.tabled(key))
		}
	}
	return code
}

// title draws the name of a canary and records its expected result. If it must fail, it shows
// proof, unless that is 0.
func (c *nodeCode) title(key string, fails bool, proof int) string {
	name := strings.Join(c.Phrase(), " ")
	c.canaries = append(c.canaries, canary.NewTest(name, key, fails, proof))
	return name
}

// sum draws an expression and the name of a variable for it.
func (c *nodeCode) sum() (s canary.Sum, variable string) {
	return c.Sum(), c.Pick(canary.Nouns) + "Of"
}

// fails is a test that makes a false claim.
func (c *nodeCode) fails(key string, claim nodeClaim) string {
	s, variable := c.sum()
	proof := 0
	if claim.shown {
		proof = s.Result
	}
	title, wrong := c.title(key, true, proof), fmt.Sprint(c.Claimed(s, true))
	statement := strings.NewReplacer("VALUE", variable, "WRONG", wrong, "RIGHT", fmt.Sprint(s.Result)).Replace(claim.statement)
	if claim.stored != "" {
		c.stored = append(c.stored, fmt.Sprintf("exports[`%s 1`] = `%s`;", title, strings.ReplaceAll(claim.stored, "WRONG", wrong)))
	}
	async := ""
	if strings.Contains(statement, "await ") {
		async = "async "
	}
	return fmt.Sprintf("%s('%s', %s() => {\n  const %s = %s;\n  %s;\n});\n", c.call, title, async, variable, s.Code, statement)
}

// passes is a test that makes true claims.
func (c *nodeCode) passes() string {
	s, variable := c.sum()
	return fmt.Sprintf("%s('%s', () => {\n  const %s = %s;\n  expect(%s)%s(%d);\n  expect([%s])%s([%d]);\n});\n",
		c.call, c.title("", false, 0), variable, s.Code, variable, c.matcher(".toBe", ".to.equal"), s.Result,
		variable, c.matcher(".toEqual", ".to.deep.equal"), s.Result)
}

// matcher is a matcher of Jest and Vitest, or chai's where expect is chai's.
func (c *nodeCode) matcher(plain, chai string) string {
	if c.file.chai {
		return chai
	}
	return plain
}

// throws is a test that throws an error or passes.
func (c *nodeCode) throws(fails bool) string {
	if !fails && c.file.counted {
		return c.passes()
	}
	s, variable := c.sum()
	return fmt.Sprintf("%s('%s', () => {\n  const %s = %s;\n  if (%s !== %d) throw new Error('got ' + %s);\n});\n",
		c.call, c.title("", fails, s.Result), variable, s.Code, variable, c.Claimed(s, fails), variable)
}

// later is a test that awaits the value that it compares.
func (c *nodeCode) later(key string, fails bool) string {
	s, variable := c.sum()
	want := c.Claimed(s, fails)
	claim := fmt.Sprintf("if (%s !== %d) throw new Error('got ' + %s)", variable, want, variable)
	if c.file.expects {
		claim = fmt.Sprintf("expect(%s === %d ? 0 : %s)%s(0)", variable, want, variable, c.matcher(".toEqual", ".to.equal"))
	}
	return fmt.Sprintf("%s('%s', async () => {\n  const %s = await Promise.resolve(%s);\n  %s;\n});\n", c.call, c.title(key, fails, s.Result), variable, s.Code, claim)
}

// tabled is a test that fails for the only row of its table.
func (c *nodeCode) tabled(key string) string {
	s, variable := c.sum()
	return fmt.Sprintf("%s.each([[%s, %d]])('%s', (%s, wanted) => {\n  if (%s !== wanted) throw new Error('got ' + %s);\n});\n",
		c.call, s.Code, c.Claimed(s, true), c.title(key, true, s.Result), variable, variable, variable)
}

// calledBack is a test that reports a failure to its callback.
func (c *nodeCode) calledBack(key string) string {
	s, variable := c.sum()
	return fmt.Sprintf("%s('%s', (done) => {\n  const %s = %s;\n  done(%s === %d ? undefined : new Error('got ' + %s));\n});\n",
		c.call, c.title(key, true, s.Result), variable, s.Code, variable, c.Claimed(s, true), variable)
}

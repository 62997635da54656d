package node

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"relabel"
	"relabel/envs/verify/canary"
)

// nodeCode writes the JavaScript of canaries, which is TypeScript too.
type nodeCode struct {
	*canary.Namer
	canaries []canary.Test
	left     map[string]bool // keys of canaries that are left out
	file     nodeFile        // the test file that the canaries are for
	call     string          // how the next canary is called: test or it
	stored   []string        // what the file's snapshots are to have
}

// nodeFile is a test file, and what its tests are made with.
type nodeFile struct {
	name    string
	content []byte
	calls   []string // test, it or both
	each    []string // those of them that are called with tables
	groups  bool     // it calls describe
	expects bool     // it calls expect
	done    bool     // some of its tests take a callback
	counted bool     // a test that expects nothing may fail there
	chai    bool     // its expect is chai's
}

var (
	nodeGroup = regexp.MustCompile(`(?m)^\s*describe(?:\.\w+)*(?:\.each\b.*)?\(`)
	nodeDone  = regexp.MustCompile(`(?m)^\s*(?:test|it)\b.*(?:\(done\b|function\s*\w*\(done\b|,\s*done\s*=>)`)
	nodeEach  = regexp.MustCompile(`(?m)^\s*(test|it)(?:\.\w+)*\.each\b`)
)

// newNodeFile looks at a test file.
func newNodeFile(name string, content []byte) nodeFile {
	return nodeFile{
		name: name, content: content, calls: distinct(nodeTestCall.FindAllSubmatch(content, -1)), each: distinct(nodeEach.FindAllSubmatch(content, -1)),
		groups: nodeGroup.Match(content), expects: nodeExpect.Match(content), done: nodeDone.Match(content), counted: bytes.Contains(content, []byte("hasAssertions(")), chai: chaiExpect.Match(content),
	}
}

// distinct returns the first groups of matches, each once.
func distinct(matches [][][]byte) []string {
	var texts []string
	for _, m := range matches {
		if !slices.Contains(texts, string(m[1])) {
			texts = append(texts, string(m[1]))
		}
	}
	return texts
}

// files are a test file with canaries at its end, and its snapshot file where they need one.
// They call what the file's own tests call, in a group too where these are in groups. There
// are none where the file calls nothing.
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
		case key == "", claim.stored != "" && g.Late: // an evaluation script may be to write the snapshots
		case c.file.groups && claim.stored == "": // what is stored is known by the names of groups too
			grouped = append(grouped, c.fails(key, claim))
		default:
			code = append(code, c.fails(key, claim))
		}
	}
	if len(grouped) > 0 {
		c.shuffle(grouped)
		code = append(code, fmt.Sprintf("describe('%s', () => {\n%s});\n", strings.Join(c.Phrase(), " "), strings.Join(grouped, "\n")))
	}
	c.shuffle(code)
	files := []canary.File{g.Below(c.Namer, name, content, "\n"+strings.Join(code, "\n"))}
	if len(c.stored) > 0 {
		files = append(files, c.snapshots(g, name, string(content)))
	}
	return files
}

// key is the key of a canary of the present file that can be left out alone; "" where it is to
// be left out.
func (c *nodeCode) key(about string) string {
	key := c.file.name + ": " + about
	if c.left[key] || c.left[canary.BelowKey] {
		return ""
	}
	return key
}

func (c *nodeCode) shuffle(code []string) {
	c.Random.Shuffle(len(code), func(i, j int) { code[i], code[j] = code[j], code[i] })
}

// usual are tests that throw, wait or expect something, some of which fail, for each way in
// which the tests of the present file are called.
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

// title draws the name of a canary under a key, and how it must end; a failed one shows
// proof, unless that is 0.
func (c *nodeCode) title(key string, fails bool, proof int) string {
	test := canary.Test{Name: strings.Join(c.Phrase(), " "), Key: key, Status: relabel.TestPassed}
	if fails {
		test.Status = relabel.TestFailed
	}
	if fails && proof != 0 {
		test.Proof = fmt.Sprint(proof)
	}
	c.canaries = append(c.canaries, test)
	return test.Name
}

// want is what a canary expects of a sum.
func (c *nodeCode) want(s canary.Sum, fails bool) int {
	if fails {
		return s.Result + c.Between(1, 900)
	}
	return s.Result
}

// fails is a test that makes a claim which does not hold, under a key.
func (c *nodeCode) fails(key string, claim nodeClaim) string {
	s, variable := canary.DrawSum(c.Namer), c.Pick(canary.Nouns)+"Of"
	proof := 0
	if claim.shown {
		proof = s.Result
	}
	title, wrong := c.title(key, true, proof), fmt.Sprint(c.want(s, true))
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

// passes is a test whose claims hold.
func (c *nodeCode) passes() string {
	s, variable := canary.DrawSum(c.Namer), c.Pick(canary.Nouns)+"Of"
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

// throws is a test that throws an error of its own, or passes.
func (c *nodeCode) throws(fails bool) string {
	if !fails && c.file.counted {
		return c.passes()
	}
	s, variable := canary.DrawSum(c.Namer), c.Pick(canary.Nouns)+"Of"
	return fmt.Sprintf("%s('%s', () => {\n  const %s = %s;\n  if (%s !== %d) throw new Error('got ' + %s);\n});\n",
		c.call, c.title("", fails, s.Result), variable, s.Code, variable, c.want(s, fails), variable)
}

// later is a test, under a key, that awaits what it compares.
func (c *nodeCode) later(key string, fails bool) string {
	s, variable := canary.DrawSum(c.Namer), c.Pick(canary.Nouns)+"Of"
	want := c.want(s, fails)
	claim := fmt.Sprintf("if (%s !== %d) throw new Error('got ' + %s)", variable, want, variable)
	if c.file.expects {
		claim = fmt.Sprintf("expect(%s === %d ? 0 : %s)%s(0)", variable, want, variable, c.matcher(".toEqual", ".to.equal"))
	}
	return fmt.Sprintf("%s('%s', async () => {\n  const %s = await Promise.resolve(%s);\n  %s;\n});\n", c.call, c.title(key, fails, s.Result), variable, s.Code, claim)
}

// tabled is a test, under a key, that fails for the one row of its table.
func (c *nodeCode) tabled(key string) string {
	s, variable := canary.DrawSum(c.Namer), c.Pick(canary.Nouns)+"Of"
	return fmt.Sprintf("%s.each([[%s, %d]])('%s', (%s, wanted) => {\n  if (%s !== wanted) throw new Error('got ' + %s);\n});\n",
		c.call, s.Code, c.want(s, true), c.title(key, true, s.Result), variable, variable, variable)
}

// calledBack is a test, under a key, that calls back with a failure.
func (c *nodeCode) calledBack(key string) string {
	s, variable := canary.DrawSum(c.Namer), c.Pick(canary.Nouns)+"Of"
	return fmt.Sprintf("%s('%s', (done) => {\n  const %s = %s;\n  done(%s === %d ? undefined : new Error('got ' + %s));\n});\n",
		c.call, c.title(key, true, s.Result), variable, s.Code, variable, c.want(s, true), variable)
}

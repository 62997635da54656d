package verify

import (
	"fmt"
	"strings"

	"relabel"
)

// nodeCode writes the JavaScript of canaries, which is TypeScript too.
type nodeCode struct {
	*namer
	canaries []canaryTest
	call     string   // how the tests of the present file are called: test or it
	chai     bool     // its expect is chai's
	stored   []string // what its snapshot file is to have
}

// files are a test file with canaries at its end, and its snapshot file where they need one.
// They call what the file's own tests call. There are none where it calls nothing.
func (c *nodeCode) files(g garden, name string) []plantedFile {
	content, ok := g.read(name)
	call := nodeTestCall.FindSubmatch(content)
	if !ok || call == nil {
		return nil
	}
	c.call, c.chai, c.stored = string(call[1]), chaiExpect.Match(content), nil
	var code []string
	for _, claim := range nodeClaims(content) {
		if key := name + ": " + claim.statement; !g.left[key] && !g.left[belowKey] {
			code = append(code, c.fails(key, claim))
		}
	}
	code = append(code, c.throws(true), c.throws(c.random.IntN(2) == 0), c.throws(false))
	if nodeExpect.Match(content) {
		code = append(code, c.passes(), c.later(c.random.IntN(2) == 0))
	}
	c.random.Shuffle(len(code), func(i, j int) { code[i], code[j] = code[j], code[i] })
	files := []plantedFile{{path: name, content: string(content) + "\n" + strings.Join(code, "\n"), shared: true}}
	if len(c.stored) > 0 {
		files = append(files, c.snapshots(g, name, string(content)))
	}
	return files
}

// title draws the name of a canary and how it must end; a failed one shows
// proof, unless that is 0.
func (c *nodeCode) title(fails bool, proof int) string {
	test := canaryTest{name: strings.Join(c.phrase(), " "), status: relabel.TestPassed}
	if fails {
		test.status = relabel.TestFailed
	}
	if fails && proof != 0 {
		test.proof = fmt.Sprint(proof)
	}
	c.canaries = append(c.canaries, test)
	return test.name
}

// want is what a canary expects of a sum.
func (c *nodeCode) want(s sum, fails bool) int {
	if fails {
		return s.result + c.between(1, 900)
	}
	return s.result
}

// fails is a test that makes a claim which does not hold, under a key.
func (c *nodeCode) fails(key string, claim nodeClaim) string {
	s, variable := drawSum(c.namer), c.pick(canaryNouns)+"Of"
	proof := 0
	if claim.shown {
		proof = s.result
	}
	title, wrong := c.title(true, proof), fmt.Sprint(c.want(s, true))
	c.canaries[len(c.canaries)-1].key = key
	statement := strings.NewReplacer("VALUE", variable, "WRONG", wrong, "RIGHT", fmt.Sprint(s.result)).Replace(claim.statement)
	if claim.stored != "" {
		c.stored = append(c.stored, fmt.Sprintf("exports[`%s 1`] = `%s`;", title, strings.ReplaceAll(claim.stored, "WRONG", wrong)))
	}
	async := ""
	if strings.Contains(statement, "await ") {
		async = "async "
	}
	return fmt.Sprintf("%s('%s', %s() => {\n  const %s = %s;\n  %s;\n});\n", c.call, title, async, variable, s.code, statement)
}

// passes is a test whose claims hold.
func (c *nodeCode) passes() string {
	s, variable := drawSum(c.namer), c.pick(canaryNouns)+"Of"
	return fmt.Sprintf("%s('%s', () => {\n  const %s = %s;\n  expect(%s)%s(%d);\n  expect([%s])%s([%d]);\n});\n",
		c.call, c.title(false, 0), variable, s.code, variable, c.matcher(".toBe", ".to.equal"), s.result,
		variable, c.matcher(".toEqual", ".to.deep.equal"), s.result)
}

// matcher is a matcher of Jest and Vitest, or chai's where expect is chai's.
func (c *nodeCode) matcher(plain, chai string) string {
	if c.chai {
		return chai
	}
	return plain
}

// throws is a test that throws an error of its own.
func (c *nodeCode) throws(fails bool) string {
	s, variable := drawSum(c.namer), c.pick(canaryNouns)+"Of"
	return fmt.Sprintf("%s('%s', () => {\n  const %s = %s;\n  if (%s !== %d) throw new Error('got ' + %s);\n});\n",
		c.call, c.title(fails, s.result), variable, s.code, variable, c.want(s, fails), variable)
}

// later is a test that awaits what it compares.
func (c *nodeCode) later(fails bool) string {
	s, variable := drawSum(c.namer), c.pick(canaryNouns)+"Of"
	return fmt.Sprintf("%s('%s', async () => {\n  const %s = await Promise.resolve(%s);\n  expect(%s === %d ? 0 : %s)%s(0);\n});\n",
		c.call, c.title(fails, s.result), variable, s.code, variable, c.want(s, fails), variable, c.matcher(".toEqual", ".to.equal"))
}

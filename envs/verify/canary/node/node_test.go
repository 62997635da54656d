package node

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/envs/verify/canary"
	"relabel/envs/verify/tree"
)

// nodeGarden is a repository with one test file that the test patch changes.
func nodeGarden(command, content string) canary.Garden {
	patch := "diff --git a/test/add.test.js b/test/add.test.js\n--- a/test/add.test.js\n+++ b/test/add.test.js\n@@ -1 +1,2 @@\n x\n+y\n"
	return canary.Garden{
		Task: relabel.Task{TestPatch: patch, Workdir: "/testbed"}, Command: command, Random: rand.New(rand.NewPCG(1, 2)),
		Has:  func(name string) bool { return name == "test/add.test.js" },
		Read: func(name string) ([]byte, bool) { return []byte(content), name == "test/add.test.js" },
	}
}

func TestCanariesOfNodeStandAtTheEndOfTestFiles(t *testing.T) {
	const content = "import { it, expect } from 'vitest';\n\nit.skip('a', () => expect(1).toBe(1));\n\n  it('b', () => {});"
	p, ok := Canaries{}.Plant(nodeGarden("npx vitest run", content))
	if !ok || len(p.Files) != 1 || !strings.HasPrefix(p.Files[0].Content, content+"\n") || p.Failure != 1 {
		t.Fatalf("%v %+v", ok, p)
	}
	failing := 0
	for _, c := range p.Canaries {
		if !strings.Contains(p.Files[0].Content, "\nit('"+c.Name+"', ") {
			t.Errorf("%s is not in the file", c.Name)
		}
		if c.Proof != "" && strings.Contains(p.Files[0].Content, c.Proof) {
			t.Errorf("%s says %s in its file", c.Name, c.Proof)
		}
		if c.Status == relabel.TestFailed {
			failing++
		}
	}
	if failing == 0 || failing == len(p.Canaries) {
		t.Errorf("%d of %d fail", failing, len(p.Canaries))
	}
}

func TestCanariesOfNodeCallOnlyWhatTheFileHas(t *testing.T) {
	p, ok := Canaries{}.Plant(nodeGarden("npx jest", "const assert = require('assert');\ntest('a', () => assert(true));\n"))
	if !ok || strings.Contains(p.Files[0].Content, "expect(") {
		t.Errorf("%v %+v", ok, p.Files)
	}
	for command, content := range map[string]string{
		"npx jest":             "module.exports = 1;\n",
		"npx jest -t 'adds'":   "test('a', () => {});\n",
		"npx vitest --bail=1":  "test('a', () => {});\n",
		"npx jest --bail test": "test('a', () => {});\n",
	} {
		if p, ok := (Canaries{}).Plant(nodeGarden(command, content)); ok {
			t.Errorf("%s, %s: %+v", command, content, p)
		}
	}
}

// TestEachFormThatATestFileUsesHasACanaryThatFails has files that call each matcher, plainly,
// behind .not and behind promises, and what else can claim something.
func TestEachFormThatATestFileUsesHasACanaryThatFails(t *testing.T) {
	forms := map[string]string{ // what a test calls, and a text of its canary
		"expect(f).toHaveBeenCalledTimes(1); jest.fn()":                             ").toHaveBeenCalledTimes(2)",
		"expect(f).not.toHaveBeenCalledWith(1); vi.fn()":                            ").not.toHaveBeenCalledWith(",
		"await expect(p).resolves.toEqual(1)":                                       "await expect(Promise.resolve({ value: [",
		"await expect(p).rejects.toThrow('a')":                                      ").rejects.toThrow('",
		"await expect(p)\n    .rejects\n    .not\n    .toBe(1)":                     ").rejects.not.toBe(",
		"expect(a).toEqual<Sum>(b)":                                                 ").toEqual({ value: [",
		"expect(a).toMatchInlineSnapshot()":                                         ").toMatchInlineSnapshot(`",
		"expect(a).toEqual(expect.objectContaining(b))":                             "(expect.objectContaining({ value: ",
		"expect.assertions(1); expect(1).toBe(1)":                                   "expect.assertions(2);",
		"expect.hasAssertions(); expect(1).toBe(1)":                                 "expect.hasAssertions();",
		"const check = require('node:assert');\ncheck.deepStrictEqual(a, b)":        "check.deepStrictEqual([",
		"assert.strict.equal(a, b)":                                                 "assert.strict.equal(",
		"assert(a)":                                                                 " assert(",
		"await assert.rejects(p)":                                                   "await assert.rejects(Promise.resolve(",
		"import { strictEqual, ok as yes } from 'assert';\nyes(a)":                  " yes(",
		"import { strictEqual } from 'node:assert/strict';":                         " strictEqual(",
		"const { throws: fails } = require('assert');":                              " fails(() => ",
		"return later().then((sum) => expect(sum).toBe(1))":                         ").then((value) => { expect(value).toBe(",
		"sums.forEach((sum) => assert.ok(sum))":                                     "].forEach((value) => { if (value !== ",
		"for (const sum of sums) expect(sum).toBe(1)":                               "for (const value of [",
		"import { expect } from 'chai';\nfor (const a of b) expect(a).to.be.a('c')": "{ expect(value).to.equal(",
		"expect(JSON.stringify(a)).toBe(JSON.stringify(b))":                         "if (JSON.stringify([",
		"import { expect } from 'chai';\nexpect(a).to.not.deep.equal(b)":            ").to.not.deep.equal([",
		"const expect = require('chai').expect;\nexpect(a).to.be.true;":             " < 0).to.be.true;",
	}
	for form, want := range forms {
		content := "test('a', async () => {\n" + form + "\n});\n"
		p, ok := Canaries{}.Plant(nodeGarden("npx jest", content))
		if !ok {
			t.Errorf("%s: no canaries", form)
			continue
		}
		added := strings.TrimPrefix(p.Files[0].Content, content)
		if !strings.Contains(added, want) {
			t.Errorf("%s: no canary has %q\n%s", form, want, added)
		}
		if strings.Contains(form, "chai") && strings.Contains(added, ").toBe(") {
			t.Errorf("%s: canaries call what chai has not\n%s", form, added)
		}
		for _, word := range []string{"VALUE", "WRONG", "RIGHT", "MOCK", "CALLED", "TWICE", "CHECK"} {
			if strings.Contains(added, word) {
				t.Errorf("%s: %s stands in a canary\n%s", form, word, added)
			}
		}
	}
}

// TestCanariesOfNodeAreCalledAsTheTestsOfTheFile has a file with each way to call a test.
func TestCanariesOfNodeAreCalledAsTheTestsOfTheFile(t *testing.T) {
	const content = "it('c', (done) => { done() });\ndescribe('math', () => {\n  it('a', async () => { expect(1).toBe(1) });\n  test.each`\n    a\n    ${1}\n  `('b $a', () => {});\n});\n"
	p, _ := Canaries{}.Plant(nodeGarden("npx jest", content))
	added := p.Files[0].Content[len(content):]
	group := strings.Index(added, "\ndescribe('")
	if group < 0 {
		t.Fatalf("no canary stands in a group\n%s", added)
	}
	inside, _, _ := strings.Cut(added[group+1:], "\n});\n});\n")
	outside := strings.Replace(added, inside, "", 1)
	for _, code := range []string{inside, outside} {
		for _, call := range []string{"it('", "test('", "test.each([["} {
			if !strings.Contains(code, "\n"+call) {
				t.Errorf("no %s in\n%s", call, code)
			}
		}
	}
	failing := map[string]bool{}
	for _, c := range p.Canaries {
		failing[c.Key] = failing[c.Key] || !c.Status.Passed()
	}
	if !failing["test/add.test.js: an async test"] || !failing["test/add.test.js: a test with a table"] || !failing["test/add.test.js: a test with a callback"] || !failing[""] {
		t.Errorf("%v", failing)
	}
}

func TestEachMatcherThatATestFileCallsHasACanaryThatFails(t *testing.T) {
	content := "jest.fn();\n"
	var names []string
	for _, m := range nodeMatchers {
		names = append(names, strings.Fields(m.names)...)
	}
	for _, name := range names {
		content += "test('a', () => { expect(1)." + name + "(1) });\n"
	}
	for range 20 {
		p, _ := Canaries{}.Plant(nodeGarden("npx jest", content))
		added := strings.TrimPrefix(p.Files[0].Content, content)
		for _, name := range names {
			if !strings.Contains(added, "."+name+"(") {
				t.Errorf("no canary uses %s", name)
			}
		}
	}
}

func TestSnapshotsOfCanariesJoinThoseOfTheFile(t *testing.T) {
	const content = "import { test, expect } from 'vitest';\ntest('a', () => { expect(1).toMatchSnapshot() });\n"
	g := nodeGarden("npx vitest run", content)
	read := g.Read
	g.Read = func(name string) ([]byte, bool) {
		if name == "test/__snapshots__/add.test.js.snap" {
			return []byte("// Vitest Snapshot v1\n\nexports[`a 10`] = `1\n2`;\n\nexports[`a 2`] = `1`;\n"), true
		}
		return read(name)
	}
	p, _ := Canaries{}.Plant(g)
	if want := "// Vitest Snapshot v1\n\nexports[`a 2`] = `1`;\n\nexports[`a 10`] = `1\n2`;\n\nexports[`"; len(p.Files) != 2 || !strings.HasPrefix(p.Files[1].Content, want) {
		t.Errorf("%+v", p.Files)
	}
}

func TestOnlyClaimsThatATaskRejectsAreOmitted(t *testing.T) {
	const content = "test('a', () => { expect(1).toBe(1); expect(1).toBeNull() });\n"
	all, _ := Canaries{}.Plant(nodeGarden("npx jest", content))
	g := nodeGarden("npx jest", content)
	g.Left = map[string]bool{"test/add.test.js: expect(VALUE).toBeNull()": true}
	fewer, _ := Canaries{}.Plant(g)
	if len(fewer.Canaries) != len(all.Canaries)-1 || strings.Contains(fewer.Files[0].Content[len(content):], "toBeNull") {
		t.Errorf("%d of %d canaries\n%s", len(fewer.Canaries), len(all.Canaries), fewer.Files[0].Content)
	}
	g.Left = map[string]bool{canary.BelowKey: true}
	if p, ok := (Canaries{}).Plant(g); !ok || len(p.Canaries) != 4 || slices.ContainsFunc(p.Canaries, func(c canary.Test) bool { return c.Key != "" }) {
		t.Errorf("%+v", p.Canaries)
	}
}

func TestTheExitCodeOfNodeCountsWhereItIsTheCommands(t *testing.T) {
	for command, want := range map[string]int{
		"npx jest --verbose": 1, "cd a && CI=1 yarn test": 1, "npm test -- --verbose 2>&1": 1,
		"npx jest | tee log": 0, "npx jest; cat log": 0, "npx jest || true": 0, "make test": 0, "": 0,
	} {
		if got := nodeFailure(command); got != want {
			t.Errorf("%s: %d, want %d", command, got, want)
		}
	}
}

func TestCanariesOfNodeStandBesideTheTitlesOfIdsWithoutATestPatch(t *testing.T) {
	g := nodeGarden("npx jest", "test('adds', () => {});\n")
	g.Task.TestPatch, g.Task.FailToPass = "", []string{"math > adds"}
	g.Base = tree.NewPathSet([]string{"test/add.test.js", "node_modules/a/a.test.js", "src/add.js"})
	if p, ok := (Canaries{}).Plant(g); !ok || len(p.Files) != 1 || p.Files[0].Path != "test/add.test.js" {
		t.Errorf("%v %+v", ok, p.Files)
	}
}

// TestCanariesOfNodeWaitForTheTestsThatAnEvaluationScriptWrites has a test file of Jest that an
// evaluation script is still to write.
func TestCanariesOfNodeWaitForTheTestsThatAnEvaluationScriptWrites(t *testing.T) {
	g := nodeGarden("npx jest", "test('a', () => { expect(1).toMatchSnapshot() });\n")
	g.Late = true
	p, _ := canary.Plant(Canaries{}, g)
	if len(p.Files) != 1 || p.Files[0].Below != "test/add.test.js" || strings.Contains(p.Files[0].Content, "test('a'") || !strings.HasSuffix(p.Command, "; npx jest") {
		t.Errorf("%+v %s", p.Files, p.Command)
	}
}

func TestCanariesThatPassExpectSomethingWhereTestsMust(t *testing.T) {
	const content = "beforeEach(() => { expect.hasAssertions() });\ntest('a', () => { expect(1).toBe(1) });\n"
	for range 20 {
		p, _ := Canaries{}.Plant(nodeGarden("npx jest", content))
		for _, c := range p.Canaries {
			_, code, _ := strings.Cut(p.Files[0].Content, "'"+c.Name+"'")
			code, _, _ = strings.Cut(code, "\n});")
			if c.Status.Passed() && !strings.Contains(code, "expect(") {
				t.Fatalf("%s expects nothing\n%s", c.Name, code)
			}
		}
	}
}

package verify

import (
	"math/rand/v2"
	"strings"
	"testing"

	"relabel"
)

// nodeGarden is a repository with one test file that the test patch changes.
func nodeGarden(command, content string) garden {
	patch := "diff --git a/test/add.test.js b/test/add.test.js\n--- a/test/add.test.js\n+++ b/test/add.test.js\n@@ -1 +1,2 @@\n x\n+y\n"
	return garden{
		task: relabel.Task{TestPatch: patch, Workdir: "/testbed"}, command: command, random: rand.New(rand.NewPCG(1, 2)),
		has:  func(name string) bool { return name == "test/add.test.js" },
		read: func(name string) ([]byte, bool) { return []byte(content), name == "test/add.test.js" },
	}
}

func TestCanariesOfNodeStandAtTheEndOfTestFiles(t *testing.T) {
	const content = "import { it, expect } from 'vitest';\n\nit.skip('a', () => expect(1).toBe(1));\n\n  it('b', () => {});"
	p, ok := nodeCanaries{}.plant(nodeGarden("npx vitest run", content))
	if !ok || len(p.files) != 1 || !strings.HasPrefix(p.files[0].content, content+"\n") || p.failure != 1 {
		t.Fatalf("%v %+v", ok, p)
	}
	failing := 0
	for _, c := range p.canaries {
		if !strings.Contains(p.files[0].content, "\nit('"+c.name+"', ") {
			t.Errorf("%s is not in the file", c.name)
		}
		if c.proof != "" && strings.Contains(p.files[0].content, c.proof) {
			t.Errorf("%s says %s in its file", c.name, c.proof)
		}
		if c.status == relabel.TestFailed {
			failing++
		}
	}
	if failing == 0 || failing == len(p.canaries) {
		t.Errorf("%d of %d fail", failing, len(p.canaries))
	}
}

func TestCanariesOfNodeCallOnlyWhatTheFileHas(t *testing.T) {
	p, ok := nodeCanaries{}.plant(nodeGarden("npx jest", "const assert = require('assert');\ntest('a', () => assert(true));\n"))
	if !ok || strings.Contains(p.files[0].content, "expect(") {
		t.Errorf("%v %+v", ok, p.files)
	}
	for command, content := range map[string]string{
		"npx jest":             "module.exports = 1;\n",
		"npx jest -t 'adds'":   "test('a', () => {});\n",
		"npx vitest --bail=1":  "test('a', () => {});\n",
		"npx jest --bail test": "test('a', () => {});\n",
	} {
		if p, ok := (nodeCanaries{}).plant(nodeGarden(command, content)); ok {
			t.Errorf("%s, %s: %+v", command, content, p)
		}
	}
}

func TestEachMatcherThatATestFileUsesHasACanaryThatFails(t *testing.T) {
	var content string
	for _, m := range nodeMatchers {
		content += "test('a', () => { expect(1)" + m.use + "1) });\n"
	}
	for range 20 {
		p, _ := nodeCanaries{}.plant(nodeGarden("npx jest", content))
		added := strings.TrimPrefix(p.files[0].content, content)
		for _, m := range nodeMatchers {
			if !strings.Contains(added, m.use) {
				t.Errorf("no canary uses %s", m.use)
			}
		}
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
	g.task.TestPatch, g.task.FailToPass = "", []string{"math > adds"}
	g.base = newPathSet([]string{"test/add.test.js", "node_modules/a/a.test.js", "src/add.js"})
	if p, ok := (nodeCanaries{}).plant(g); !ok || len(p.files) != 1 || p.files[0].path != "test/add.test.js" {
		t.Errorf("%v %+v", ok, p.files)
	}
}

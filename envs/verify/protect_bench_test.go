package verify

import (
	"fmt"
	"testing"

	"relabel"
)

// BenchmarkRulesOfAHostilePatch has a patch of as many files as may be, all called like
// installed modules, against a repository with many tests.
func BenchmarkRulesOfAHostilePatch(b *testing.B) {
	task := relabel.Task{}
	var base []string
	for i := range 2000 {
		file := fmt.Sprintf("pkg%d/tests/test_%d.py", i%50, i)
		base = append(base, file)
		task.PassToPass = append(task.PassToPass, file+"::test_x")
	}
	r := reading{base: newPathSet(base), facts: parseFacts("name json\x00")}
	for i := range maxChanges {
		r.changes = append(r.changes, change{path: fmt.Sprintf("json/a%d.py", i), oldMode: noMode, newMode: "100644"})
	}
	for b.Loop() {
		protectionOf(task, r).split(r.changes)
	}
}

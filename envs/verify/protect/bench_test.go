package protect

import (
	"fmt"
	"testing"

	"relabel"
	"relabel/envs/verify/tree"
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
	r := tree.Reading{Base: tree.NewPathSet(base), Facts: tree.ParseFacts("name json\x00")}
	for i := range tree.MaxChanges {
		r.Changes = append(r.Changes, tree.Change{Path: fmt.Sprintf("json/a%d.py", i), OldMode: tree.NoMode, NewMode: "100644"})
	}
	for b.Loop() {
		protectionOf(task, r).split(r.Changes)
	}
}

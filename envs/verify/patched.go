package verify

import (
	"context"
	_ "embed"
	"encoding/base64"
	"strings"

	"relabel/envs/verify/canary"
	"relabel/envs/verify/tree"
	"relabel/tasks"
)

// patchedScript INDEX TREE PATH… reads the task's test patch from standard input and prints a line
// for each path: its content in TREE with the patch, in base64; an empty line if there is none.
//
//go:embed patched.sh
var patchedScript string

// patchedTests returns the files of the test patch, as the evaluation script will write them, by
// path. There are none if the script does not apply the patch. problem tells how the container
// failed.
func (s *stage) patchedTests(ctx context.Context) (patched map[string][]byte, problem string) {
	if !s.appliesTestPatch() {
		return nil, ""
	}
	var paths []string
	for _, f := range tree.PatchFiles(s.task.TestPatch) {
		if !f.Deleted && !tree.UnsafePath(f.Path) && len(paths) < maxPatched {
			paths = append(paths, f.Path)
		}
	}
	args := append([]string{s.Index() + ".patched", s.Tree}, paths...)
	r, problem := s.Run(ctx, "reading the task's test patch", patchedScript, []byte(s.task.TestPatch), maxReading, args...)
	lines := strings.Split(string(r.Output), "\n")
	if problem != "" || r.Exit != 0 || len(lines) <= len(paths) {
		return nil, problem
	}
	patched = map[string][]byte{}
	for i, path := range paths {
		if content, err := base64.StdEncoding.DecodeString(lines[i]); err == nil && len(content) > 0 && len(content) <= canary.MaxNeighbour {
			patched[path] = content
		}
	}
	return patched, ""
}

// maxPatched is how many files of a test patch are read.
const maxPatched = 100

// appliesTestPatch reports whether the task's evaluation script applies the test patch.
func (c candidate) appliesTestPatch() bool {
	script, _ := tasks.SplitEvalScript(c.task.EvalScript)
	return script.AppliesTestPatch()
}

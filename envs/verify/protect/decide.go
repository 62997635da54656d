package protect

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"relabel"
	"relabel/envs"
	"relabel/envs/verify/tree"
)

// A Container has the repository of a task at the base commit, without changes of the submission
// in its working tree.
type Container interface {
	// Index is the path of the index that the patch was applied to.
	Index() string
	// Read returns the first max bytes of a file.
	Read(ctx context.Context, name string, max int64) ([]byte, error)
	// Run runs a bash script in the repository's folder and reads at most output bytes of its output
	// (0: the default). doing names the purpose, such as "reading settings". problem tells how the
	// container failed; "" if the script ended.
	Run(ctx context.Context, doing, script string, stdin []byte, output int, args ...string) (r envs.Result, problem string)
}

// A Decision lists the changes of a submission that are not graded.
type Decision struct {
	Dropped []Restored // replaced by the version of the base or of the gold patch
	Guarded []string   // files of the tests, sorted, at most 5,000: a run that changes one is suspect
}

// Decide decides which changes of a submission are not graded. r describes its patch. own: the patch
// is the task's own, so it is not compared with the gold patch. problem tells how the container
// failed.
func Decide(ctx context.Context, repo Container, task relabel.Task, r tree.Reading, own bool) (s Decision, problem string) {
	p := protectionOf(task, r)
	p.nodeConfiguration(ctx, repo)
	p.calledPrograms(ctx, repo)
	s.Guarded = p.guardedFiles()
	if own {
		s.Dropped = p.split(r.Changes)
		return s, ""
	}
	shared, problem := p.sharedSettings(ctx, repo, r)
	if problem != "" {
		return Decision{}, problem
	}
	if p.testOnly, problem = p.testImports(ctx, repo, r); problem != "" {
		return Decision{}, problem
	}
	s.Dropped = append(p.split(r.Changes), shared...)
	return s, ""
}

// Failed describes a script's failure with the end of its output.
func Failed(doing string, r envs.Result) string {
	const last = 500 // bytes
	out := bytes.TrimSpace(slices.Concat(r.Output, r.Tail))
	out = out[max(0, len(out)-last):]
	return doing + " failed: " + strings.ToValidUTF8(string(out), "\uFFFD")
}

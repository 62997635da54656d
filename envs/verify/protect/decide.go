package protect

import (
	"bytes"
	"context"
	"strings"

	"relabel"
	"relabel/envs"
	"relabel/envs/verify/tree"
)

// A Container has the repository of a task, at the base commit and with nothing of
// the submission in its working tree.
type Container interface {
	// Index is the path of the index that the patch was applied to.
	Index() string
	// Read returns the first max bytes of a file.
	Read(ctx context.Context, name string, max int64) ([]byte, error)
	// Run runs a bash script in the repository's folder, with at most output bytes of output
	// (0: the default). doing says what for, as in "reading settings". The problem is how the
	// container failed; "" where the script came to its end.
	Run(ctx context.Context, doing, script string, stdin []byte, output int, args ...string) (r envs.Result, problem string)
}

// A Decision is what of a submission is not graded.
type Decision struct {
	Dropped []Restored // put back to the base, or to what the gold patch has
	// Guarded are the files of the tests, sorted, at most maxStamped (5000): a run that changes one
	// of them is suspect.
	Guarded []string
}

// Decide decides what of a submission is not graded, from the reading r of its patch and
// the repository at the base. own says that the patch is the task's own: then what the gold
// patch may change is not compared. The problem is how the container failed.
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

// Failed words a script's failure with the last of its output.
func Failed(doing string, r envs.Result) string {
	const last = 500
	out := bytes.TrimSpace(append(append([]byte(nil), r.Output...), r.Tail...))
	if len(out) > last {
		out = out[len(out)-last:]
	}
	return doing + " failed: " + strings.ToValidUTF8(string(out), "\uFFFD")
}

package inject

import (
	"context"
	"time"

	"relabel"
	"relabel/codeindex"
	"relabel/taskbuild"
)

// Workshop makes the image of a repository; *taskbuild.Builder does it while it builds.
type Workshop interface {
	// Prepare makes the image of a candidate, and returns the task to run in it, or why it cannot be made.
	Prepare(ctx context.Context, c taskbuild.Candidate) (relabel.Task, *taskbuild.Refusal, error)
}

// Containers starts containers without network.
type Containers interface {
	// Open starts a container of a task's image, with the repository in the task's Workdir.
	Open(ctx context.Context, task relabel.Task) (Container, error)
}

// Container is a running container. Its user must call Close.
type Container interface {
	WriteFile(ctx context.Context, path string, data []byte) error
	// ReadFile reads a file of at most limit bytes; a larger one is an error. One that does not exist wraps
	// fs.ErrNotExist.
	ReadFile(ctx context.Context, path string, limit int64) ([]byte, error)
	// Run runs a bash script in the task's Workdir. A script that fails or does not end in time is no error.
	Run(ctx context.Context, script string, timeout time.Duration) (Ran, error)
	Close(ctx context.Context) error
}

// Ran is how a script ended.
type Ran struct {
	Exit     int
	TimedOut bool
	Output   []byte // its end, if it is long
}

// Syntax parses sources. It is safe for concurrent use.
type Syntax interface {
	// Parser returns the parser of a language's definitions, nil if it is not installed.
	Parser(l codeindex.Language) codeindex.Parser
	// Parts returns the parts of the functions of a file in Go, JavaScript or TypeScript.
	Parts(name string, source []byte) codeindex.Parts
}

package cli

import (
	"context"
	"sync/atomic"

	"relabel"
)

// Ports are what commands need besides REST. main provides them.
type Ports struct {
	// OpenTokens opens the bearer tokens in the database until closed.
	OpenTokens func(ctx context.Context, f DatabaseFlags) (TokenStore, error)
	// ReadManifest reads the manifest in an export's folder.
	ReadManifest func(dir string) (relabel.Manifest, error)
	// OpenView opens one view in an export's folder.
	OpenView func(dir string, m relabel.Manifest, view relabel.View) ExportView
	// FetchExport brings an export on the Hugging Face Hub into a folder of this machine, and PushExport pushes one.
	FetchExport FetchExport
	PushExport  func(ctx context.Context, o PushOptions) (place string, err error)
	// VerifyExport checks an export's folder.
	VerifyExport func(ctx context.Context, o VerifyOptions) (VerifyReport, error)
	// OpenValidation connects to Docker. validate runs the tests of a task.
	OpenValidation func(ctx context.Context, f DockerFlags) (validate ValidateTask, close func() error, err error)
	// DetectRecipe returns the recipe file of a repository, and BuildTasks builds tasks; done receives a line for
	// each finished candidate.
	DetectRecipe func(ctx context.Context, c *TasksBuild) (recipe []byte, err error)
	BuildTasks   func(ctx context.Context, c *TasksBuild, done func(line string)) (BuiltTasks, error)
	// OpenBuild connects to all engines to build images.
	OpenBuild func(ctx context.Context, f DockerFlags) (build BuildImage, close func() error, err error)
	// OpenMirrors opens the mirrors of tasks to localise.
	OpenMirrors OpenMirrors
	// CheckDocker and CheckDatabase return what they found, or an error that says what to do.
	CheckDocker   func(ctx context.Context, f DockerFlags) (found string, err error)
	CheckDatabase func(ctx context.Context, f DatabaseFlags) (found string, err error)
	// CheckReach fails if the local Postgres cannot reach the data folder.
	CheckReach func(data string) error
	// CheckParsers says which languages can be indexed, and what to do for the others.
	CheckParsers func() string
	// CheckMirrors says what a folder of git mirrors has.
	CheckMirrors func(dir string) (found string, err error)
	// Probe tests what a policy's endpoint supports. An error may come with a report.
	Probe func(ctx context.Context, p relabel.Policy, secrets SecretFlags) (ProbeReport, error)
	// Serve serves and works until use returns.
	Serve func(ctx context.Context, f ServeFlags, use func(context.Context, *Session, ValidateTask) error) error
	// ServeScripted serves the scripted models, which know the tasks, until stop.
	ServeScripted func(ctx context.Context, address string, tasks []relabel.Task) (stop func(), err error)
	// Reach fails if a policy's endpoint does not answer or its secret is missing.
	Reach func(ctx context.Context, p relabel.Policy, f WorkFlags) error
}

// TokenStore keeps bearer tokens.
type TokenStore interface {
	CreateToken(ctx context.Context, name string, access relabel.Access) (secret string, err error)
	ListTokens(ctx context.Context) ([]relabel.Token, error)
	RevokeToken(ctx context.Context, name string) error
	Close(ctx context.Context) error
}

// ExportView is one view of an export. Rows are numbered from 0.
type ExportView interface {
	Len() int
	At(n int) (row relabel.ExportRow, path string, err error)
	// Named returns the number of the row with an id.
	Named(id string) (int, error)
}

// FetchTokenizer returns a registered tokenizer by its hash.
type FetchTokenizer func(hash string) (relabel.TokenizerFiles, error)

// VerifyOptions say what an export is checked with.
type VerifyOptions struct {
	Dir       string
	Tokenizer string // folder; "" for the manifest's
	Template  string // file; "" for the tokenizer's
	Render    bool   // render the messages view again
	For       string // file with a trainer's configuration that is checked too; "" for none
	First     int    // problems of each kind that are reported one by one
	Fetch     FetchTokenizer
	Progress  *ReadProgress
}

// FetchExport brings the files of the export at a place on the Hugging Face Hub that only accepts by name, with its
// manifest, into a folder of this machine; a nil only accepts all. It returns the folder, and the place at the commit that its
// revision is now.
type FetchExport func(ctx context.Context, place string, only func(name string) bool) (dir, at string, err error)

// PushOptions say what is pushed where.
type PushOptions struct {
	Dir         string // folder of the export
	Destination string
	Allow       []string              // rules of secrets that the export may have
	Sent        func(bytes, of int64) // receives the bytes that were uploaded, of those of all files
}

// ReadProgress counts what a check has read. It may be read concurrently.
type ReadProgress struct{ Rows, Tokens atomic.Int64 }

// VerifyReport is the result of a check, with more as JSON.
type VerifyReport interface {
	Sound() bool
	// Lines returns problems, notes and a summary.
	Lines() []string
}

// ValidateOptions say how a task is validated.
type ValidateOptions struct {
	Times         int // runs of each patch
	VerifySeconds int // time limit of the test command in each
}

// ValidateTask runs the tests of a task with its gold patch and without a patch. It fails only with ctx.
type ValidateTask func(ctx context.Context, task relabel.Task, o ValidateOptions) (relabel.Validation, error)

// ProbeReport is what a probe found out about an endpoint.
type ProbeReport struct {
	Text      string
	Suggested *relabel.Policy // a better version of the policy; nil if there is nothing to change
	// Fields returns the report as JSON, with the command that registers Suggested.
	Fields func(command string) any
}

// Package taskbuild makes tasks to repair out of changes: commits of a repository, pairs of releases, or
// injected bugs. A Source gives candidates. The Builder makes an image of each candidate's repository at
// its base commit, runs the tests without and with the change, and keeps those that the tests tell apart.
//
// Everything that a build makes is in one output folder, with a journal, so that a build that was
// interrupted continues, and a second build does nothing twice.
package taskbuild

import (
	"context"
	"iter"
	"time"
)

// Origin is where a candidate comes from.
type Origin string

// The origins.
const (
	OriginCommit   Origin = "commit"
	OriginRelease  Origin = "release"
	OriginInjected Origin = "injected"
)

// Source gives the items of a build: see history.Source, for example.
type Source interface {
	// Items yields one item for each change that the source examines, always in the same order. An error
	// ends the build. The repositories that candidates name exist until the sequence ends and Close is
	// called; making an item should be cheap compared with running its tests.
	Items(ctx context.Context) iter.Seq2[Item, error]
	// Close removes what the source made for its items.
	Close() error
}

// Item is a change that a source examined: a candidate, or a refusal.
type Item struct {
	Candidate Candidate // if Refusal is nil
	Refusal   *Refusal
}

// Candidate is a change that becomes a task if tests fail before it and pass after it.
type Candidate struct {
	// ID is the instance id of the task: at most 200 letters, digits and . _ + -, unique in a build, and
	// the same in each build of the same change.
	ID   string
	Repo string // the repository, as the task names it, for example pypi/pathspec
	// Repository is the git directory, or the work tree, on this machine that has the commit Base. Only
	// the commit Base itself goes into the image, without its ancestors and later commits, so Base may
	// be a commit that a source made.
	Repository string
	Base       string // full hash
	Origin     Origin
	Change     string    // what the change is, for reports: a commit's hash, "1.2.0 to 1.2.1", "negated condition at a.py:7"
	Title      string    // one line about it, for reports
	At         time.Time // when the change was made; zero if unknown
	// ProblemStatement is what the agent reads. It must not give the fix away: see Leaks.
	ProblemStatement string
	HintsText        string
	Patch            string // the fix, as git diff writes it, without tests
	TestPatch        string // the change of the tests; "" if Base has the tests already
	// TestFiles are the files with tests that the test command runs, relative to the repository, as they
	// are after TestPatch. The recipe turns them into arguments.
	TestFiles []string
	Recipe    *Recipe // nil: that of the build
	Image     string  // the name of its image; "": a name is made from the ID
}

// Refusal is why a change does not become a task.
type Refusal struct {
	Change string // as Candidate.Change
	Title  string
	Reason Reason
	Detail string // more about this change, for example the file; "" if there is nothing to add
}

// Reason is one of the reasons below. Reports count refusals by it.
type Reason string

// Reasons of sources, before anything runs.
const (
	ReasonNoSource    Reason = "changes no source file"
	ReasonNoTests     Reason = "changes no test file"
	ReasonTooLarge    Reason = "is larger than the limits"
	ReasonBinary      Reason = "changes a binary file"
	ReasonSubmodule   Reason = "changes a submodule"
	ReasonLFS         Reason = "changes a file of Git LFS"
	ReasonRevert      Reason = "reverts another change"
	ReasonRoot        Reason = "has no parent commit"
	ReasonNoStatement Reason = "has no problem statement"
	ReasonLeak        Reason = "its problem statement quotes the fix"
	ReasonUnreadable  Reason = "cannot be read"
)

// Reasons of injected bugs, from one run of the tests and a search of the image.
const (
	ReasonNoEffect   Reason = "changes nothing in the syntax tree, or does not parse"
	ReasonDoesNotRun Reason = "its tests do not run"
	ReasonUnnoticed  Reason = "no test fails with the bug"
	ReasonAllFail    Reason = "no test passes with the bug"
	ReasonCopied     Reason = "another file of the image has the code without the bug"
)

// Reasons of the builder.
const (
	ReasonDockerfile     Reason = "its Dockerfile fails"
	ReasonDependencies   Reason = "its dependencies cannot be installed"
	ReasonImage          Reason = "its image cannot be built"
	ReasonDoesNotApply   Reason = "its patch does not apply"
	ReasonNeverEnds      Reason = "its test command does not end"
	ReasonNoOutcome      Reason = "its test log names no test"
	ReasonNothingFails   Reason = "no test fails before and passes after"
	ReasonOnlyFlaky      Reason = "only flaky tests tell before from after"
	ReasonFixInImage     Reason = "its image contains the fix"
	ReasonDuplicate      Reason = "is a near duplicate of another task"
	ReasonInfrastructure Reason = "its tests could not be run"
)

// imageReasons are the reasons of images that cannot be made.
var imageReasons = []Reason{ReasonDockerfile, ReasonDependencies, ReasonImage}

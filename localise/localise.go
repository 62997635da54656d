// Package localise makes tasks to localise issues out of issues and the changes that resolved them: the
// files and functions that a change modifies are the gold. It reads mirrors through Repositories.
package localise

import (
	"context"

	"relabel"
	"relabel/codeindex"
	"relabel/tasks"
)

// Repositories reads mirrors of repositories and parses files. It is safe for concurrent use.
type Repositories interface {
	// Has reports why there is no mirror of a repository, nil if there is one.
	Has(name string) error
	// Commit returns the full id of a commit; relabel.CodeNotFound if there is none, CodeInvalid for
	// what names none.
	Commit(ctx context.Context, name, commit string) (string, error)
	// Diff returns the unified diff between two commits, with renames.
	Diff(ctx context.Context, name, base, head string) ([]byte, error)
	// Part returns the index of those paths of a commit that are source files, and the paths that the
	// commit lacks.
	Part(ctx context.Context, name, commit string, paths []string) (part *codeindex.Index, absent []string, err error)
	// Read returns at most limit bytes of a blob, and its size.
	Read(ctx context.Context, name, blob string, limit int64) (content []byte, size int64, err error)
	// Parse returns the records of a text as those of a file of its language.
	Parse(language codeindex.Language, path string, text []byte) codeindex.Records
}

// Candidate is an issue with its change, which may become a task.
type Candidate struct {
	tasks.Pair
	HintsText string
	duplicate bool
}

// Candidates are pairs as candidates. Those without an instance id get one: see nameAll.
func Candidates(pairs []tasks.Pair) []Candidate {
	all := make([]Candidate, len(pairs))
	for i, p := range pairs {
		all[i].Pair = p
	}
	nameAll(all)
	return all
}

// FromTasks are tasks to repair as candidates: their gold patch is the change.
func FromTasks(repairs []relabel.Task) []Candidate {
	all := make([]Candidate, len(repairs))
	for i, t := range repairs {
		all[i] = Candidate{HintsText: t.HintsText, Pair: tasks.Pair{
			InstanceID: t.InstanceID, Repository: t.Repo, BaseCommit: t.BaseCommit, Issue: t.ProblemStatement, Patch: t.Patch}}
	}
	return all
}

package localise

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"relabel"
	"relabel/codeindex"
)

// CheckAll is Check of all tasks on all CPUs, in their order. It counts those that are done.
func CheckAll(ctx context.Context, repositories Repositories, all []relabel.Task, done *atomic.Int64) (problems [][]string, err error) {
	problems = make([][]string, len(all))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, t := range all {
		group.Go(func() (err error) {
			problems[i], err = Check(ctx, repositories, t)
			done.Add(1)
			return err
		})
	}
	return problems, group.Wait()
}

// Check returns what of a task its mirror contradicts, nil if nothing: the mirror and the base commit
// exist, the gold files are source files of the base and no tests, and the gold functions are in them.
func Check(ctx context.Context, repositories Repositories, t relabel.Task) (problems []string, err error) {
	err = repositories.Has(t.Repo)
	if err == nil {
		_, err = repositories.Commit(ctx, t.Repo, t.BaseCommit)
	}
	if err != nil {
		return isProblem(err)
	}
	part, absent, err := repositories.Part(ctx, t.Repo, t.BaseCommit, t.GoldFiles)
	if err != nil {
		return isProblem(err)
	}
	for _, path := range t.GoldFiles {
		switch {
		case slices.Contains(absent, path):
			problems = append(problems, "gold_files: the base has no "+path)
		case part.File(path) == nil:
			problems = append(problems, "gold_files: "+path+" is no source file of the index")
		case IsTest(path):
			problems = append(problems, "gold_files: "+path+" is a file of tests")
		}
	}
	for _, function := range t.GoldFunctions {
		path, name, _ := strings.Cut(function, "::")
		file := part.File(path)
		if file != nil && !hasFunction(file, name) {
			problems = append(problems, "gold_functions: "+path+" has no function "+name)
		}
	}
	return problems, nil
}

func hasFunction(file *codeindex.File, name string) bool {
	return slices.ContainsFunc(file.Records.Definitions, func(d codeindex.Definition) bool { return d.Name == name && d.Kind != codeindex.Class })
}

// isProblem is an error about one task as its problem. Errors of the whole process stay.
func isProblem(err error) ([]string, error) {
	switch relabel.CodeOf(err) {
	case relabel.CodeNotFound, relabel.CodeInvalid, relabel.CodeEnvironment:
		return []string{err.Error()}, nil
	}
	return nil, err
}

// Package inject makes candidates by putting bugs into functions that the tests of a repository execute: an
// operator, a condition, a constant or the order of arguments is changed, or a line is removed. The tests
// run once with each bug, so that only bugs that a test notices become candidates.
package inject

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"regexp"
	"strings"
	"time"

	"relabel"
	"relabel/taskbuild"
)

// Options say which bugs are made.
type Options struct {
	Repository string // the git directory or work tree
	Commit     string // "": HEAD
	Repo       string // the repository, as tasks name it
	Recipe     taskbuild.Recipe
	Count      int   // how many bugs are tried, at most
	Seed       int64 // of the draw
	// PerFunction is how many bugs are tried in one function, at most.
	PerFunction int
	// Notes is the file that keeps results, so that the next build runs nothing twice.
	Notes   string
	Figures *Figures // filled in when the bugs have been drawn
}

// Figures count what the bugs were drawn from.
type Figures struct {
	Files     int `json:"files"`     // source files in a language that bugs can be put in
	Unread    int `json:"unread"`    // of them, those that do not parse, are generated or too large
	Functions int `json:"functions"` // with a possible bug
	Possible  int `json:"possible"`  // bugs
	Executed  int `json:"executed"`  // of them, those in lines that the tests execute
	Drawn     int `json:"drawn"`
	Tests     int `json:"tests"` // that pass without a bug
}

// Lines returns the figures as text; nothing for zero Figures.
func (f Figures) Lines() []string {
	if f == (Figures{}) {
		return nil
	}
	return []string{
		fmt.Sprintf("%d possible bugs in %d functions of %d source files (%d further ones do not parse, are too large or are made by a program)",
			f.Possible, f.Functions, f.Files-f.Unread, f.Unread),
		fmt.Sprintf("%d of them in code that the %d passing tests execute, %d drawn", f.Executed, f.Tests, f.Drawn),
	}
}

// Source implements taskbuild.Source.
type Source struct {
	options  Options
	workshop Workshop
	tester   taskbuild.Tester
	rooms    Containers
	syntax   Syntax

	base    string // full hash
	files   []file
	scratch *scratch
	notes   *notes
}

// New returns a source. It reads and runs nothing before Items.
func New(o Options, workshop Workshop, tester taskbuild.Tester, rooms Containers, syntax Syntax) *Source {
	return &Source{options: o, workshop: workshop, tester: tester, rooms: rooms, syntax: syntax}
}

// Items implements taskbuild.Source. It fails if the tests do not run in the repository as it is, or if they
// execute none of its functions.
func (s *Source) Items(ctx context.Context) iter.Seq2[taskbuild.Item, error] {
	return func(yield func(taskbuild.Item, error) bool) {
		drawn, before, err := s.prepare(ctx)
		if err != nil {
			yield(taskbuild.Item{}, err)
			return
		}
		for _, m := range drawn {
			item, err := s.item(ctx, m, before)
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

// Close implements taskbuild.Source.
func (s *Source) Close() error {
	var err error
	if s.scratch != nil {
		err = os.RemoveAll(s.scratch.dir)
	}
	if s.notes != nil {
		err = errors.Join(err, s.notes.close())
	}
	return err
}

// prepare reads the repository, runs its tests as they are, and draws the bugs.
func (s *Source) prepare(ctx context.Context) ([]Mutation, *passing, error) {
	var err error
	if s.notes, err = openNotes(s.options.Notes); err != nil {
		return nil, nil, err
	}
	if s.scratch, err = newScratch(ctx, s.options.Repository, s.options.Commit); err != nil {
		return nil, nil, err
	}
	s.base = s.scratch.base
	listed, err := s.listFiles(ctx)
	if err != nil {
		return nil, nil, err
	}
	before, err := s.runAsItIs(ctx, listed)
	if err != nil {
		return nil, nil, err
	}
	s.files = listed
	figures := Figures{Files: len(listed), Tests: len(before.Passed)}
	var executed []Mutation
	functions := map[string]bool{}
	for _, f := range listed {
		if f.problem != "" {
			figures.Unread++
			continue
		}
		for _, m := range s.mutations(f) {
			figures.Possible++
			functions[m.group()] = true
			if before.executed(f.path, m.step) {
				executed = append(executed, m)
			}
		}
	}
	figures.Functions, figures.Executed = len(functions), len(executed)
	if len(executed) == 0 {
		return nil, nil, relabel.Errorf(relabel.CodeInvalid, "the tests execute no function of %d source files in %s: check source_files and "+
			"test_command of the recipe %q, and that the tests import the sources in %s and not a copy that is installed elsewhere",
			figures.Files-figures.Unread, s.options.Repository, s.options.Recipe.Name, s.options.Recipe.Workdir)
	}
	drawn := draw(executed, s.options.Count, s.options.PerFunction, s.options.Seed)
	figures.Drawn = len(drawn)
	*s.options.Figures = figures
	return drawn, before, nil
}

// item is the candidate of a bug, or why there is none.
func (s *Source) item(ctx context.Context, m Mutation, before *passing) (taskbuild.Item, error) {
	commit, err := s.scratch.commit(ctx, m)
	if err != nil {
		return taskbuild.Item{}, err
	}
	tried, err := s.try(ctx, m, commit, before)
	if err != nil {
		return taskbuild.Item{}, err
	}
	if tried.Reason != "" {
		return taskbuild.Item{Refusal: &taskbuild.Refusal{Change: m.String(), Title: m.title(), Reason: tried.Reason, Detail: tried.Detail}}, nil
	}
	return taskbuild.Item{Candidate: taskbuild.Candidate{
		ID: s.instanceID(m), Repo: s.options.Repo, Repository: s.scratch.dir, Base: commit.hash, Origin: taskbuild.OriginInjected,
		Change: m.String(), Title: m.title(), At: commit.at, ProblemStatement: problemStatement(tried),
		Patch: commit.fix, TestFiles: before.TestFiles,
	}}, nil
}

// notInID are the characters that instance ids do not have.
var notInID = regexp.MustCompile(`[^A-Za-z0-9_.+-]+`)

// instanceID names the task of a bug. It does not tell what the bug is.
func (s *Source) instanceID(m Mutation) string {
	slug := strings.TrimLeft(notInID.ReplaceAllString(strings.ReplaceAll(s.options.Repo, "/", "__"), "-"), ".+-")
	return slug[:min(len(slug), 120)] + "-bug-" + keyOf(s.base, m)[:12]
}

// timeout bounds one run of the tests.
func (s *Source) timeout() time.Duration {
	return time.Duration(s.options.Recipe.TestSeconds) * time.Second
}

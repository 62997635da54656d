package inject

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"relabel/codeindex"
	"relabel/taskbuild"
)

// tried is the result of one run of the tests with a bug.
type tried struct {
	Reason  taskbuild.Reason `json:"reason,omitempty"` // why it is no candidate; "" if it is one
	Detail  string           `json:"detail,omitempty"`
	Failing []string         `json:"failing,omitempty"` // tests that passed without the bug and that the log names, sorted
	Output  string           `json:"output,omitempty"`  // the lines of the log that are not there without the bug
}

// try runs the tests once with a bug, unless an earlier build did.
func (s *Source) try(ctx context.Context, m Mutation, c bugCommit, before *passing) (tried, error) {
	key := c.hash
	if recipe, err := s.recipeKey(); err != nil {
		return tried{}, err
	} else {
		key += " " + recipe
	}
	var t tried
	if s.notes.find(key, &t) {
		return t, nil
	}
	if err := s.ready(ctx, before); err != nil {
		return t, err
	}
	problem, err := s.check(ctx, m, before)
	if err != nil {
		return t, err
	}
	if problem != "" {
		t = tried{Reason: taskbuild.ReasonNoEffect, Detail: problem}
		return t, s.notes.add(key, t)
	}
	run, err := s.tester.Test(ctx, before.task, c.bug, s.timeout())
	if err != nil {
		return t, err
	}
	t = judge(run, before)
	if t.Reason == taskbuild.ReasonInfrastructure {
		return t, nil // the next build tries again
	}
	if t.Reason == "" {
		if t, err = s.unlessCopied(ctx, t, m, before); err != nil {
			return t, err
		}
	}
	return t, s.notes.add(key, t)
}

// unlessCopied refuses a bug if a file of the image has the code without it.
func (s *Source) unlessCopied(ctx context.Context, t tried, m Mutation, before *passing) (tried, error) {
	paths, err := s.copies(ctx, m, before)
	if err != nil || len(paths) == 0 {
		return t, err
	}
	detail := paths[0]
	if len(paths) > 1 {
		detail += fmt.Sprintf(" and %d more", len(paths)-1)
	}
	return tried{Reason: taskbuild.ReasonCopied, Detail: detail}, nil
}

// file returns the source file with a path.
func (s *Source) file(path string) file {
	return s.files[slices.IndexFunc(s.files, func(f file) bool { return f.path == path })]
}

// check says why a bug is none: its source does not parse, or does the same. "" if it is one.
func (s *Source) check(ctx context.Context, m Mutation, before *passing) (string, error) {
	f := s.file(m.Path)
	source := m.apply(f.source)
	parts := codeindex.Parts{}
	if f.language == codeindex.Python {
		room, err := s.rooms.Open(ctx, before.task)
		if err != nil {
			return "", err
		}
		all, err := pythonParts(ctx, room, [][]byte{source})
		if err := errors.Join(err, room.Close(ctx)); err != nil {
			return "", err
		}
		parts = all[0]
	} else {
		parts = s.syntax.Parts(m.Path, source)
	}
	switch {
	case parts.Problem != "":
		return "the file does not parse: " + string(parts.Problem), nil
	case parts.Tree == f.parts.Tree:
		return "the syntax tree is the same", nil
	}
	return "", nil
}

// judge compares a run with a bug with the one without.
func judge(run taskbuild.TestRun, before *passing) tried {
	switch {
	case run.TimedOut:
		return tried{Reason: taskbuild.ReasonNeverEnds, Detail: "with the bug"}
	case run.Problem != "" || run.DoesNotApply:
		return tried{Reason: taskbuild.ReasonInfrastructure, Detail: run.Problem}
	}
	now := passed(run)
	var failing []string
	lost := 0
	for _, name := range before.Passed {
		if _, still := slices.BinarySearch(now, name); still {
			continue
		}
		lost++
		if _, named := run.Tests[name]; named {
			failing = append(failing, name)
		}
	}
	switch {
	case lost == 0:
		return tried{Reason: taskbuild.ReasonUnnoticed, Detail: fmt.Sprintf("all %d tests pass with it", len(before.Passed))}
	case len(failing) == 0:
		return tried{Reason: taskbuild.ReasonDoesNotRun, Detail: fmt.Sprintf("the log names none of %d tests", lost)}
	case len(now) == 0:
		return tried{Reason: taskbuild.ReasonAllFail, Detail: fmt.Sprintf("%d tests", lost)}
	}
	return tried{Failing: failing, Output: taskbuild.FailureOutput(run.Log, before.Log)}
}

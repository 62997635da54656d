package web

import (
	"context"
	"strconv"

	"relabel"
)

// load reads the values of a page one after the other. After an error it reads nothing more.
type load struct {
	ctx context.Context
	err error
}

func read[K, T any](l *load, into *T, by func(context.Context, K) (T, error), key K) {
	if l.err == nil {
		*into, l.err = by(l.ctx, key)
	}
}

// nameFinder finds a name by id.
type nameFinder = func(context.Context, relabel.ID) (string, error)

// remember is find with a cache: each id is looked up once.
func remember(find nameFinder) nameFinder {
	known := map[relabel.ID]string{}
	return func(ctx context.Context, id relabel.ID) (name string, err error) {
		name, is := known[id]
		if !is {
			name, err = find(ctx, id)
			known[id] = name
		}
		return name, err
	}
}

// policyName is a policy's name@version, "none" for the teacher of a run without one.
func (v *viewer) policyName(ctx context.Context, id relabel.ID) (string, error) {
	if id == (relabel.ID{}) {
		return "none", nil
	}
	p, err := v.Store.FindPolicy(ctx, id)
	if err != nil {
		return "", err
	}
	return nameOf(p), nil
}

// teacherName is the name of a run's teacher, "" without one.
func (v *viewer) teacherName(ctx context.Context, run relabel.Run) (string, error) {
	if !run.HasTeacher() {
		return "", nil
	}
	return v.policyName(ctx, run.TeacherID)
}

func (v *viewer) runName(ctx context.Context, id relabel.ID) (string, error) {
	run, err := v.Store.FindRun(ctx, id)
	return run.Name, err
}

func (v *viewer) studentName(ctx context.Context, iteration relabel.ID) (string, error) {
	it, err := v.findIteration(ctx, iteration)
	if err != nil {
		return "", err
	}
	return v.policyName(ctx, it.StudentID)
}

// findIteration finds an iteration without its progress.
func (v *viewer) findIteration(ctx context.Context, id relabel.ID) (relabel.Iteration, error) {
	it, _, err := v.Store.FindIteration(ctx, id)
	return it, err
}

func (v *viewer) policyNames(ctx context.Context, most int) (names []string, err error) {
	policies, _, err := v.Store.ListPolicies(ctx, relabel.Page{Limit: most})
	for _, p := range policies {
		names = append(names, nameOf(p))
	}
	return names, err
}

func (v *viewer) tasksets(ctx context.Context, most int) ([]relabel.Taskset, error) {
	sets, _, err := v.Store.ListTasksets(ctx, relabel.Page{Limit: most})
	return sets, err
}

func (v *viewer) tasksetNames(ctx context.Context, most int) (names []string, err error) {
	sets, err := v.tasksets(ctx, most)
	for _, set := range sets {
		names = append(names, set.Name)
	}
	return names, err
}

func (v *viewer) tokenizerNames(ctx context.Context, most int) (names []string, err error) {
	list, _, err := v.Store.ListTokenizers(ctx, relabel.Page{Limit: most})
	for _, t := range list {
		names = append(names, t.Name+"@"+strconv.Itoa(t.Version))
	}
	return names, err
}

func (v *viewer) flagNames(ctx context.Context, run relabel.ID) (names []string, err error) {
	flags, err := v.Store.ListFlags(ctx, &run)
	for _, f := range flags {
		names = append(names, f.Flag)
	}
	return names, err
}

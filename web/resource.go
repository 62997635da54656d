package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"relabel"
	"relabel/safetext"
)

// of is the page of the resource that an address names.
func of[T any](find func(*http.Request) (T, error), show func(http.ResponseWriter, *http.Request, T) error) answer {
	return func(w http.ResponseWriter, r *http.Request) error {
		found, err := find(r)
		if err != nil {
			return err
		}
		return show(w, r, found)
	}
}

// on is an operation on the resource that an address names.
func on[T any](find func(*http.Request) (T, error), compute func(*http.Request, T, url.Values) (operation, error)) operationOf {
	return func(r *http.Request, chosen url.Values) (operation, error) {
		found, err := find(r)
		if err != nil {
			return operation{}, err
		}
		return compute(r, found, chosen)
	}
}

// pathID reads an id in an address.
func pathID(r *http.Request, name string) (relabel.ID, error) {
	id, err := relabel.ParseID(name, r.PathValue(name))
	if err != nil {
		return id, relabel.Errorf(relabel.CodeNotFound, "Page not found.").Because(err)
	}
	return id, nil
}

// named finds a resource by its id or name.
func named[T any](ctx context.Context, word string, byID func(context.Context, relabel.ID) (T, error), byName func(context.Context, string) (T, error)) (T, error) {
	if id, err := uuid.Parse(word); err == nil {
		return byID(ctx, id)
	}
	return byName(ctx, word)
}

// inQuery finds what a field of the query names by id or name; nil without the field.
func inQuery[T any](r *http.Request, field string, byID func(context.Context, relabel.ID) (T, error), byName func(context.Context, string) (T, error)) (*T, error) {
	word := r.URL.Query().Get(field)
	if word == "" {
		return nil, nil
	}
	found, err := named(r.Context(), word, byID, byName)
	if relabel.CodeOf(err) == relabel.CodeNotFound {
		return nil, relabel.Errorf(relabel.CodeInvalid, "there is no %s %.100q", field, safetext.Plain(word)).On(field)
	}
	return &found, err
}

func (v *viewer) findRun(ctx context.Context, word string) (relabel.Run, error) {
	return named(ctx, word, v.Store.FindRun, v.Store.FindRunByName)
}

func (v *viewer) findTaskset(ctx context.Context, word string) (relabel.Taskset, error) {
	return named(ctx, word, v.Store.FindTaskset, v.Store.FindTasksetByName)
}

func (v *viewer) runOf(r *http.Request) (relabel.Run, error) {
	return v.findRun(r.Context(), r.PathValue("id"))
}

func (v *viewer) iterationOf(r *http.Request) (it relabel.Iteration, err error) {
	id, err := pathID(r, "id")
	if err != nil {
		return it, err
	}
	return v.findIteration(r.Context(), id)
}

func (v *viewer) exportOf(r *http.Request) (relabel.Export, error) {
	id, err := pathID(r, "id")
	if err != nil {
		return relabel.Export{}, err
	}
	return v.Store.FindExport(r.Context(), id)
}

// policyOf finds the policy in an address: by id, by name (the newest version) or as
// name@version.
func (v *viewer) policyOf(r *http.Request) (relabel.Policy, error) {
	return named(r.Context(), r.PathValue("policy"), v.Store.FindPolicy, v.Store.FindPolicyByName)
}

func (v *viewer) tasksetOf(r *http.Request) (relabel.Taskset, error) {
	return v.findTaskset(r.Context(), r.PathValue("taskset"))
}

// chosenRun finds the run that a query names (?run=), nil without one.
func (v *viewer) chosenRun(r *http.Request) (*relabel.Run, error) {
	word := r.URL.Query().Get("run")
	if word == "" {
		return nil, nil
	}
	run, err := v.findRun(r.Context(), word)
	if uuid.Validate(word) != nil {
		err = unknownName(err, "run")
	}
	return &run, err
}

// unknownName turns CodeNotFound into CodeInvalid on a parameter of the query.
func unknownName(err error, parameter string) error {
	if relabel.CodeOf(err) != relabel.CodeNotFound {
		return err
	}
	return relabel.Errorf(relabel.CodeInvalid, "no such id or name").On(parameter).Because(err)
}

func runPath(id relabel.ID) string        { return "/runs/" + id.String() }
func iterationPath(id relabel.ID) string  { return "/iterations/" + id.String() }
func trajectoryPath(id relabel.ID) string { return "/trajectories/" + id.String() }
func exportPath(id relabel.ID) string     { return "/exports/" + id.String() }

// taskPath is the address of a task. It contains the task's id where the instance id would
// name another folder.
func taskPath(taskset, task relabel.ID, instance string) string {
	if instance == "." || instance == ".." {
		instance = task.String()
	}
	return "/tasks/" + taskset.String() + "/" + url.PathEscape(instance)
}

// turnLink is the address of a turn on the page of its trajectory; t 0: of the page itself.
func turnLink(trajectory relabel.ID, t int) string {
	if t == 0 {
		return trajectoryPath(trajectory)
	}
	return fmt.Sprintf("%s#t%d", trajectoryPath(trajectory), t)
}

func iterationName(it relabel.Iteration) string { return fmt.Sprintf("%s %d", it.Kind, it.Number) }

var home = crumb{"Home", "/"}

func runCrumb(run relabel.Run) crumb { return crumb{run.Name, runPath(run.ID)} }

func iterationCrumb(it relabel.Iteration) crumb {
	return crumb{iterationName(it), iterationPath(it.ID)}
}

func tasksetCrumbs(set relabel.Taskset) []crumb {
	return []crumb{{"Tasks", "/tasks"}, {set.Name, "/tasks/" + set.ID.String()}}
}

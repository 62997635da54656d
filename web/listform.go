package web

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"relabel"
	"relabel/api"
)

const offered = 100

// filterForm is the form of a list's filter.
func (v *viewer) filterForm(ctx context.Context, at listPlace, q url.Values, view listView) (filterForm, error) {
	to, form := listAddress{at.Path, q}, filterForm{Path: at.Path}
	number := func(name, label, step string) control {
		f := api.FieldOf(api.TrajectoryQuery{}, name)
		return control{Name: name, Label: label, Type: "number", Value: q.Get(name), Min: f.Min, Max: f.Max, Step: step}
	}
	form.Main = []control{{Name: "q", Label: "find", Type: "search", Value: q.Get("q"), Title: "in instance ids, failures, errors of verifiers, and reviews; not in the texts of turns"}}
	if at.Columns.Run {
		var scope [3]control
		l := load{ctx: ctx}
		read(&l, &scope[0], v.offerRuns, view.Run)
		read(&l, &scope[1], v.offerIterations, view.Run)
		read(&l, &scope[2], v.offerTasksets, offered)
		if l.err != nil {
			return form, l.err
		}
		form.Main, form.More = append(form.Main, scope[0].at(q), scope[1].at(q)), []control{scope[2].at(q)}
	}
	if at.Columns.Task {
		form.More = append(form.More, control{Name: "instance_part", Label: "task contains", Type: "search", Value: q.Get("instance_part")})
	}
	flags, err := v.offerFlags(ctx, view.Run)
	if err != nil {
		return form, err
	}
	form.Main = append(form.Main, chosen(q, "state", "state"), chosen(q, "resolved", "resolved"), chosen(q, "verdict", "tests"), sortControl(q))
	form.More = append(form.More, chosen(q, "verdict_reason", "verdict"), chosen(q, "end_reason", "rollout ended by"), chosen(q, "failure", "failed for"), chosen(q, "failure_mode", "failure mode"), chosen(q, "judged_mode", "failure mode, judged"), chosen(q, "tool_use_error", "tool-use error"), chosen(q, "submitted", "submitted"), chosen(q, "hit", "names a gold location"), chosen(q, "labels", "labels"),
		number("turns_min", "turns from", "1"), number("turns_max", "to", "1"), number("agreement_min", "agreement from", "any"), number("agreement_max", "to", "any"), number("score_min", "score from", "any"), number("score_max", "to", "any"),
		flags.at(q), chosen(q, "reviewed", "reviewed"))
	form.Used = slices.ContainsFunc(form.More, func(c control) bool { return q.Get(c.Name) != "" })
	for _, name := range []string{"task", "instance"} {
		if value := q.Get(name); value != "" {
			form.Only = append(form.Only, narrowed{name, value, v.taskWord(ctx, name, value), to.with(name, "")})
		}
	}
	only := func(c control) bool { return c.Name != "sort" && q.Get(c.Name) != "" }
	if form.Used || len(form.Only) > 0 || slices.ContainsFunc(form.Main, only) {
		form.All = listAddress{at.Path, url.Values{"sort": q["sort"]}}.with("", "")
	}
	return form, nil
}

// taskWord is the name of the task that a list is narrowed to.
func (v *viewer) taskWord(ctx context.Context, name, value string) string {
	if id, err := relabel.ParseID(name, value); name == "task" && err == nil {
		if task, err := v.Store.FindTask(ctx, id); err == nil {
			return task.InstanceID
		}
	}
	return value
}

// chosen is a select of the values that a filter may have.
func chosen(q url.Values, name, label string) control {
	c := control{Name: name, Label: label}
	for _, value := range api.FieldOf(api.TrajectoryQuery{}, name).Enum {
		c.Options = append(c.Options, option{Value: value, Says: filterWords[name][value]})
	}
	return c.at(q)
}

// at is the control with the value that a query has. A value that is not among the options of a
// select is added to them.
func (c control) at(q url.Values) control {
	c.Value = q.Get(c.Name)
	if c.Type != "" {
		return c
	}
	found := c.Value == ""
	for i := range c.Options {
		c.Options[i].Chosen = c.Options[i].Value == c.Value
		found = found || c.Options[i].Chosen
	}
	if !found {
		says := ""
		if n, err := strconv.Atoi(c.Value); err == nil && c.Name == "iteration" {
			says = fmt.Sprintf("any with number %d", n)
		}
		c.Options = append(c.Options, option{c.Value, says, true})
	}
	return c
}

func sortControl(q url.Values) control {
	c := control{Name: "sort", Label: "sorted by"}
	for _, sort := range relabel.TrajectorySorts {
		o := option{Value: string(sort), Says: strings.ReplaceAll(string(sort), "_", " "), Chosen: cmp.Or(q.Get("sort"), string(relabel.Newest)) == string(sort)}
		if sort == relabel.Newest {
			o.Value = ""
		}
		c.Options = append(c.Options, o)
	}
	return c
}

// offerRuns offers the newest runs and the chosen one.
func (v *viewer) offerRuns(ctx context.Context, run *relabel.Run) (control, error) {
	c := control{Name: "run", Label: "run"}
	runs, next, err := v.Store.ListRuns(ctx, relabel.Page{Limit: offered})
	if run != nil && !slices.ContainsFunc(runs, func(r relabel.Run) bool { return r.ID == run.ID }) {
		runs = append(runs, *run)
	}
	for _, r := range runs {
		c.Options = append(c.Options, option{Value: r.ID.String(), Says: r.Name})
	}
	if next != "" {
		c.More = "older runs: open the list on the run’s page"
	}
	return c, err
}

// offerIterations offers the iterations of the run, or any number without a run.
func (v *viewer) offerIterations(ctx context.Context, run *relabel.Run) (control, error) {
	if run == nil {
		return control{Name: "iteration", Label: "iteration", Type: "number", Min: "1", Step: "1"}, nil
	}
	c := control{Name: "iteration", Label: "iteration"}
	its, err := v.Store.ListIterations(ctx, run.ID)
	for _, it := range its {
		c.Options = append(c.Options, option{Value: it.ID.String(), Says: iterationName(it)})
	}
	return c, err
}

func (v *viewer) offerTasksets(ctx context.Context, most int) (control, error) {
	c := control{Name: "taskset", Label: "task set"}
	sets, next, err := v.Store.ListTasksets(ctx, relabel.Page{Limit: most})
	for _, set := range sets {
		c.Options = append(c.Options, option{Value: set.ID.String(), Says: set.Name})
	}
	if next != "" {
		c.More = "older task sets: open the list on a task’s page"
	}
	return c, err
}

// offerFlags offers the flags in use, in the run if one is chosen.
func (v *viewer) offerFlags(ctx context.Context, run *relabel.Run) (control, error) {
	c := control{Name: "flag", Label: "flag", Options: []option{{Value: relabel.AnyFlag, Says: "any flag"}}}
	var of *relabel.ID
	if run != nil {
		of = &run.ID
	}
	flags, err := v.Store.ListFlags(ctx, of)
	for _, f := range flags {
		c.Options = append(c.Options, option{Value: f.Flag, Says: fmt.Sprintf("%s (%d)", f.Flag, f.Count)})
	}
	return c, err
}

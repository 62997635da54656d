package web

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"relabel"
	"relabel/safetext"
)

// offered is the number of runs, task sets and flags that a filter offers.
const offered = 100

// choices are the values of each filter, in display order, with text for those that need it.
var choices = map[string][]option{
	"state":   {{Value: "queued"}, {Value: "running"}, {Value: "labelling"}, {Value: "verifying"}, {Value: "done"}, {Value: "failed"}, {Value: "cancelled"}},
	"verdict": {{Value: "passed"}, {Value: "failed"}, {Value: "error", Says: "infrastructure"}, {Value: "none", Says: "none yet"}},
	// The list of those that pass has the submitted ones too: verdictWords says why a task is not resolved.
	"verdict_reason": append([]option{{Value: string(relabel.VerdictTestsPassed), Says: "tests pass"}}, said(verdictWords, relabel.VerdictTests, relabel.VerdictTimedOut, relabel.VerdictUnfinished, relabel.VerdictTampered, relabel.VerdictEmptyPatch, relabel.VerdictDoesNotApply, relabel.VerdictUnsafe)...),
	"end_reason":     said(endWords, relabel.EndReasons...),
	"failure":        {{Value: "environment"}, {Value: "image_missing", Says: "image missing"}, {Value: "endpoint"}, {Value: "verifier"}, {Value: "secret"}, {Value: "internal"}},
	"resolved":       {{Value: "true", Says: "yes"}, {Value: "false", Says: "no"}},
	"submitted":      {{Value: "true", Says: "yes"}, {Value: "false", Says: "no"}},
	"labels":         {{Value: "missing", Says: "some are missing"}},
	"reviewed":       {{Value: "true", Says: "yes"}, {Value: "false", Says: "no"}},
}

// said are choices with their texts.
func said[T ~string](says map[T]string, words ...T) (all []option) {
	for _, word := range words {
		all = append(all, option{Value: string(word), Says: says[word]})
	}
	return all
}

// option is a choice of a filter.
type option struct {
	Value, Says string
	Chosen      bool
}

// Word is the text shown for the option.
func (o option) Word() string {
	if o.Says != "" {
		return o.Says
	}
	return o.Value
}

// control is an input of a filter; with options, a select.
type control struct {
	Name, Label, Type, Value string
	Title                    string // what is not plain
	Min, Max, Step           string // of a number
	Options                  []option
	More                     string // where there are more options than are offered: what to do
}

// narrowed is a filter without a control, with the URL of the list without it.
type narrowed struct{ Name, Value, Says, Without string }

// filterForm is the form of a list's filter. Its controls are named as in the URL.
type filterForm struct {
	Path       string
	Main, More []control
	Used       bool // one of More is
	Only       []narrowed
	All        string // address without a filter, "" where there is none
	Do         string // what its button says; "" where that is to filter
}

// filterOf reads a filter from a query, named as in the REST interface. A run and a taskset are
// given by id or name; names in q are replaced by ids, as in the list's own links.
func (v *viewer) filterOf(ctx context.Context, q url.Values) (relabel.TrajectoryFilter, error) {
	finders := map[string]func(context.Context, string) (relabel.ID, error){"run": v.runID, "taskset": v.tasksetID}
	for name, find := range finders {
		word := q.Get(name)
		if word == "" {
			continue
		}
		id, err := find(ctx, word)
		if err != nil {
			return relabel.TrajectoryFilter{}, unknownName(err, name)
		}
		q.Set(name, id.String())
	}
	return readFilter(q)
}

// unknownName turns CodeNotFound into CodeInvalid on the filter.
func unknownName(err error, filter string) error {
	if relabel.CodeOf(err) != relabel.CodeNotFound {
		return err
	}
	return relabel.Errorf(relabel.CodeInvalid, "no such id or name").On(filter).Because(err)
}

// runID finds a run's id by id or name.
func (v *viewer) runID(ctx context.Context, word string) (relabel.ID, error) {
	if id, err := uuid.Parse(word); err == nil {
		return id, nil
	}
	run, err := v.Store.FindRunByName(ctx, word)
	return run.ID, err
}

// tasksetID finds a taskset's id by id or name.
func (v *viewer) tasksetID(ctx context.Context, word string) (relabel.ID, error) {
	if id, err := uuid.Parse(word); err == nil {
		return id, nil
	}
	set, err := v.Store.FindTasksetByName(ctx, word)
	return set.ID, err
}

// readFilter reads a filter in which names are replaced by ids.
func readFilter(q url.Values) (f relabel.TrajectoryFilter, err error) {
	for _, name := range []string{"q", "instance", "instance_part", "flag"} {
		if err := notLonger(q, name); err != nil {
			return f, err
		}
	}
	for name, words := range choices {
		if word := q.Get(name); word != "" && !slices.ContainsFunc(words, func(o option) bool { return o.Value == word }) {
			return f, relabel.Errorf(relabel.CodeInvalid, "%.100q is not a choice", safetext.Plain(word)).On(name)
		}
	}
	if n, err := strconv.Atoi(q.Get("iteration")); err == nil && n > 0 {
		f.IterationNumber = n
	} else if f.IterationID, err = idOf(q, "iteration"); err != nil {
		return f, err
	}
	for name, id := range map[string]**relabel.ID{"run": &f.RunID, "taskset": &f.TasksetID, "task": &f.TaskID} {
		if *id, err = idOf(q, name); err != nil {
			return f, err
		}
	}
	for name, is := range map[string]**bool{"submitted": &f.Submitted, "resolved": &f.Resolved, "reviewed": &f.Reviewed} {
		if word := q.Get(name); word != "" {
			*is = new(word == "true")
		}
	}
	f.LabelsMissing = q.Get("labels") == "missing"
	f.InstanceID, f.InstancePart, f.Text, f.Flag, f.Verdict = q.Get("instance"), q.Get("instance_part"), q.Get("q"), q.Get("flag"), relabel.VerdictKind(q.Get("verdict"))
	f.VerdictReason = relabel.VerdictReason(q.Get("verdict_reason"))
	f.State, f.EndReason, f.Failure = relabel.TrajectoryState(q.Get("state")), relabel.EndReason(q.Get("end_reason")), relabel.FailureReason(q.Get("failure"))
	return f, figuresOf(q, &f)
}

// notLonger refuses a text that is too long to search for.
func notLonger(q url.Values, name string) error {
	const longest = 1000
	if len(q.Get(name)) > longest {
		return relabel.Errorf(relabel.CodeInvalid, "at most %d bytes", longest).On(name)
	}
	return nil
}

func idOf(q url.Values, name string) (*relabel.ID, error) {
	word := q.Get(name)
	if word == "" {
		return nil, nil
	}
	id, err := relabel.ParseID(name, word)
	return &id, err
}

// figuresOf reads the bounds of turns and agreement.
func figuresOf(q url.Values, f *relabel.TrajectoryFilter) error {
	for name, bound := range map[string]**int{"turns_min": &f.MinTurns, "turns_max": &f.MaxTurns} {
		if word := q.Get(name); word != "" {
			n, err := strconv.Atoi(word)
			if err != nil || n < 0 || n > 1_000_000 {
				return relabel.Errorf(relabel.CodeInvalid, "give a number of turns").On(name)
			}
			*bound = &n
		}
	}
	for name, bound := range map[string]**float64{"agreement_min": &f.MinAgreement, "agreement_max": &f.MaxAgreement} {
		if word := q.Get(name); word != "" {
			x, err := strconv.ParseFloat(word, 64)
			if err != nil || !(x >= 0 && x <= 1) {
				return relabel.Errorf(relabel.CodeInvalid, "give an agreement from 0 to 1").On(name)
			}
			*bound = &x
		}
	}
	return nil
}

// filterForm is the form of a list's filter.
func (v *viewer) filterForm(ctx context.Context, at listPlace, q url.Values, view listView) (filterForm, error) {
	to := listAddress{at.Path, q}
	form := filterForm{Path: at.Path}
	if at.Columns.Run {
		runs, err := v.offerRuns(ctx, q, view.Run)
		if err != nil {
			return form, err
		}
		iterations, err := v.offerIterations(ctx, q, view)
		if err != nil {
			return form, err
		}
		sets, err := v.offerTasksets(ctx, q)
		if err != nil {
			return form, err
		}
		form.Main, form.More = []control{runs, iterations}, []control{sets}
	}
	form.Main = append([]control{{Name: "q", Label: "find", Type: "search", Value: q.Get("q"), Title: "in instance ids, failures, errors of verifiers, and reviews; not in the texts of turns"}}, form.Main...)
	if at.Columns.Task {
		form.More = append(form.More, control{Name: "instance_part", Label: "task holds", Type: "search", Value: q.Get("instance_part")})
	}
	flags, err := v.offerFlags(ctx, q, view.Run)
	if err != nil {
		return form, err
	}
	form.Main = append(form.Main, chosen(q, "state", "state"), chosen(q, "resolved", "resolved"), chosen(q, "verdict", "tests"))
	number := func(name, label, most, step string) control {
		return control{Name: name, Label: label, Type: "number", Value: q.Get(name), Min: "0", Max: most, Step: step}
	}
	form.More = append(form.More, chosen(q, "verdict_reason", "verdict"), chosen(q, "end_reason", "rollout ended by"), chosen(q, "failure", "failed for"), chosen(q, "submitted", "submitted"), chosen(q, "labels", "labels"),
		number("turns_min", "turns from", "", "1"), number("turns_max", "to", "", "1"), number("agreement_min", "agreement from", "1", "any"), number("agreement_max", "to", "1", "any"),
		flags, chosen(q, "reviewed", "reviewed"))
	form.Main = append(form.Main, sortControl(q))
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

// chosen is a control with fixed options.
func chosen(q url.Values, name, label string) control {
	c := control{Name: name, Label: label}
	for _, o := range choices[name] {
		o.Chosen = o.Value == q.Get(name)
		c.Options = append(c.Options, o)
	}
	return c
}

// sortControl chooses the order, as headings do.
func sortControl(q url.Values) control {
	c := control{Name: "sort", Label: "sorted by"}
	for _, sort := range relabel.TrajectorySorts {
		o := option{Value: string(sort), Says: strings.ReplaceAll(string(sort), "_", " "), Chosen: q.Get("sort") == string(sort)}
		if sort == relabel.Newest {
			o.Value, o.Chosen = "", q.Get("sort") == "" || o.Chosen
		}
		c.Options = append(c.Options, o)
	}
	return c
}

// offerRuns offers the newest runs and the chosen one.
func (v *viewer) offerRuns(ctx context.Context, q url.Values, run *relabel.Run) (control, error) {
	c := control{Name: "run", Label: "run"}
	runs, next, err := v.Store.ListRuns(ctx, relabel.Page{Limit: offered})
	if err != nil {
		return c, err
	}
	if run != nil && !slices.ContainsFunc(runs, func(r relabel.Run) bool { return r.ID == run.ID }) {
		runs = append(runs, *run)
	}
	for _, r := range runs {
		c.Options = append(c.Options, option{r.ID.String(), r.Name, q.Get("run") == r.ID.String()})
	}
	if next != "" {
		c.More = "older runs: on their own pages"
	}
	return c, nil
}

// offerIterations offers the iterations of the run, or any number without a run.
func (v *viewer) offerIterations(ctx context.Context, q url.Values, view listView) (control, error) {
	c := control{Name: "iteration", Label: "iteration", Type: "number", Value: q.Get("iteration"), Min: "1", Step: "1"}
	if view.Run == nil {
		return c, nil
	}
	its, err := v.Store.ListIterations(ctx, view.Run.ID)
	if err != nil {
		return c, err
	}
	c.Type = ""
	for _, it := range its {
		c.Options = append(c.Options, option{it.ID.String(), fmt.Sprintf("%s %d", it.Kind, it.Number), q.Get("iteration") == it.ID.String()})
	}
	if n, err := strconv.Atoi(c.Value); err == nil {
		c.Options = append(c.Options, option{c.Value, fmt.Sprintf("any with number %d", n), true})
	}
	return c, nil
}

func (v *viewer) offerTasksets(ctx context.Context, q url.Values) (control, error) {
	c := control{Name: "taskset", Label: "task set"}
	sets, next, err := v.Store.ListTasksets(ctx, relabel.Page{Limit: offered})
	if err != nil {
		return c, err
	}
	there := q.Get("taskset") == ""
	for _, set := range sets {
		is := q.Get("taskset") == set.ID.String()
		c.Options, there = append(c.Options, option{set.ID.String(), set.Name, is}), there || is
	}
	if !there {
		c.Options = append(c.Options, option{q.Get("taskset"), q.Get("taskset"), true})
	}
	if next != "" {
		c.More = "older ones: on the pages of tasks"
	}
	return c, nil
}

// offerFlags offers the flags in use, in the run if one is chosen.
func (v *viewer) offerFlags(ctx context.Context, q url.Values, run *relabel.Run) (control, error) {
	c := control{Name: "flag", Label: "flag", Options: []option{{relabel.AnyFlag, "any flag", q.Get("flag") == relabel.AnyFlag}}}
	var of *relabel.ID
	if run != nil {
		of = &run.ID
	}
	flags, err := v.Store.ListFlags(ctx, of)
	if err != nil {
		return c, err
	}
	there := q.Get("flag") == "" || q.Get("flag") == relabel.AnyFlag
	for _, f := range flags {
		is := q.Get("flag") == f.Flag
		c.Options, there = append(c.Options, option{f.Flag, fmt.Sprintf("%s (%d)", f.Flag, f.Count), is}), there || is
	}
	if !there {
		c.Options = append(c.Options, option{q.Get("flag"), q.Get("flag"), true})
	}
	return c, nil
}

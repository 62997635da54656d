package web

import (
	"context"
	"net/url"
	"reflect"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"relabel"
	"relabel/safetext"
)

// choices are the values of each filter, in display order, with text for those that need it.
var choices = map[string][]option{
	"state":   {{Value: "queued"}, {Value: "running"}, {Value: "labelling"}, {Value: "verifying"}, {Value: "done"}, {Value: "failed"}, {Value: "cancelled"}},
	"verdict": {{Value: "passed"}, {Value: "failed"}, {Value: "error", Says: "infrastructure"}, {Value: "none", Says: "none yet"}},
	// "tests pass" includes submitted trajectories; verdictWords describes only unresolved ones.
	"verdict_reason": append([]option{{Value: string(relabel.VerdictTestsPassed), Says: "tests pass"}}, said(verdictWords, verdictReasons[1:]...)...),
	"end_reason":     said(endWords, relabel.EndReasons...),
	"failure":        {{Value: "environment"}, {Value: "image_missing", Says: "image missing"}, {Value: "endpoint"}, {Value: "verifier"}, {Value: "secret"}, {Value: "internal"}},
	"resolved":       {{Value: "true", Says: "yes"}, {Value: "false", Says: "no"}},
	"submitted":      {{Value: "true", Says: "yes"}, {Value: "false", Says: "no"}},
	"labels":         {{Value: "missing", Says: "some are missing"}},
	"reviewed":       {{Value: "true", Says: "yes"}, {Value: "false", Says: "no"}},
}

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
	Title                    string // explanation
	Min, Max, Step           string // of a number
	Options                  []option
	More                     string // where to find further options, "" without any
}

// narrowed is a filter without a control, with the URL of the list without it.
type narrowed struct{ Name, Value, Says, Without string }

// filterForm is the form of a list's filter. Its controls are named as in the URL.
type filterForm struct {
	Path       string
	Main, More []control
	Used       bool // one of More is set
	Only       []narrowed
	All        string // address without a filter, "" while nothing is filtered
	Do         string // text of the button, "": Filter
}

// filterOf reads a filter from a query, named as in the REST interface. A run and a taskset are
// given by id or name; names in q are replaced by ids, as in the list's own links.
func (v *viewer) filterOf(ctx context.Context, q url.Values) (relabel.TrajectoryFilter, error) {
	finders := map[string]func(word string) (relabel.ID, error){
		"run": func(word string) (relabel.ID, error) {
			run, err := v.Store.FindRunByName(ctx, word)
			return run.ID, err
		},
		"taskset": func(word string) (relabel.ID, error) {
			set, err := v.Store.FindTasksetByName(ctx, word)
			return set.ID, err
		},
	}
	for name, find := range finders {
		word := q.Get(name)
		if word == "" || uuid.Validate(word) == nil {
			continue
		}
		id, err := find(word)
		if err != nil {
			return relabel.TrajectoryFilter{}, unknownName(err, name)
		}
		q.Set(name, id.String())
	}
	return readFilter(q)
}

// readFilter reads a filter in which names are replaced by ids.
func readFilter(q url.Values) (f relabel.TrajectoryFilter, err error) {
	fields := map[string]any{"run": &f.RunID, "iteration": &f.IterationID, "taskset": &f.TasksetID, "task": &f.TaskID, "q": &f.Text, "instance": &f.InstanceID, "instance_part": &f.InstancePart, "flag": &f.Flag,
		"state": &f.State, "end_reason": &f.EndReason, "failure": &f.Failure, "verdict": &f.Verdict, "verdict_reason": &f.VerdictReason,
		"submitted": &f.Submitted, "resolved": &f.Resolved, "reviewed": &f.Reviewed,
		"turns_min": &f.MinTurns, "turns_max": &f.MaxTurns, "agreement_min": &f.MinAgreement, "agreement_max": &f.MaxAgreement}
	f.LabelsMissing = q.Get("labels") == "missing"
	if n, err := strconv.Atoi(q.Get("iteration")); err == nil && n > 0 {
		f.IterationNumber = n
		delete(fields, "iteration")
	}
	for name, words := range choices {
		if word := q.Get(name); word != "" && !slices.ContainsFunc(words, func(o option) bool { return o.Value == word }) {
			return f, relabel.Errorf(relabel.CodeInvalid, "%.100q is not a choice", safetext.Plain(word)).On(name)
		}
	}
	for name, at := range fields {
		if err := notLonger(q, name); err != nil {
			return f, err
		}
		if word := q.Get(name); word != "" {
			if err := parseInto(reflect.ValueOf(at).Elem(), word); err != nil {
				return f, relabel.Errorf(relabel.CodeInvalid, "%s", err).On(name)
			}
		}
	}
	for name, turns := range map[string]*int{"turns_min": f.MinTurns, "turns_max": f.MaxTurns} {
		if turns != nil && (*turns < 0 || *turns > 1_000_000) {
			return f, relabel.Errorf(relabel.CodeInvalid, "give a number of turns").On(name)
		}
	}
	for name, x := range map[string]*float64{"agreement_min": f.MinAgreement, "agreement_max": f.MaxAgreement} {
		if x != nil && !(*x >= 0 && *x <= 1) {
			return f, relabel.Errorf(relabel.CodeInvalid, "give an agreement from 0 to 1").On(name)
		}
	}
	return f, nil
}

// notLonger rejects a text that is too long to search for.
func notLonger(q url.Values, name string) error {
	const longest = 1000
	if len(q.Get(name)) > longest {
		return relabel.Errorf(relabel.CodeInvalid, "must have at most %d bytes", longest).On(name)
	}
	return nil
}

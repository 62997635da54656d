package web

import (
	"cmp"
	"context"
	"net/url"
	"reflect"
	"strconv"

	"github.com/google/uuid"

	"relabel"
	"relabel/api"
)

// filterWords are texts of the values of filters that are not shown as they are.
var filterWords = map[string]map[string]string{
	"verdict":        {"error": "infrastructure", "unverified": "not verified", "cut": "cut short or skipped", "none": "none yet", "scored": "answer scored"},
	"end_reason":     wordsOf(endWords),
	"failure":        {"image_missing": "image missing"},
	"failure_mode":   wordsOf(modeWords),
	"judged_mode":    wordsOf(modeWords),
	"tool_use_error": {"true": "yes", "false": "no", "unresolved": "yes, unresolved"},
	"resolved":       yesNo,
	"submitted":      yesNo,
	"hit":            yesNo,
	"labels":         {"missing": "some are missing"},
	"reviewed":       yesNo,
	// "tests pass" includes submitted trajectories; verdictWords describes only unresolved ones.
	"verdict_reason": func() map[string]string {
		words := wordsOf(verdictWords)
		words[string(relabel.VerdictTestsPassed)] = "tests pass"
		return words
	}(),
}

var yesNo = map[string]string{"true": "yes", "false": "no"}

func wordsOf[T ~string](words map[T]string) map[string]string {
	all := map[string]string{}
	for value, word := range words {
		all[string(value)] = word
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

// readFilter reads a filter in which names are replaced by ids. The query of the REST interface has
// the bounds.
func readFilter(q url.Values) (f relabel.TrajectoryFilter, err error) {
	var labels string
	into := map[string]any{"run": &f.RunID, "iteration": &f.IterationID, "taskset": &f.TasksetID, "task": &f.TaskID, "q": &f.Text, "instance": &f.InstanceID, "instance_part": &f.InstancePart, "flag": &f.Flag,
		"state": &f.State, "end_reason": &f.EndReason, "failure": &f.Failure, "verdict": &f.Verdict, "verdict_reason": &f.VerdictReason,
		"failure_mode": &f.FailureMode, "judged_mode": &f.JudgedMode, "tool_use_error": &f.ToolUseError,
		"submitted": &f.Submitted, "resolved": &f.Resolved, "hit": &f.Hit, "reviewed": &f.Reviewed, "labels": &labels,
		"turns_min": &f.MinTurns, "turns_max": &f.MaxTurns, "agreement_min": &f.MinAgreement, "agreement_max": &f.MaxAgreement,
		"score_min": &f.MinScore, "score_max": &f.MaxScore}
	if n, err := strconv.ParseInt(q.Get("iteration"), 10, 32); err == nil && n > 0 {
		f.IterationNumber = int(n)
		delete(into, "iteration")
	}
	for _, field := range api.Fields(api.TrajectoryQuery{}) {
		word, at := q.Get(field.Name), reflect.ValueOf(into[field.Name])
		if word == "" || !at.IsValid() {
			continue
		}
		if err := cmp.Or(parseInto(at.Elem(), word), field.Check(at.Elem(), "")); err != nil {
			return f, relabel.Errorf(relabel.CodeInvalid, "%s", err).On(field.Name)
		}
	}
	f.LabelsMissing = labels != ""
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

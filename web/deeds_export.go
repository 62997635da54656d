package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"relabel"
)

// exportBody is the body of the start of an export.
type exportBody struct {
	Run           relabel.ID            `json:"run"`
	Iteration     int                   `json:"iteration,omitempty"`
	Aggregated    bool                  `json:"aggregated,omitempty"`
	Unfinished    bool                  `json:"unfinished,omitempty"`
	Submitted     bool                  `json:"submitted,omitempty"`
	Resolved      bool                  `json:"resolved,omitempty"`
	Agreement     relabel.Agreement     `json:"agreement,omitempty"`
	LabelPolicy   string                `json:"label_policy,omitempty"`
	LeaveOutFlags []string              `json:"leave_out_flags,omitempty"`
	Destination   string                `json:"destination,omitempty"`
	Views         []relabel.View        `json:"views,omitempty"`
	Tokenizer     string                `json:"tokenizer,omitempty"`
	Template      string                `json:"template,omitempty"`
	Normalisation relabel.Normalisation `json:"normalisation,omitempty"`
	Capacity      int                   `json:"capacity,omitempty"`
	MaxLength     int                   `json:"max_length,omitempty"`
}

// What can be chosen, in words.
const (
	everyDone     = "every one that is done"
	submitted     = "with a valid submission"
	resolved      = "that are resolved"
	thisRound     = "this iteration alone"
	allRounds     = "it and every earlier one"
	doneRounds    = "is refused"
	runningRounds = "gives what is done of it"
	anyState      = "every state"
	sameStates    = "where the label was executed"
	otherStates   = "where something else was executed"
	runsTeacher   = "the run’s teacher"
	byToken       = "each token weighs w"
	byTransition  = "a label’s tokens share w"
)

func (v *viewer) exportRun(r *http.Request, chosen url.Values) (deed, error) {
	run, err := v.runOf(r)
	if err != nil {
		return deed{}, err
	}
	body, err := exportOf(run, chosen)
	if err != nil {
		return deed{}, err
	}
	fields, err := v.exportFields(r, run, body, chosen)
	if err != nil {
		return deed{}, err
	}
	d := deed{Title: "Export " + run.Name, Verb: "Export", Back: "/runs/" + run.ID.String(), Fields: fields, Call: call{http.MethodPost, "/v1/exports", body}, Done: madeExport,
		Notes: []string{"Models are not asked; workers read the database and write files. Held-out tasks and evaluations never leave. What is flagged or labelled later is not in it."}}
	d.Costs, err = v.exportCosts(r, run, body)
	return d, err
}

// exportOf is the body of what was chosen.
func exportOf(run relabel.Run, chosen url.Values) (body exportBody, err error) {
	body = exportBody{Run: run.ID, Aggregated: chosen.Get("of") != thisRound, Unfinished: chosen.Get("running") == runningRounds,
		Submitted: or(chosen.Get("only"), submitted) == submitted, Resolved: chosen.Get("only") == resolved, LeaveOutFlags: chosen["flag"], Destination: chosen.Get("destination")}
	switch chosen.Get("states") {
	case sameStates:
		body.Agreement = relabel.AgreementSame
	case otherStates:
		body.Agreement = relabel.AgreementDiffers
	}
	if by := chosen.Get("labels"); by != runsTeacher {
		body.LabelPolicy = by
	}
	for _, view := range relabel.Views {
		if slices.Contains(chosen["view"], string(view)) {
			body.Views = append(body.Views, view)
		}
	}
	if len(body.Views) == 0 {
		body.Views = []relabel.View{relabel.ViewMessages}
	}
	if body.Iteration, err = wholeNumber(chosen, "iteration"); err != nil || !body.tokens() {
		return body, err
	}
	body.Tokenizer, body.Template = chosen.Get("tokenizer"), chosen.Get("template")
	if chosen.Get("weights") == byTransition {
		body.Normalisation = relabel.PerTransition
	}
	if body.Capacity, err = tokenNumber(chosen, "capacity"); err != nil {
		return body, err
	}
	body.MaxLength, err = tokenNumber(chosen, "max_length")
	return body, err
}

func (b exportBody) tokens() bool { return relabel.ExportForm{Views: b.Views}.Tokens() }

// mostTokens is the largest bin that can be asked for.
const mostTokens = 524_288

func tokenNumber(chosen url.Values, name string) (int, error) {
	if chosen.Get(name) == "" {
		return 0, nil
	}
	n := number(chosen.Get(name), -1)
	if n < 0 || n > mostTokens {
		return 0, relabel.Errorf(relabel.CodeInvalid, "a whole number of tokens up to %d is wanted", mostTokens).On(name)
	}
	return n, nil
}

// exportFields are what can be chosen; what speaks of tokens comes with a view of tokens.
func (v *viewer) exportFields(r *http.Request, run relabel.Run, body exportBody, chosen url.Values) ([]deedField, error) {
	policies, err := v.policyNames(r)
	if err != nil {
		return nil, err
	}
	flags, err := v.Store.ListFlags(r.Context(), &run.ID)
	if err != nil {
		return nil, err
	}
	pick := func(name, label, help string, of ...string) deedField {
		return deedField{Name: name, Label: label, Value: or(chosen.Get(name), of[0]), Choices: of, Help: help}
	}
	fields := []deedField{
		{Name: "iteration", Label: "Iteration", Kind: "number", Value: chosen.Get("iteration"), Help: "Its number; empty: the latest that is done."},
		pick("of", "States of", "", allRounds, thisRound),
		pick("running", "One that still runs", "", doneRounds, runningRounds),
		pick("only", "Trajectories", "", submitted, everyDone, resolved),
		pick("states", "States", "", anyState, sameStates, otherStates),
		pick("labels", "Labels of", "Another teacher’s, or the student’s own actions; states that it did not answer are left out.", append([]string{runsTeacher}, policies...)...),
	}
	if len(flags) > 0 {
		all := deedField{Name: "flag", Label: "Leave out", Kind: "checks", Values: chosen["flag"], Choices: []string{relabel.AnyFlag}, Help: "What reviews flagged so: a whole trajectory, or the state of one turn. * stands for any flag."}
		for _, f := range flags {
			all.Choices = append(all.Choices, f.Flag)
		}
		fields = append(fields, all)
	}
	views := deedField{Name: "view", Label: "Rows", Kind: "checks", Help: "All but messages are in the student’s tokens."}
	for _, view := range relabel.Views {
		views.Choices = append(views.Choices, string(view))
	}
	for _, view := range body.Views {
		views.Values = append(views.Values, string(view))
	}
	fields = append(fields, views)
	if body.tokens() {
		fields = append(fields,
			deedField{Name: "tokenizer", Label: "Tokenizer", Value: body.Tokenizer, Help: "Its folder on the machines that build; empty: the one that the student’s policy names."},
			deedField{Name: "template", Label: "Chat template", Value: body.Template, Help: "A file there; empty: the tokenizer folder’s own."},
			deedField{Name: "capacity", Label: "Capacity", Kind: "number", Value: chosen.Get("capacity"), Help: "Tokens of a bin; empty: 65536."},
			deedField{Name: "max_length", Label: "Longest way", Kind: "number", Value: chosen.Get("max_length"), Help: "Tokens from the start to the end of a label; empty: the capacity. Labels that need more are left out and counted."},
			pick("weights", "Weights", "", byToken, byTransition))
	}
	return append(fields, deedField{Name: "destination", Label: "Destination", Value: body.Destination, Help: "URL of a bucket, such as s3://bucket/prefix; empty: the exports’ folder of this server."}), nil
}

// madeExport is the page of the export that was made.
func madeExport(answer []byte) string {
	var made struct{ ID relabel.ID }
	if json.Unmarshal(answer, &made) != nil {
		return "/exports"
	}
	return "/exports/" + made.ID.String()
}

// exportCosts says how much will be in it: states by the figures of the iterations, tokens
// and bytes by the newest export of the run that has the view, else by the teacher's usage.
func (v *viewer) exportCosts(r *http.Request, run relabel.Run, body exportBody) ([]cost, error) {
	rounds, err := v.rounds(r.Context(), run.ID)
	if err != nil {
		return nil, err
	}
	chosen := chosenRounds(rounds, body)
	if len(chosen) == 0 {
		return []cost{{"states", "none", "no such collect iteration is done"}}, nil
	}
	of := "iteration " + stretches(numbersOf(chosen))
	if len(chosen) > 1 {
		of = "iterations " + stretches(numbersOf(chosen))
	}
	states := 0.0
	for _, r := range chosen {
		states += statesOf(r.Figures, body)
	}
	costs := []cost{{"states", about(states), "by the labels of " + of + "; what cannot be rendered is left out of it"}}
	spent, err := v.Store.ListSpending(r.Context(), run.ID)
	if err != nil {
		return nil, err
	}
	exports, _, err := v.Store.ListExports(r.Context(), relabel.ExportFilter{RunID: &run.ID}, relabel.Page{Limit: exportsShown})
	if err != nil {
		return nil, err
	}
	for _, view := range body.Views {
		costs = append(costs, viewCosts(view, states, exports, usageOf(chosen, spent, run.TeacherID))...)
	}
	return costs, nil
}

// chosenRounds are the collect iterations whose states leave.
func chosenRounds(rounds []round, body exportBody) (chosen []round) {
	last := -1
	for _, r := range rounds {
		over := r.State == relabel.IterationDone || body.Unfinished && r.State == relabel.IterationRunning
		if r.Kind == relabel.Collect && over && (body.Iteration == 0 || r.Number == body.Iteration) {
			last = max(last, r.Number)
		}
	}
	for _, r := range rounds {
		if r.Kind == relabel.Collect && (r.Number == last || body.Aggregated && r.Number < last) {
			chosen = append(chosen, r)
		}
	}
	return chosen
}

func numbersOf(rounds []round) (numbers []int) {
	for _, r := range rounds {
		numbers = append(numbers, r.Number)
	}
	return numbers
}

// statesOf is about how many labelled states of an iteration are selected.
func statesOf(f relabel.Figures, body exportBody) float64 {
	states, done := float64(f.Progress.LabelsHad), float64(max(1, f.Progress.Trajectories[relabel.Done]))
	switch {
	case body.Resolved:
		states *= min(1, float64(f.Progress.Resolved)/done)
	case body.Submitted:
		states *= min(1, float64(f.Progress.Submitted)/done)
	}
	same := float64(f.Progress.TeacherTurns+f.Agreed) / float64(max(1, f.Progress.TeacherTurns+f.Compared))
	switch body.Agreement {
	case relabel.AgreementSame:
		states *= same
	case relabel.AgreementDiffers:
		states *= 1 - same
	}
	return states
}

// usage is what states are long, by what the teacher was asked.
type usage struct{ Prompt, Answer, Trunks, Leaves float64 } // tokens a state; trajectories and differing labels a state

func usageOf(rounds []round, spent []relabel.Spending, teacher relabel.ID) (u usage) {
	var labels, calls float64
	for _, r := range rounds {
		labels += float64(r.Progress.LabelsHad)
		u.Trunks += float64(r.Progress.Trajectories[relabel.Done])
		u.Leaves += float64(r.Figures.Compared - r.Figures.Agreed)
		for _, s := range spent {
			if s.IterationID == r.ID && s.PolicyID == teacher {
				calls += float64(s.Calls)
				u.Prompt += float64(s.PromptTokens)
				u.Answer += float64(s.CompletionTokens)
			}
		}
	}
	if labels == 0 || calls == 0 {
		return usage{}
	}
	return usage{u.Prompt / calls, u.Answer / calls, u.Trunks / labels, u.Leaves / labels}
}

// tokens are about how many tokens a state takes in a view. A trajectory's last state is
// about twice as long as its mean one; a leaf of the linear view repeats its state.
func (u usage) tokens(view relabel.View) float64 {
	tree := u.Trunks*2*u.Prompt + u.Answer
	if view == relabel.ViewTree {
		return tree
	}
	return tree + u.Leaves*u.Prompt
}

func viewCosts(view relabel.View, states float64, exports []relabel.Export, u usage) []cost {
	for _, e := range exports {
		var sum relabel.ExportFile
		for _, f := range filesOf(e, view) {
			sum.Bytes, sum.Tokens = sum.Bytes+f.Bytes, sum.Tokens+f.Tokens
		}
		if e.State != relabel.ExportDone || e.Rows == 0 || sum.Bytes == 0 {
			continue
		}
		per := states / float64(e.Rows)
		from := fmt.Sprintf("by export %s: %s states", short(e.ID), grouped(int64(e.Rows)))
		costs := []cost{{string(view) + ", bytes", about(per * float64(sum.Bytes)), from}}
		if view != relabel.ViewMessages {
			costs = append([]cost{{string(view) + ", tokens", about(per * float64(sum.Tokens)), from}}, costs...)
		}
		return costs
	}
	if view == relabel.ViewMessages || u.Prompt == 0 {
		return []cost{{string(view), "not known", "no export of this run has it yet"}}
	}
	return []cost{{string(view) + ", tokens", about(states * u.tokens(view)), "by the teacher’s usage, in its tokens; bytes are known after a first export"}}
}

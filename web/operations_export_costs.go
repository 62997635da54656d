package web

import (
	"context"
	"fmt"

	"relabel"
	"relabel/api"
	"relabel/web/chart"
)

// exportCosts estimates the size of an export: states from the figures of the iterations, tokens
// and bytes from the run's newest export that has the view, otherwise from the teacher's usage.
func (v *viewer) exportCosts(ctx context.Context, run relabel.Run, body api.NewExport, sel relabel.ExportSelection) ([]cost, error) {
	rounds, err := v.rounds(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	kind := run.Recipe.DefaultKind()
	chosen := chosenRounds(rounds, kind, body)
	if len(chosen) == 0 {
		return []cost{{"states", "none", "no " + string(kind) + " iteration of the selection is done"}}, nil
	}
	states, numbers := 0.0, []int{}
	for _, r := range chosen {
		states += statesOf(r.Figures, kind, sel)
		numbers = append(numbers, r.Number)
	}
	of := "iteration"
	if len(chosen) > 1 {
		of = "iterations"
	}
	costs := []cost{{"states", about(states), "labels of " + of + " " + stretches(numbers) + "; states that cannot be rendered are excluded"}}
	spent, err := v.Store.ListSpending(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	exports, _, err := v.Store.ListExports(ctx, relabel.ExportFilter{RunID: &run.ID}, relabel.Page{Limit: exportsShown})
	for _, view := range (relabel.ExportForm{Views: body.Views}).WithDefaults().Views {
		costs = append(costs, viewCosts(view, states, exports, usageOf(chosen, spent, run.TeacherID))...)
	}
	return costs, err
}

// chosenRounds are the iterations of a kind whose states are exported.
func chosenRounds(rounds []round, kind relabel.IterationKind, body api.NewExport) (chosen []round) {
	last := -1
	for _, r := range rounds {
		over := r.State == relabel.IterationDone || body.Unfinished && r.State == relabel.IterationRunning
		if r.Kind == kind && r.BenchmarkID == nil && over && (body.Iteration == 0 || r.Number == body.Iteration) {
			last = max(last, r.Number)
		}
	}
	for _, r := range rounds {
		if r.Kind == kind && r.BenchmarkID == nil && (r.Number == last || body.Aggregated && r.Number < last) {
			chosen = append(chosen, r)
		}
	}
	return chosen
}

// statesOf estimates how many labelled states of an iteration are selected: each turn of a sample
// is its own label.
func statesOf(f relabel.Figures, kind relabel.IterationKind, sel relabel.ExportSelection) float64 {
	states, done := float64(f.Progress.LabelsReceived), float64(max(1, f.Progress.Trajectories[relabel.Done]))
	if kind == relabel.Sample {
		states = float64(f.Progress.Turns)
	}
	switch {
	case sel.Resolved:
		states *= min(1, float64(f.Progress.Resolved)/done)
	case sel.Hit:
		states *= min(1, float64(f.Progress.Hit)/done)
	case sel.Submitted:
		states *= min(1, float64(f.Progress.Submitted)/done)
	}
	same := float64(f.Progress.TeacherTurns+f.Agreed) / float64(max(1, f.Progress.TeacherTurns+f.Compared))
	switch sel.Agreement {
	case relabel.AgreementSame:
		states *= same
	case relabel.AgreementDiffers:
		states *= 1 - same
	}
	return states
}

// usage is the mean length of states, from the calls to the teacher.
type usage struct{ Prompt, Answer, Trunks, Leaves float64 } // tokens per state; trajectories and differing labels per state

func usageOf(rounds []round, spent []relabel.Spending, teacher relabel.ID) (u usage) {
	var labels, calls float64
	for _, r := range rounds {
		labels += float64(r.Progress.LabelsReceived)
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

// tokens estimates the tokens per state in a view. A trajectory's last state is about twice as
// long as its mean state; a leaf of the linear view repeats its state.
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
		from := fmt.Sprintf("from export %s: %s states", short(e.ID), chart.Grouped(int64(e.Rows)))
		costs := []cost{{string(view) + ", bytes", about(per * float64(sum.Bytes)), from}}
		if view != relabel.ViewMessages {
			costs = append([]cost{{string(view) + ", tokens", about(per * float64(sum.Tokens)), from}}, costs...)
		}
		return costs
	}
	if view == relabel.ViewMessages || u.Prompt == 0 {
		return []cost{{string(view), "not known", "no export of this run has this view yet"}}
	}
	return []cost{{string(view) + ", tokens", about(states * u.tokens(view)), "from the teacher’s usage, in its tokens; bytes are known after a first export"}}
}

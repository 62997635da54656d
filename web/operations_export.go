package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"relabel"
	"relabel/api"
	"relabel/trainers"
)

func (v *viewer) exportRun(r *http.Request, run relabel.Run, chosen url.Values) (operation, error) {
	body, f := api.NewExport{}, exportForm(run.TaskKind, chosen)
	if err := f.read(&body); err != nil {
		return operation{}, err
	}
	body.Run = run.ID.String()
	sel, err := body.Selection(run)
	if err != nil {
		return operation{}, err
	}
	fields, err := v.exportFields(r.Context(), run.ID, f)
	if err != nil {
		return operation{}, err
	}
	o := operation{Title: "Export " + run.Name, Verb: "Export", Back: runPath(run.ID), Fields: fields, Call: call{http.MethodPost, "/v1/exports", body}, Done: madeAt("/exports/"),
		Notes: []string{"Exports " + sel.Describe() + " of " + sel.DescribeIterations() + ".",
			"Workers read the database and write files; no model is called. Held-out tasks and evaluations are never exported. Flags and labels that are added later are not included."}}
	o.Costs, err = v.exportCosts(r.Context(), run, body, sel)
	return o, err
}

// exportForm is the form of an export of a run with tasks of the kind; options of token rows appear with a
// view of tokens.
func exportForm(kind relabel.TaskKind, chosen url.Values) form {
	f, views := form{chosen: chosen, hidden: []string{"run", "hit", "min_score"}}, chosenViews(chosen)
	switch kind {
	case relabel.Localise:
		f.hidden = []string{"run", "resolved", "verdict_protections"}
	case relabel.Terminal:
		f.hidden = []string{"run", "hit"}
	}
	if !slices.Contains(views, relabel.ViewTree) {
		f.hidden = append(f.hidden, "pad_tree")
	}
	if !slices.Contains(views, relabel.ViewPreference) {
		f.hidden = append(f.hidden, "min_distance")
	}
	if _, err := trainers.Find(chosen.Get("for")); !slices.Contains(views, relabel.ViewLinear) || err == nil {
		f.hidden = append(f.hidden, "bare")
	}
	if (relabel.ExportForm{Views: views}).Tokens() && chosen.Get("for") != "openai" {
		return f
	}
	for _, field := range api.Fields(relabel.ExportForm{}) {
		if field.Name != "views" && field.Name != "divide" && field.Name != "for" {
			f.hidden = append(f.hidden, field.Name)
		}
	}
	return f
}

// chosenViews are the views of a form: those of its trainer too.
func chosenViews(chosen url.Values) []relabel.View {
	form := relabel.ExportForm{For: chosen.Get("for")}
	for _, view := range chosen["views"] {
		form.Views = append(form.Views, relabel.View(view))
	}
	if resolved, err := trainers.Resolve(form); err == nil {
		return resolved.Views
	}
	return form.Views
}

func (v *viewer) exportFields(ctx context.Context, run relabel.ID, f form) ([]operationField, error) {
	var policies, tokenizers, flags []string
	l := load{ctx: ctx}
	read(&l, &policies, v.policyNames, offeredNames)
	read(&l, &tokenizers, v.tokenizerNames, offeredNames)
	read(&l, &flags, v.flagNames, run)
	flags = append([]string{relabel.AnyFlag}, flags...)
	trainer := f.chosen.Get("for")
	versions := []string{relabel.NewestProtections}
	for version := relabel.ProtectionsVersion - 1; version > 0; version-- {
		versions = append(versions, strconv.Itoa(version))
	}
	return f.fields(api.NewExport{}, map[string]func(*operationField){
		"verdict_protections": with(versions, ""),
		"label_policy":        with(policies, ""),
		"tokenizer":           with(tokenizers, ""),
		"for":                 with(trainers.Names(), ""),
		"exclude_flags": func(f *operationField) {
			f.Kind, f.Choices = "checks", append(choicesOf(flags...), modeFlagChoices()...)
		},
		"views": func(f *operationField) {
			if len(f.Values) == 0 && trainer == "" {
				f.Values = []string{string(relabel.ViewMessages)}
			}
		},
	}), l.err
}

// modeFlagChoices are the choices of failure modes to exclude.
func modeFlagChoices() []choice {
	var all []choice
	for _, flag := range relabel.ModeFlags() {
		name, _ := relabel.CutModeFlag(flag)
		all = append(all, choice{flag, modeWord(relabel.FailureMode(name))})
	}
	all[len(all)-1].Text = "tool-use error"
	return all
}

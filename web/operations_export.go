package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"relabel"
	"relabel/api"
)

func (v *viewer) exportRun(r *http.Request, chosen url.Values) (operation, error) {
	run, err := v.runOf(r)
	if err != nil {
		return operation{}, err
	}
	body, f := api.NewExport{}, exportForm(chosen)
	if err := f.read(&body); err != nil {
		return operation{}, err
	}
	body.Run = run.ID.String()
	sel, err := selectionOf(body, run.Recipe)
	if err != nil {
		return operation{}, err
	}
	fields, err := v.exportFields(r, run.ID, f)
	if err != nil {
		return operation{}, err
	}
	o := operation{Title: "Export " + run.Name, Verb: "Export", Back: "/runs/" + run.ID.String(), Fields: fields, Call: call{http.MethodPost, "/v1/exports", body}, Done: madeAt("/exports/"),
		Notes: []string{"Exports " + sel.Describe() + " of " + sel.DescribeIterations() + ".",
			"Workers read the database and write files; no model is called. Held-out tasks and evaluations are never exported. Flags and labels that are added later are not included."}}
	o.Costs, err = v.exportCosts(r, run, body, sel)
	return o, err
}

// exportForm is the form of an export; options of token rows appear with a view of tokens.
func exportForm(chosen url.Values) form {
	f, views := form{chosen: chosen, hidden: []string{"run"}}, chosen["views"]
	tree, linear := slices.Contains(views, string(relabel.ViewTree)), slices.Contains(views, string(relabel.ViewLinear))
	if !tree {
		f.hidden = append(f.hidden, "pad_tree")
	}
	if !linear {
		f.hidden = append(f.hidden, "bare")
	}
	if tree || linear || slices.Contains(views, string(relabel.ViewPacked)) {
		return f
	}
	for _, field := range api.Fields(relabel.ExportForm{}) {
		if field.Name != "views" && field.Name != "divide" {
			f.hidden = append(f.hidden, field.Name)
		}
	}
	return f
}

// viewsOf are the views that an export will have.
func viewsOf(body api.NewExport) []relabel.View {
	return relabel.ExportForm{Views: body.Views}.WithDefaults().Views
}

// selectionOf is what an export of a run with this recipe selects, without its label policy.
func selectionOf(body api.NewExport, recipe relabel.Recipe) (sel relabel.ExportSelection, err error) {
	sel = relabel.ExportSelection{Iteration: body.Iteration, Aggregated: body.Aggregated, Unfinished: body.Unfinished, EndReasons: body.EndReasons,
		Agreement: body.Agreement, LeaveOutFlags: body.LeaveOutFlags}
	filters := relabel.ExportFilters{Submitted: body.Submitted, Resolved: body.Resolved, MixedRewards: body.MixedRewards}
	if sel, err = sel.WithDefaults(filters, recipe); err != nil {
		return sel, err
	}
	sel.VerdictProtections, err = relabel.ParseProtections(body.VerdictProtections)
	return sel, err
}

func (v *viewer) exportFields(r *http.Request, run relabel.ID, f form) ([]operationField, error) {
	policies, err := v.policyNames(r)
	if err != nil {
		return nil, err
	}
	tokenizers, err := v.tokenizerNames(r)
	if err != nil {
		return nil, err
	}
	inUse, err := v.Store.ListFlags(r.Context(), &run)
	if err != nil {
		return nil, err
	}
	flags := []string{relabel.AnyFlag}
	for _, flag := range inUse {
		flags = append(flags, flag.Flag)
	}
	versions := []string{relabel.NewestProtections}
	for version := relabel.ProtectionsVersion - 1; version > 0; version-- {
		versions = append(versions, strconv.Itoa(version))
	}
	return f.fields(api.NewExport{}, map[string]func(*operationField){
		"verdict_protections": with(versions, ""),
		"label_policy":        with(policies, ""),
		"tokenizer":           with(tokenizers, ""),
		"leave_out_flags":     func(f *operationField) { f.Kind, f.Choices = "checks", choicesOf(flags...) },
		"views": func(f *operationField) {
			if len(f.Values) == 0 {
				f.Values = []string{string(relabel.ViewMessages)}
			}
		},
	}), nil
}

// tokenizersOffered is how many registered tokenizers a form offers.
const tokenizersOffered = 100

// tokenizerNames names the registered tokenizers, newest first.
func (v *viewer) tokenizerNames(r *http.Request) (names []string, err error) {
	list, _, err := v.Store.ListTokenizers(r.Context(), relabel.Page{Limit: tokenizersOffered})
	for _, t := range list {
		names = append(names, t.Name+"@"+strconv.Itoa(t.Version))
	}
	return names, err
}

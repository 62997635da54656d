package web

import (
	"fmt"
	"net/http"
	"net/url"

	"relabel"
)

// choice is a field with choices; the first one is the default.
func choice(chosen url.Values, name, label, help string, of ...string) operationField {
	return operationField{Name: name, Label: label, Value: or(chosen.Get(name), of[0]), Choices: of, Help: help}
}

// exportFields are what can be chosen; what concerns tokens comes with a view of tokens.
func (v *viewer) exportFields(r *http.Request, run relabel.Run, body exportBody, chosen url.Values) ([]operationField, error) {
	policies, err := v.policyNames(r)
	if err != nil {
		return nil, err
	}
	flags, err := v.Store.ListFlags(r.Context(), &run.ID)
	if err != nil {
		return nil, err
	}
	fields, err := selectionFields(run, chosen)
	if err != nil {
		return nil, err
	}
	fields = append(fields, choice(chosen, "labels", "Labels of", "Another teacher’s, or the student’s own actions; states that it did not answer are left out.", append([]string{runsTeacher}, policies...)...))
	if len(flags) > 0 {
		all := operationField{Name: "flag", Label: "Leave out", Kind: "checks", Values: chosen["flag"], Choices: []string{relabel.AnyFlag}, Help: "What reviews flagged so: a whole trajectory, or the state of one turn. * stands for any flag."}
		for _, f := range flags {
			all.Choices = append(all.Choices, f.Flag)
		}
		fields = append(fields, all)
	}
	views := operationField{Name: "view", Label: "Rows", Kind: "checks", Help: "All but messages are in the student’s tokens."}
	for _, view := range relabel.Views {
		views.Choices = append(views.Choices, string(view))
	}
	for _, view := range body.form().Views {
		views.Values = append(views.Values, string(view))
	}
	fields = append(fields, views)
	if body.form().Tokens() {
		tokenizers, err := v.tokenizerNames(r)
		if err != nil {
			return nil, err
		}
		fields = append(fields, tokenFields(body, chosen, tokenizers)...)
	}
	return append(fields,
		operationField{Name: "divide", Label: "Files", Kind: "number", Value: chosen.Get("divide"), Help: "The trainer’s data-parallel size: the number of files per view is a multiple of it; empty: 1."},
		operationField{Name: "destination", Label: "Destination", Value: body.Destination, Help: "URL of a bucket, such as s3://bucket/prefix; empty: the exports’ folder of this server."}), nil
}

// selectionFields say which trajectories and states are exported. The first choice of a
// filter is that of the run's recipe.
func selectionFields(run relabel.Run, chosen url.Values) ([]operationField, error) {
	usual, err := relabel.ExportSelection{}.WithDefaults(relabel.ExportFilters{}, run.Recipe)
	if err != nil {
		return nil, err
	}
	groups := everyGroup
	if usual.MixedRewards {
		groups = mixedGroups
	}
	usual.MixedRewards = false
	ended := operationField{Name: "ended", Label: "Ended by", Kind: "checks", Values: chosen["ended"], Help: "None: however they ended."}
	for _, reason := range endReasons {
		ended.Choices = append(ended.Choices, string(reason))
	}
	return []operationField{
		{Name: "iteration", Label: "Iteration", Kind: "number", Value: chosen.Get("iteration"), Help: "Its number; empty: the latest that is done."},
		choice(chosen, "of", "States of", "", thisRound, allRounds),
		choice(chosen, "running", "One that still runs", "", doneRounds, runningRounds),
		choice(chosen, "only", "Trajectories", "", fmt.Sprintf("as %s has it: %s", run.Recipe, usual.Describe()), submitted, resolved, everyDone),
		choice(chosen, "groups", "Groups", "The trajectories of a task in an iteration; rewards are mixed where some are resolved and some are not.", fmt.Sprintf("as %s has it: %s", run.Recipe, groups), everyGroup, mixedGroups),
		choice(chosen, "verdicts", "Verdicts", "Trajectories with another verdict are left out; “Grade again” on the run’s page replaces it.", verdictChoices()...),
		ended,
		choice(chosen, "states", "States", "", anyState, sameStates, otherStates),
	}, nil
}

// verdictChoices are the versions of verdicts that can be asked for, the newest first.
func verdictChoices() []string {
	choices := []string{anyVerdict, newestVerdict}
	for version := relabel.ProtectionsVersion - 1; version > 0; version-- {
		choices = append(choices, verdictsOf(version))
	}
	return choices
}

func verdictsOf(version int) string {
	return fmt.Sprintf("of version %d of the protections or newer", version)
}

// tokenizersOffered is how many registered tokenizers a form offers.
const tokenizersOffered = 100

// tokenizerNames names the registered tokenizers, the newest first.
func (v *viewer) tokenizerNames(r *http.Request) (names []string, err error) {
	list, _, err := v.Store.ListTokenizers(r.Context(), relabel.Page{Limit: tokenizersOffered})
	for _, t := range list {
		names = append(names, fmt.Sprintf("%s@%d", t.Name, t.Version))
	}
	return names, err
}

// tokenFields say how rows of tokens are made; tokenizers are offered by their names.
func tokenFields(body exportBody, chosen url.Values, tokenizers []string) []operationField {
	fields := []operationField{
		{Name: "tokenizer", Label: "Tokenizer", Value: body.Tokenizer, Offers: tokenizers, Help: "The name or hash of a registered one (relabel tokenizer add); empty: the one that the student’s policy names."},
		{Name: "template", Label: "Chat template", Value: body.Template, Help: "Path of a file below --tokenizers of the machines that build; empty: the tokenizer’s own."},
		{Name: "template_text", Label: "Template’s text", Kind: "textarea", Value: body.TemplateText, Help: "Instead of a file; empty: the tokenizer’s own."},
		{Name: "template_options", Label: "Template options", Value: chosen.Get("template_options"), Help: "A JSON object of further variables for the template, such as {\"enable_thinking\": false}."},
		{Name: "date", Label: "Date", Value: chosen.Get("date"), Help: "The day that the template sees where it asks for one, such as 2026-01-31."},
		choice(chosen, "arguments", "Arguments", "How the template gets a call’s arguments; auto: as text where it shows that as it is, else as an object.", "auto", string(relabel.ArgumentsString), string(relabel.ArgumentsObject)),
		choice(chosen, "reasoning", "Reasoning", "template: it decides; keep: labels that it renders without theirs are left out; drop: it gets none.", "template", string(relabel.ReasoningKeep), string(relabel.ReasoningDrop)),
		choice(chosen, "thinking", "It is given", "The templates of gpt-oss and LFM read thinking.", bothNames, ownName),
		{Name: "capacity", Label: "Capacity", Kind: "number", Value: chosen.Get("capacity"), Help: fmt.Sprintf("Tokens of a bin; empty: %d.", relabel.DefaultCapacity)},
		{Name: "max_length", Label: "Longest way", Kind: "number", Value: chosen.Get("max_length"), Help: "Tokens from the start to the end of a label; empty: the capacity. Labels that need more are left out and counted."},
		choice(chosen, "too_long", "Longer trunks are", "A leaf that is longer is dropped.", cutTrunks, dropTrunks),
		choice(chosen, "weights", "Weights", "", byToken, byTransition),
	}
	rows := operationField{Name: "rows", Label: "Form", Kind: "checks", Values: chosen["rows"]}
	if body.has(relabel.ViewTree) {
		rows.Choices = append(rows.Choices, padded)
	}
	if body.has(relabel.ViewLinear) {
		rows.Choices = append(rows.Choices, bareRows)
	}
	if len(rows.Choices) > 0 {
		fields = append(fields, rows)
	}
	return fields
}

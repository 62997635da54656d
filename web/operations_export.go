package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"relabel"
)

// exportBody is the body of the start of an export. What is not chosen is absent: the server
// has the defaults.
type exportBody struct {
	Run                relabel.ID            `json:"run"`
	Iteration          int                   `json:"iteration,omitempty"`
	Aggregated         bool                  `json:"aggregated,omitempty"`
	Unfinished         bool                  `json:"unfinished,omitempty"`
	Submitted          *bool                 `json:"submitted,omitempty"`
	Resolved           *bool                 `json:"resolved,omitempty"`
	MixedRewards       *bool                 `json:"mixed_rewards,omitempty"`
	VerdictProtections string                `json:"verdict_protections,omitempty"`
	EndReasons         []relabel.EndReason   `json:"end_reasons,omitempty"`
	Agreement          relabel.Agreement     `json:"agreement,omitempty"`
	LabelPolicy        string                `json:"label_policy,omitempty"`
	LeaveOutFlags      []string              `json:"leave_out_flags,omitempty"`
	Destination        string                `json:"destination,omitempty"`
	Views              []relabel.View        `json:"views,omitempty"`
	Tokenizer          string                `json:"tokenizer,omitempty"`
	Template           string                `json:"template,omitempty"`
	TemplateText       string                `json:"template_text,omitempty"`
	TemplateOptions    json.RawMessage       `json:"template_options,omitempty"`
	Date               string                `json:"date,omitempty"`
	Arguments          relabel.ArgumentsForm `json:"arguments,omitempty"`
	Reasoning          relabel.ReasoningForm `json:"reasoning,omitempty"`
	ThinkingAlias      *bool                 `json:"thinking_alias,omitempty"`
	Normalisation      relabel.Normalisation `json:"normalisation,omitempty"`
	Capacity           int                   `json:"capacity,omitempty"`
	MaxLength          int                   `json:"max_length,omitempty"`
	TooLong            relabel.TooLong       `json:"too_long,omitempty"`
	Divide             int                   `json:"divide,omitempty"`
	PadTree            bool                  `json:"pad_tree,omitempty"`
	Bare               bool                  `json:"bare,omitempty"`
}

// filters are the filters that are chosen.
func (b exportBody) filters() relabel.ExportFilters {
	return relabel.ExportFilters{Submitted: b.Submitted, Resolved: b.Resolved, MixedRewards: b.MixedRewards}
}

// form is the form as far as costs depend on it, with its defaults.
func (b exportBody) form() relabel.ExportForm {
	return relabel.ExportForm{Views: b.Views}.WithDefaults()
}

// has reports whether a view is asked for.
func (b exportBody) has(view relabel.View) bool { return slices.Contains(b.form().Views, view) }

// What can be chosen, in words.
const (
	everyDone     = "every one that is done"
	submitted     = "with a valid submission"
	resolved      = "that are resolved"
	everyGroup    = "every group"
	mixedGroups   = "only groups with mixed rewards"
	thisRound     = "this iteration alone"
	allRounds     = "it and every earlier one"
	doneRounds    = "is refused"
	runningRounds = "gives what is done of it"
	anyVerdict    = "of any version of the protections, or none"
	newestVerdict = "of the present protections"
	anyState      = "every state"
	sameStates    = "where the label was executed"
	otherStates   = "where something else was executed"
	runsTeacher   = "the run’s teacher"
	byToken       = "each token weighs w"
	byTransition  = "a label’s tokens share w"
	cutTrunks     = "cut after the last label that fits"
	dropTrunks    = "dropped with all their labels"
	bothNames     = "as reasoning_content and thinking"
	ownName       = "as reasoning_content alone"
	padded        = "padded to the capacity"
	bareRows      = "linear with ids, mask and labels alone"
)

// endReasons are the ends that can be chosen.
var endReasons = relabel.EndReasons

func (v *viewer) exportRun(r *http.Request, chosen url.Values) (operation, error) {
	run, err := v.runOf(r)
	if err != nil {
		return operation{}, err
	}
	body, err := exportOf(run, chosen)
	if err != nil {
		return operation{}, err
	}
	sel := relabel.ExportSelection{Iteration: body.Iteration, Aggregated: body.Aggregated, Unfinished: body.Unfinished, EndReasons: body.EndReasons,
		Agreement: body.Agreement, LeaveOutFlags: body.LeaveOutFlags}
	if sel, err = sel.WithDefaults(body.filters(), run.Recipe); err != nil {
		return operation{}, err
	}
	if sel.VerdictProtections, err = relabel.ParseProtections(body.VerdictProtections); err != nil {
		return operation{}, err
	}
	fields, err := v.exportFields(r, run, body, chosen)
	if err != nil {
		return operation{}, err
	}
	d := operation{Title: "Export " + run.Name, Verb: "Export", Back: "/runs/" + run.ID.String(), Fields: fields, Call: call{http.MethodPost, "/v1/exports", body}, Done: madeExport,
		Notes: []string{"Takes " + sel.Describe() + " of " + sel.DescribeIterations() + ".",
			"Models are not asked; workers read the database and write files. Held-out tasks and evaluations are never exported. What is flagged or labelled later is not in it."}}
	d.Costs, err = v.exportCosts(r, run, body)
	return d, err
}

// exportOf is the body of what was chosen.
func exportOf(run relabel.Run, chosen url.Values) (body exportBody, err error) {
	body = exportBody{Run: run.ID, Aggregated: chosen.Get("of") == allRounds, Unfinished: chosen.Get("running") == runningRounds,
		LeaveOutFlags: chosen["flag"], Destination: chosen.Get("destination")}
	body.chooseFilters(chosen)
	if by := chosen.Get("labels"); by != runsTeacher {
		body.LabelPolicy = by
	}
	for _, view := range relabel.Views {
		if slices.Contains(chosen["view"], string(view)) {
			body.Views = append(body.Views, view)
		}
	}
	if body.Divide, err = wholeNumber(chosen, "divide"); err != nil {
		return body, err
	}
	if body.Iteration, err = wholeNumber(chosen, "iteration"); err != nil || !body.form().Tokens() {
		return body, err
	}
	return body, body.chooseTokens(chosen)
}

// chooseFilters takes what was chosen of the filters; the recipe's are absent.
func (b *exportBody) chooseFilters(chosen url.Values) {
	switch chosen.Get("only") {
	case everyDone:
		b.Submitted = new(false)
	case submitted:
		b.Submitted, b.Resolved = new(true), new(false)
	case resolved:
		b.Resolved = new(true)
	}
	switch chosen.Get("groups") {
	case everyGroup:
		b.MixedRewards = new(false)
	case mixedGroups:
		b.MixedRewards = new(true)
	}
	if chosen.Get("verdicts") == newestVerdict {
		b.VerdictProtections = relabel.NewestProtections
	}
	for version := range relabel.ProtectionsVersion {
		if chosen.Get("verdicts") == verdictsOf(version) {
			b.VerdictProtections = strconv.Itoa(version)
		}
	}
	switch chosen.Get("states") {
	case sameStates:
		b.Agreement = relabel.AgreementSame
	case otherStates:
		b.Agreement = relabel.AgreementDiffers
	}
	for _, reason := range endReasons {
		if slices.Contains(chosen["ended"], string(reason)) {
			b.EndReasons = append(b.EndReasons, reason)
		}
	}
}

// chooseTokens takes what was chosen of the views of tokens.
func (b *exportBody) chooseTokens(chosen url.Values) (err error) {
	b.Tokenizer, b.Template, b.TemplateText, b.Date = chosen.Get("tokenizer"), chosen.Get("template"), strings.ReplaceAll(chosen.Get("template_text"), "\r\n", "\n"), chosen.Get("date") // forms send lines so
	if how := chosen.Get("arguments"); how != "auto" {
		b.Arguments = relabel.ArgumentsForm(how)
	}
	if how := chosen.Get("reasoning"); how != "template" {
		b.Reasoning = relabel.ReasoningForm(how)
	}
	if chosen.Get("thinking") == ownName {
		b.ThinkingAlias = new(false)
	}
	if text := chosen.Get("template_options"); text != "" {
		var options map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &options) != nil {
			return relabel.Errorf(relabel.CodeInvalid, "must be a JSON object").On("template_options")
		}
		b.TemplateOptions = json.RawMessage(text)
	}
	if chosen.Get("weights") == byTransition {
		b.Normalisation = relabel.PerTransition
	}
	if chosen.Get("too_long") == dropTrunks {
		b.TooLong = relabel.DropTooLong
	}
	b.PadTree = b.has(relabel.ViewTree) && slices.Contains(chosen["rows"], padded)
	b.Bare = b.has(relabel.ViewLinear) && slices.Contains(chosen["rows"], bareRows)
	if b.Capacity, err = tokenNumber(chosen, "capacity"); err != nil {
		return err
	}
	b.MaxLength, err = tokenNumber(chosen, "max_length")
	return err
}

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

// madeExport is the page of the export that was made.
func madeExport(answer []byte) string {
	var made struct{ ID relabel.ID }
	if json.Unmarshal(answer, &made) != nil {
		return "/exports"
	}
	return "/exports/" + made.ID.String()
}

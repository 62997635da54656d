package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"relabel"
	"relabel/api"
)

// ExportStart is `relabel export start RUN`. A filter that is not given is that of the run's
// recipe, which the server knows.
type ExportStart struct {
	ClientFlags
	RunName            string   `arg:"" name:"run" help:"Name or id of the run."`
	Iteration          int      `placeholder:"I" help:"Iteration. Default: the latest that is done, with --unfinished the latest that is done or runs."`
	Aggregated         bool     `help:"Iterations 1 to I together (D1 ∪ … ∪ Di), instead of I alone."`
	Unfinished         bool     `help:"Include running iterations: finished trajectories are exported, the rest excluded and counted."`
	Submitted          *bool    `negatable:"" help:"Only valid submissions. Default for every recipe but grpo; --no-submitted includes trajectories without one."`
	Resolved           *bool    `negatable:"" help:"Only resolved trajectories: submitted, and the tests pass (rejection sampling). Default for sft; --no-resolved includes the others."`
	MixedRewards       *bool    `negatable:"" help:"Only groups (the trajectories of a task in an iteration) of which some are resolved and some are not. Default for grpo; --no-mixed-rewards includes the others."`
	VerdictProtections string   `placeholder:"newest|N" help:"Only trajectories with a verdict of version N of the verifier's protections or newer; the others are excluded and counted. relabel run verify grades them again."`
	EndReason          []string `placeholder:"REASON" enum:"${end_reasons}" help:"Only trajectories that ended so: ${enum}; may be repeated."`
	Agreement          string   `default:"any" enum:"any,same,differs" help:"Only states where the executed action is the label, or is not: ${enum}."`
	LabelPolicy        string   `placeholder:"POLICY" help:"Export labels from this policy instead of the run's teacher: another teacher, asked with run relabel, or the student's own actions."`
	LeaveOutFlag       []string `placeholder:"FLAG" help:"Leave out what reviews flagged so: trajectories, and the states of flagged turns; * for any flag. May be repeated."`
	Detach             bool     `help:"Return at once; relabel export show says how far it is."`
	Destination        string   `placeholder:"URL" help:"Bucket below which it is written, e.g. s3://bucket/prefix?region=eu-west-1. Default: the exports' folder."`
	formFlags
}

// formFlags say how rows are written. What is not given takes the server's default.
type formFlags struct {
	View            []string `placeholder:"VIEW" enum:"messages,linear,packed,tree" help:"Forms of the rows: ${enum}. Default: messages."`
	Tokenizer       string   `placeholder:"DIR|NAME" help:"The student's tokenizer: a model's folder on this machine, which is registered, or the name or hash of a registered one. Default: the student policy's."`
	Template        string   `placeholder:"FILE" help:"Another chat template than the tokenizer's own; its text is sent."`
	TemplateOptions string   `placeholder:"JSON" help:"Object of further variables for the template, e.g. {\"enable_thinking\": false}."`
	Date            string   `placeholder:"YYYY-MM-DD" help:"The day that the template sees, where it asks for one."`
	Arguments       string   `placeholder:"HOW" help:"How the template gets a call's arguments: auto (default), string or object."`
	Reasoning       string   `placeholder:"HOW" help:"How reasoning is exported: template (default) lets the template decide, keep excludes labels that it renders without theirs, drop never gives it to the template."`
	ThinkingAlias   *bool    `negatable:"" help:"Give the template a message's reasoning_content as thinking too, which those of gpt-oss and LFM read. Default: yes."`
	Normalisation   string   `placeholder:"HOW" help:"What a label's weight is spread over: each token (default) or transition."`
	Capacity        int      `placeholder:"TOKENS" help:"Tokens of a bin. Default: 65536."`
	MaxLength       int      `placeholder:"TOKENS" help:"Most tokens of a sequence, or of a tree to the end of a label. Default: the capacity."`
	TooLong         string   `placeholder:"HOW" help:"When a trunk exceeds --max-length: cut it after the last label that fits (default), or drop it. Leaves over it are dropped."`
	Divide          int      `placeholder:"N" help:"The trainer's data-parallel size: the number of files per view is a multiple of this."`
	PadTree         bool     `help:"Fill rows of the tree view up to the capacity."`
	Bare            bool     `help:"linear with input_ids, attention_mask and labels alone."`
}

// body is the export as POST /v1/exports takes it. What is not given is absent.
func (c *ExportStart) body(ctx context.Context, cl *Session, run relabel.Run) (body api.NewExport, err error) {
	body = api.NewExport{Run: run.ID.String(), Iteration: c.Iteration, Aggregated: c.Aggregated, Unfinished: c.Unfinished,
		Submitted: c.Submitted, Resolved: c.Resolved, MixedRewards: c.MixedRewards, VerdictProtections: c.VerdictProtections,
		LabelPolicy: c.LabelPolicy, LeaveOutFlags: c.LeaveOutFlag, Destination: c.Destination}
	for _, reason := range c.EndReason {
		body.EndReasons = append(body.EndReasons, relabel.EndReason(reason))
	}
	if c.Agreement != "any" {
		body.Agreement = relabel.Agreement(c.Agreement)
	}
	body.ExportForm, err = c.form(ctx, cl)
	return body, err
}

// form is the part of the body that says how rows are written. A tokenizer's folder is
// registered.
func (f formFlags) form(ctx context.Context, cl *Session) (form relabel.ExportForm, err error) {
	form = relabel.ExportForm{Date: f.Date, Arguments: relabel.ArgumentsForm(f.Arguments), Reasoning: relabel.ReasoningForm(f.Reasoning), ThinkingAlias: f.ThinkingAlias,
		Normalisation: relabel.Normalisation(f.Normalisation), Capacity: f.Capacity, MaxLength: f.MaxLength, TooLong: relabel.TooLong(f.TooLong),
		Divide: f.Divide, PadTree: f.PadTree, Bare: f.Bare}
	for _, view := range f.View {
		form.Views = append(form.Views, relabel.View(view))
	}
	if form.Tokenizer, err = UseTokenizer(ctx, cl, f.Tokenizer); err != nil {
		return form, err
	}
	if form.TemplateText, form.Template, err = useTemplate(f.Template); err != nil || f.TemplateOptions == "" {
		return form, err
	}
	form.TemplateOptions = json.RawMessage(f.TemplateOptions)
	if !json.Valid(form.TemplateOptions) {
		return form, relabel.Errorf(relabel.CodeInvalid, "must be a JSON object").On("--template-options")
	}
	return form, nil
}

// Run starts the export and waits for its end.
func (c *ExportStart) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		run, err := findRun(ctx, cl, c.RunName)
		if err != nil {
			return err
		}
		body, err := c.body(ctx, cl, run)
		if err != nil {
			return err
		}
		e, err := cl.StartExport(ctx, body)
		if err != nil {
			return notHere(err, map[string]string{"tokenizer": c.Tokenizer, "template": c.Template})
		}
		id := e.ID
		if c.Detach {
			fmt.Printf("%s  it is built %s: `relabel export show %s` says how far it is\n", id, cl.elsewhere(), id)
			fmt.Println("  " + taken(e))
			sayIfNobodyWorks(ctx, cl)
			return nil
		}
		if e, err = c.build(ctx, cl, id); ctx.Err() != nil {
			return Interruptedf("the export goes on %s: `relabel export show %s` says how far it is", cl.elsewhere(), id)
		}
		if err != nil {
			return err
		}
		return PrintExport(e)
	})
}

// build waits for an export's end. Where no server runs that would build it, this
// process does.
func (c *ExportStart) build(ctx context.Context, cl *Session, id relabel.ID) (e relabel.Export, err error) {
	if cl.local != nil {
		stop, err := cl.local.StartExports(ctx)
		if err != nil {
			return e, err
		}
		defer func() { err = errors.Join(err, stop()) }()
	} else {
		sayIfNobodyWorks(ctx, cl)
	}
	return WatchExport(ctx, cl, id)
}

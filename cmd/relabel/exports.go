package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relabel"
	"relabel/shard/verify"
)

// exportCommand is `relabel export`.
type exportCommand struct {
	Start  exportStart  `cmd:"" help:"Build a data set from a run's labelled states and wait for it."`
	List   exportList   `cmd:"" help:"List data sets."`
	Show   exportShow   `cmd:"" help:"Show a data set: its files, and what was left out and why. With --row, a row of its files in colour."`
	Verify exportVerify `cmd:"" help:"Check a data set's folder: its files against the manifest, each row, and that all views hold the same labels."`
	Cancel exportCancel `cmd:"" help:"End a data set that is being built."`
	Delete exportDelete `cmd:"" help:"Remove a data set with its files."`
}

// exportStart is `relabel export start RUN`.
type exportStart struct {
	clientFlags
	RunName      string   `arg:"" name:"run" help:"Name or id of the run."`
	Iteration    int      `placeholder:"I" help:"Iteration. Default: the latest that is done, with --unfinished the latest that is done or runs."`
	Aggregated   bool     `help:"Iterations 1 to I together (D1 ∪ … ∪ Di), instead of I alone."`
	Unfinished   bool     `help:"Iterations that are still running too: what is done of them; the rest is left out and counted."`
	Submitted    bool     `default:"true" negatable:"" help:"Only valid submissions, as the paper's recipes do."`
	Resolved     bool     `help:"Only resolved trajectories: submitted and passed (rejection sampling)."`
	EndReason    []string `placeholder:"REASON" enum:"finish,max_turns,context,wall_clock,no_call" help:"Only trajectories that ended so: ${enum}; may be repeated."`
	Agreement    string   `default:"any" enum:"any,same,differs" help:"Only states where the executed action is the label, or is not: ${enum}."`
	LabelPolicy  string   `placeholder:"POLICY" help:"Whose labels leave, instead of the run's teacher's: another teacher's, that run relabel asked, or the student's own actions."`
	LeaveOutFlag []string `placeholder:"FLAG" help:"Leave out what reviews flagged so: trajectories, and the states of flagged turns; * for any flag. May be repeated."`
	Detach       bool     `help:"Return at once; relabel export show says how far it is."`
	Destination  string   `placeholder:"URL" help:"Bucket below which it is written, e.g. s3://bucket/prefix?region=eu-west-1. Default: the exports' folder."`
	formFlags
}

// formFlags say how rows are written.
type formFlags struct {
	View            []string `default:"messages" enum:"messages,linear,packed,tree" help:"Forms of the rows: ${enum}."`
	Tokenizer       string   `placeholder:"DIR" help:"Folder with the student's tokenizer.json and tokenizer_config.json. Default: the student policy's."`
	Template        string   `placeholder:"FILE" help:"Another chat template than the folder's own."`
	TemplateOptions string   `placeholder:"JSON" help:"Object of further variables for the template, e.g. {\"enable_thinking\": false}."`
	Date            string   `placeholder:"YYYY-MM-DD" help:"The day that the template sees, where it asks for one."`
	Arguments       string   `placeholder:"HOW" help:"How the template gets a call's arguments: auto (default), string or object."`
	Reasoning       string   `placeholder:"HOW" help:"What becomes of reasoning: template (default), keep or drop."`
	Normalisation   string   `placeholder:"HOW" help:"What a label's weight is spread over: each token (default) or transition."`
	Capacity        int      `placeholder:"TOKENS" help:"Tokens of a bin. Default: 65536."`
	MaxLength       int      `placeholder:"TOKENS" help:"Most tokens of a sequence, or of a tree to the end of a label. Default: the capacity."`
	TooLong         string   `placeholder:"HOW" help:"What becomes of a trunk over that: drop (default) or cut. Both are counted."`
	Divide          int      `placeholder:"N" help:"The trainer's data-parallel size: each view has a multiple of so many files."`
	PadTree         bool     `help:"Fill rows of the tree view up to the capacity."`
	Bare            bool     `help:"linear with input_ids, attention_mask and labels alone."`
}

// body is the form as POST /v1/exports takes it.
func (f formFlags) body(body map[string]any) error {
	body["views"], body["divide"], body["pad_tree"], body["bare"], body["max_length"] = f.View, f.Divide, f.PadTree, f.Bare, f.MaxLength
	for name, how := range map[string]string{"arguments": f.Arguments, "reasoning": f.Reasoning, "normalisation": f.Normalisation, "too_long": f.TooLong} {
		if how != "" {
			body[name] = how
		}
	}
	if f.Capacity != 0 {
		body["capacity"] = f.Capacity
	}
	for name, path := range map[string]string{"tokenizer": f.Tokenizer, "template": f.Template} {
		if path == "" {
			continue
		}
		whole, err := filepath.Abs(path) // the server may stand in another folder
		if err != nil {
			return err
		}
		body[name] = whole
	}
	if f.Date != "" {
		body["date"] = f.Date
	}
	if f.TemplateOptions != "" {
		var options map[string]json.RawMessage // numbers as they were written
		if err := json.Unmarshal([]byte(f.TemplateOptions), &options); err != nil {
			return relabel.Errorf(relabel.CodeInvalid, "must be a JSON object").On("--template-options").Because(err)
		}
		body["template_options"] = options
	}
	return nil
}

// Run starts the export and waits for its end.
func (c *exportStart) Run(ctx context.Context) error {
	return c.with(ctx, func(cl *client) error {
		run, err := findRun(ctx, cl, c.RunName)
		if err != nil {
			return err
		}
		body := map[string]any{"run": run.ID, "iteration": c.Iteration, "aggregated": c.Aggregated, "unfinished": c.Unfinished, "submitted": c.Submitted, "resolved": c.Resolved, "agreement": c.Agreement}
		if len(c.EndReason) > 0 {
			body["end_reasons"] = c.EndReason
		}
		if len(c.LeaveOutFlag) > 0 {
			body["leave_out_flags"] = c.LeaveOutFlag
		}
		if c.Destination != "" {
			body["destination"] = c.Destination
		}
		if err := c.body(body); err != nil {
			return err
		}
		if c.LabelPolicy != "" {
			body["label_policy"] = c.LabelPolicy
		}
		var e relabel.Export
		if err := cl.post(ctx, "/v1/exports", body, &e); err != nil {
			return err
		}
		id := e.ID
		if c.Detach {
			fmt.Printf("%s  it is built %s: `relabel export show %s` says how far it is\n", id, cl.elsewhere(), id)
			sayIfNobodyWorks(ctx, cl)
			return nil
		}
		if e, err = c.build(ctx, cl, id); ctx.Err() != nil {
			return interruptedf("the export goes on %s: `relabel export show %s` says how far it is", cl.elsewhere(), id)
		}
		if err != nil {
			return err
		}
		return printExport(e)
	})
}

// build waits for an export's end. Where no server runs that would build it, this
// process does.
func (c *exportStart) build(ctx context.Context, cl *client, id relabel.ID) (e relabel.Export, err error) {
	if cl.here != nil {
		stop, err := startExports(ctx, cl.here, c.Data)
		if err != nil {
			return e, err
		}
		defer func() { err = errors.Join(err, stop()) }()
	} else {
		sayIfNobodyWorks(ctx, cl)
	}
	return watchExport(ctx, cl, id)
}

// printExport prints where a data set is and what it holds, or why there is none.
func printExport(e relabel.Export) error {
	switch e.State {
	case relabel.ExportDone:
		fmt.Printf("%s  %s: %d labelled states as %s in %s\n", e.ID, e.State, e.Rows, viewWords(e.Form.Views), e.Directory)
	case relabel.ExportFailed:
		fmt.Printf("%s  %s: %s\n", e.ID, e.State, e.Failure)
	default:
		fmt.Printf("%s  %s\n", e.ID, stateOf(e))
		if why := waits(e); why != "" {
			fmt.Println("  " + why)
		}
	}
	return printFiles(e)
}

// printFiles prints what was left out of an export, and its files.
func printFiles(e relabel.Export) error {
	for _, reason := range slices.Sorted(maps.Keys(e.LeftOut)) {
		fmt.Printf("  left out: %d × %s\n", e.LeftOut[reason], reason)
	}
	if e.PromptCheck != nil {
		fmt.Println("  prompts: " + promptWords(*e.PromptCheck))
	}
	if len(e.Files) == 0 {
		return nil
	}
	t := newTable("FILE", "ROWS", "TOKENS", "SUPERVISED", "BYTES", "SHA-256")
	for _, f := range e.Files {
		t.row(f.Path, f.Rows, f.Tokens, f.SupervisedTokens, f.Bytes, f.SHA256)
	}
	return t.print()
}

// exportList is `relabel export list`.
type exportList struct{ clientFlags }

// Run prints the exports.
func (c *exportList) Run(ctx context.Context) error {
	return c.with(ctx, func(cl *client) error {
		exports, err := list[relabel.Export](ctx, cl, "/v1/exports")
		if err != nil {
			return err
		}
		runs, err := list[relabel.Run](ctx, cl, "/v1/runs")
		if err != nil {
			return err
		}
		t := newTable("ID", "RUN", "ITERATIONS", "VIEWS", "STATES", "STATE", "WHERE", "WHY")
		for _, e := range exports {
			name := e.Selection.RunID.String()
			if run := find(runs, func(r relabel.Run) bool { return r.ID == e.Selection.RunID }); run != nil {
				name = run.Name
			}
			where := "" // nothing is there before it is done
			if e.State == relabel.ExportDone {
				where = e.Directory
			}
			t.row(e.ID, name, iterationsIn(e.Selection), viewWords(e.Form.Views), e.Rows, stateOf(e), where, oneLine(cmp.Or(e.Failure, e.Waiting)))
		}
		return t.print()
	})
}

// iterationsIn says which iterations a data set was asked of.
func iterationsIn(s relabel.ExportSelection) string {
	last := "latest"
	if s.Iteration > 0 {
		last = fmt.Sprint(s.Iteration)
	}
	if s.Unfinished {
		last += ", what was done"
	}
	if s.Aggregated && s.Iteration != 1 {
		return "1 to " + last
	}
	return last
}

// exportShow is `relabel export show ID|DIR`.
type exportShow struct {
	clientFlags
	rowFlags
	ID string `arg:"" name:"id|dir" help:"Id of the export, or its folder."`
}

// Run prints one export, or a row of it.
func (c *exportShow) Run(ctx context.Context) error {
	if info, err := os.Stat(c.ID); err == nil && info.IsDir() {
		return c.folder(c.ID)
	}
	return c.with(ctx, func(cl *client) error {
		id, err := relabel.ParseID("export", c.ID)
		if err != nil {
			return err
		}
		var e relabel.Export
		if err := cl.get(ctx, "/v1/exports/"+id.String(), &e); err != nil {
			return err
		}
		if c.Row == "" {
			return printExport(e)
		}
		if info, err := os.Stat(e.Directory); err != nil || !info.IsDir() {
			return relabel.Errorf(relabel.CodeNotFound, "its files are in %s, not on this machine: fetch them, or look at the row in the viewer", e.Directory).On("--row")
		}
		return c.folder(e.Directory)
	})
}

// folder prints what the manifest of an export's folder says, or a row.
func (c *exportShow) folder(dir string) error {
	if c.Row != "" {
		return c.show(dir)
	}
	m, err := verify.ReadManifest(dir)
	if err != nil {
		return err
	}
	fmt.Printf("%d labelled states as %s of run %s\n", m.States, viewWords(m.Views), m.Run)
	e := relabel.Export{LeftOut: m.LeftOut}
	for _, f := range m.Files {
		e.Files = append(e.Files, relabel.ExportFile{Path: f.Path, SHA256: f.SHA256, Bytes: f.Bytes, Rows: f.Rows, Tokens: f.Tokens, SupervisedTokens: f.SupervisedTokens})
	}
	return printFiles(e)
}

// viewWords lists views.
func viewWords(views []relabel.View) string {
	var words []string
	for _, v := range views {
		words = append(words, string(v))
	}
	return strings.Join(words, ", ")
}

// exportCancel is `relabel export cancel ID`.
type exportCancel struct {
	clientFlags
	ID string `arg:"" help:"Id of the export."`
}

// Run cancels an export.
func (c *exportCancel) Run(ctx context.Context) error {
	return c.with(ctx, func(cl *client) error {
		id, err := relabel.ParseID("export", c.ID)
		if err != nil {
			return err
		}
		var e relabel.Export
		if err := cl.post(ctx, "/v1/exports/"+id.String()+"/cancel", nil, &e); err != nil {
			return err
		}
		return printExport(e)
	})
}

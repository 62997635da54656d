package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"relabel"
	"relabel/safetext"
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
	fmt.Println("  " + taken(e))
	return printFiles(e)
}

// taken says which trajectories and iterations a data set takes.
func taken(e relabel.Export) string {
	return "taken: " + safetext.TerminalLine(e.Selection.Describe()+" of "+e.Selection.DescribeIterations())
}

// printFiles prints what was left out of an export, and its files.
func printFiles(e relabel.Export) error {
	for _, reason := range slices.Sorted(maps.Keys(e.LeftOut)) {
		fmt.Printf("  left out: %d × %s\n", e.LeftOut[reason], reason)
	}
	if e.PromptCheck != nil {
		fmt.Println("  prompts: " + promptWords(*e.PromptCheck))
	}
	if e.ModelCheck == relabel.ModelNotChecked {
		fmt.Println("  model: not checked for recurrent layers, which trees must not train: there is no config.json beside the tokenizer")
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

// printOptions prints what an export was asked for, as its page does.
func printOptions(e relabel.Export) error {
	options, err := json.Marshal(struct {
		Selection relabel.ExportSelection `json:"selection"`
		Form      relabel.ExportForm      `json:"form"`
	}{e.Selection, e.Form})
	if err == nil {
		fmt.Println("  options: " + safetext.TerminalLine(string(options)))
	}
	return err
}

// exportList is `relabel export list`.
type exportList struct{ clientFlags }

// Run prints the exports.
func (c *exportList) Run(ctx context.Context) error {
	return c.with(ctx, func(cl *session) error {
		exports, err := cl.Exports(ctx, nil)
		if err != nil {
			return err
		}
		runs, err := cl.Runs(ctx)
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
	if isFolder(c.ID) {
		return c.folder(c.ID, func(hash string) (relabel.TokenizerFiles, error) { return c.registeredTokenizer(ctx, hash) })
	}
	return c.with(ctx, func(cl *session) error {
		e, err := findExport(ctx, cl, c.ID)
		if err != nil {
			return err
		}
		if c.Row == "" {
			return errors.Join(printExport(e), printOptions(e))
		}
		if !isFolder(e.Directory) {
			return relabel.Errorf(relabel.CodeNotFound, "its files are in %s, not on this machine: fetch them, or look at the row in the viewer", e.Directory).On("--row")
		}
		return c.folder(e.Directory, func(hash string) (relabel.TokenizerFiles, error) { return cl.registeredTokenizer(ctx, hash) })
	})
}

// findExport finds an export by its id.
func findExport(ctx context.Context, cl *session, word string) (e relabel.Export, err error) {
	id, err := exportID(word)
	if err != nil {
		return e, err
	}
	return cl.Export(ctx, id)
}

// exportID reads the id of an export.
func exportID(word string) (relabel.ID, error) {
	id, err := relabel.ParseID("export", word)
	if err != nil {
		return id, relabel.Errorf(relabel.CodeInvalid, "%q is no id of an export; `relabel export list` shows them", word)
	}
	return id, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// folder prints what the manifest of an export's folder says, or a row. fetch gets a
// registered tokenizer.
func (c *exportShow) folder(dir string, fetch func(hash string) (relabel.TokenizerFiles, error)) error {
	if c.Row != "" {
		return c.show(dir, fetch)
	}
	m, err := verify.ReadManifest(dir)
	if err != nil {
		return err
	}
	fmt.Printf("%d labelled states as %s of run %s\n", m.States, viewWords(m.Views), m.Run)
	if m.TooLong != nil && m.TooLong.Labels() > 0 {
		fmt.Println("  " + m.TooLong.Words())
	}
	e := relabel.Export{LeftOut: m.LeftOut, PromptCheck: m.PromptCheck, ModelCheck: m.ModelCheck}
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
	return c.with(ctx, func(cl *session) error {
		id, err := exportID(c.ID)
		if err != nil {
			return err
		}
		e, err := cl.CancelExport(ctx, id)
		if err != nil {
			return err
		}
		return printExport(e)
	})
}

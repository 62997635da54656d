package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"golang.org/x/term"

	"relabel"
	"relabel/cli"
	"relabel/safetext"
	"relabel/shard/render"
	"relabel/shard/verify"
)

// exportVerify is `relabel export verify ID|DIR`. It writes nothing. Of a folder it needs no
// server, but asks one that runs for a registered tokenizer.
type exportVerify struct {
	cli.ClientFlags
	Export    string `arg:"" name:"id|dir" help:"Id of the export, whose files are on this machine, or its folder."`
	Tokenizer string `placeholder:"DIR" type:"existingdir" help:"Folder of the tokenizer. Default: the registered one, from the server that runs, or where the manifest says that it was."`
	Template  string `placeholder:"FILE" type:"existingfile" help:"Another chat template than the folder's own."`
	Render    bool   `default:"true" negatable:"" help:"Render the messages view again and compare it with the views of tokens."`
	JSON      bool   `name:"json" help:"Print the report as JSON, with what was not checked."`
	First     int    `default:"10" placeholder:"N" help:"Problems of each kind that are told one by one."`
}

// Run prints what is wrong, and last a line that says PASS or FAIL with what was read.
func (c *exportVerify) Run(ctx context.Context) error {
	if cli.IsFolder(c.Export) {
		return c.check(ctx, c.Export, func(hash string) (relabel.TokenizerFiles, error) { return c.RegisteredTokenizer(ctx, hash) })
	}
	if _, err := relabel.ParseID("export", c.Export); err != nil {
		return relabel.Errorf(relabel.CodeNotFound, "%s is neither a folder on this machine nor the id of an export; `relabel export list` shows what there is", c.Export)
	}
	return c.With(ctx, func(cl *cli.Session) error {
		e, err := cli.FindExport(ctx, cl, c.Export)
		if err != nil {
			return err
		}
		if !cli.IsFolder(e.Directory) {
			return relabel.Errorf(relabel.CodeNotFound, "its files are in %s, not on this machine: fetch them, and give their folder", e.Directory)
		}
		return c.check(ctx, e.Directory, func(hash string) (relabel.TokenizerFiles, error) { return cl.RegisteredTokenizer(ctx, hash) })
	})
}

// check checks the folder of an export. fetch gets a registered tokenizer.
func (c *exportVerify) check(ctx context.Context, dir string, fetch func(hash string) (relabel.TokenizerFiles, error)) error {
	student, err := c.student(dir, fetch)
	if err != nil {
		return err
	}
	progress := new(verify.Progress)
	done := showReading(ctx, progress)
	report, err := verify.Check(ctx, dir, verify.Options{Student: student, First: max(1, c.First), Progress: progress})
	done()
	if err != nil {
		return err
	}
	if err := c.print(report); err != nil {
		return err
	}
	if !report.Sound() {
		return cli.ErrSomeFailed
	}
	return nil
}

// print prints the report, as JSON where that is asked for.
func (c *exportVerify) print(report *verify.Report) error {
	if c.JSON {
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		return out.Encode(struct {
			Sound bool `json:"sound"`
			*verify.Report
		}{report.Sound(), report})
	}
	for _, p := range report.Problems {
		fmt.Println(safetext.TerminalLine(p.String()))
	}
	for _, note := range report.Notes {
		fmt.Println("note: " + safetext.TerminalLine(note))
	}
	fmt.Println(safetext.TerminalLine(report.Figure()))
	return nil
}

// student opens what the export was rendered with; nil where nothing is to be rendered. A
// manifest that cannot be read is the check's to tell.
func (c *exportVerify) student(dir string, fetch func(hash string) (relabel.TokenizerFiles, error)) (*render.Student, error) {
	m, err := verify.ReadManifest(dir)
	if err != nil || !c.Render {
		return nil, nil
	}
	var unfetched error
	if c.Tokenizer == "" && c.Template == "" && m.Tokenizer != nil && m.Tokenizer.Hash != "" {
		files, err := fetch(m.Tokenizer.Hash)
		if files != nil {
			return verify.NewStudent(m, files)
		}
		unfetched = err
	}
	s, err := verify.OpenStudent(m, c.Tokenizer, c.Template)
	if relabel.CodeOf(err) == relabel.CodeNotFound {
		err = cmp.Or(unfetched, err)
		return nil, relabel.Errorf(relabel.CodeNotFound, "%s: name its folder with --tokenizer, or leave that out with --no-render", cli.Message(err))
	}
	return s, err
}

// readingPeriod is between two looks at how far a check is.
const readingPeriod = 500 * time.Millisecond

// showReading draws how far a check is, on a terminal, until done is called.
func showReading(ctx context.Context, p *verify.Progress) (done func()) {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		begin := time.Now()
		for tick := time.NewTicker(readingPeriod); ; {
			select {
			case <-ctx.Done():
				tick.Stop()
				fmt.Fprint(os.Stderr, "\r\x1b[K")
				return
			case <-tick.C:
			}
			tokens := p.Tokens.Load()
			fmt.Fprintf(os.Stderr, "\r\x1b[K%d rows, %.1fM tokens, %.1fM a second", p.Rows.Load(), float64(tokens)/1e6, float64(tokens)/1e6/time.Since(begin).Seconds())
		}
	}()
	return func() { cancel(); <-over }
}

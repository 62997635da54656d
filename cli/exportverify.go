package cli

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/term"

	"relabel/safetext"
)

// exportVerify is `relabel export verify ID|DIR|PLACE`. For a folder and a place it needs no server, but uses a
// running one to fetch a registered tokenizer.
type exportVerify struct {
	ClientFlags
	Export    string `arg:"" name:"id|dir|place" help:"Id of the export, whose files are on this machine or on the Hugging Face Hub, its folder, or its place there: hf://organisation/name@revision."`
	Tokenizer string `placeholder:"DIR" type:"existingdir" help:"Folder of the tokenizer. Default: the registered one, from the running server, or the folder that the manifest names."`
	Template  string `placeholder:"FILE" type:"existingfile" help:"Chat template that replaces the folder's own."`
	For       string `placeholder:"FILE" type:"existingfile" help:"Configuration of axolotl, ms-swift, LLaMA-Factory or TRL (YAML, JSON, or a script with its arguments): report settings that would train on the history or cut rows, with what to write instead."`
	Render    bool   `default:"true" negatable:"" help:"Render the messages view again and compare it with the token views. Default: on."`
	JSON      bool   `name:"json" help:"Print the report as JSON, including what was not checked."`
	First     int    `default:"10" placeholder:"N" help:"Number of problems of each kind that are printed one by one. Default: ${default}."`
}

// Run prints all problems and a last line with PASS or FAIL and what was read.
func (c *exportVerify) Run(ctx context.Context, p *Ports) error {
	return exportFiles{c.ClientFlags, p, nil}.use(ctx, c.Export, func(dir string, fetch FetchTokenizer) error {
		progress := new(ReadProgress)
		done := showReading(ctx, progress)
		report, err := p.VerifyExport(ctx, VerifyOptions{Dir: dir, Tokenizer: c.Tokenizer, Template: c.Template, For: c.For, Render: c.Render,
			First: max(1, c.First), Fetch: fetch, Progress: progress})
		done()
		if err != nil {
			return err
		}
		if err := c.print(report); err != nil {
			return err
		}
		if !report.Sound() {
			return ErrSomeFailed
		}
		return nil
	})
}

func (c *exportVerify) print(report VerifyReport) error {
	if c.JSON {
		return printJSON(report)
	}
	for _, line := range report.Lines() {
		fmt.Println(safetext.TerminalLine(line))
	}
	return nil
}

// readingPeriod is the time between two updates of the progress.
const readingPeriod = 500 * time.Millisecond

// showReading shows the progress of a check on a terminal until done.
func showReading(ctx context.Context, read *ReadProgress) (done func()) {
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
			tokens := float64(read.Tokens.Load()) / 1e6
			fmt.Fprintf(os.Stderr, "\r\x1b[K%d rows, %.1fM tokens, %.1fM a second", read.Rows.Load(), tokens, tokens/time.Since(begin).Seconds())
		}
	}()
	return func() { cancel(); <-over }
}

package cli

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"

	"golang.org/x/term"

	"relabel"
)

// exportPush is `relabel export push ID|DIR PLACE`.
type exportPush struct {
	ClientFlags
	Export      string   `arg:"" name:"id|dir" help:"Id of the export, whose files are on this machine, or its folder."`
	AllowSecret []string `placeholder:"RULE" help:"Push although the text has secrets of this rule, such as private-key or jwt, or was not scanned (unscanned); may be repeated. Default: an export with secrets is not pushed."`
	Destination string   `arg:"" name:"place" help:"Data set of the Hugging Face Hub: hf://organisation/name, with @branch and a folder if wanted."`
}

// Run pushes the export and prints its place.
func (c *exportPush) Run(ctx context.Context, p *Ports) error {
	if !isPlace(c.Destination) {
		return relabel.Errorf(relabel.CodeInvalid, "must be a data set of the Hugging Face Hub, such as hf://organisation/name").On("<place>")
	}
	return exportFiles{c.ClientFlags, p, nil}.use(ctx, c.Export, func(dir string, _ FetchTokenizer) error {
		place, err := p.PushExport(ctx, PushOptions{Dir: dir, Destination: c.Destination, Allow: c.AllowSecret, Sent: sentShown()})
		if ctx.Err() != nil {
			return Interruptedf("the push can be continued with the same command")
		}
		if err != nil {
			return err
		}
		m, err := p.ReadManifest(dir)
		if err != nil {
			return err
		}
		say("%d labelled states as %s are in %s", m.States, ViewWords(m.Views), place)
		if repo, commit, _ := strings.Cut(strings.TrimPrefix(place, "hf://"), "@"); !strings.Contains(commit, "/") {
			say("  load_dataset(%q, %q, revision=%q)", repo, m.Views[0], commit)
		}
		return nil
	})
}

// sentShown returns what shows on a terminal how much was uploaded.
func sentShown() func(bytes, of int64) {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return nil
	}
	var sent atomic.Int64
	return func(bytes, of int64) {
		fmt.Fprintf(os.Stderr, "\r\x1b[K%.1f of %.1f MB uploaded", float64(sent.Add(bytes))/1e6, float64(of)/1e6)
	}
}

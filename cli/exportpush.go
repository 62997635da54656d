package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"relabel"
	"relabel/api"
)

// exportPush is `relabel export push ID|DIR PLACE`.
type exportPush struct {
	ClientFlags
	Export string `arg:"" name:"id|dir" help:"Id of a finished export, which the server's workers push with their token, or a folder of this machine, which this command pushes."`
	api.PushExport
	Cancel bool `help:"Cancel the open push of the export instead."`
	Detach bool `help:"Return at once; relabel export show shows the progress."`
}

// Run pushes the export and prints its place.
func (c *exportPush) Run(ctx context.Context, p *Ports) error {
	here := IsFolder(c.Export) || isPlace(c.Export)
	switch {
	case c.Cancel && (here || c.Destination != ""):
		return relabel.Errorf(relabel.CodeInvalid, "takes the id of an export alone: a folder's push ends with its command").On("--cancel")
	case !c.Cancel && !isPlace(c.Destination):
		return relabel.Errorf(relabel.CodeInvalid, "must be a data set of the Hugging Face Hub, such as hf://organisation/name").On("<place>")
	case here && c.Detach:
		return relabel.Errorf(relabel.CodeInvalid, "does not apply to a folder, which this command pushes").On("--detach")
	case here:
		return exportFiles{c.ClientFlags, p, nil}.use(ctx, c.Export, func(dir string, _ FetchTokenizer) error { return c.pushFolder(ctx, p, dir) })
	}
	id, err := relabel.ParseID("export", c.Export)
	if err != nil {
		return notAnExport(c.Export)
	}
	return c.With(ctx, func(cl *Session) error {
		if c.Cancel {
			e, err := cl.CancelPush(ctx, id)
			if err != nil {
				return err
			}
			return PrintExport(e)
		}
		return c.pushByID(ctx, cl, id)
	})
}

// pushFolder pushes from this machine.
func (c *exportPush) pushFolder(ctx context.Context, p *Ports, dir string) error {
	place, err := p.PushExport(ctx, PushOptions{Dir: dir, Destination: c.Destination, Allow: c.AllowSecrets, Sent: sentShown()})
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
	printPushed(m.States, m.Views, place)
	return nil
}

// pushByID has the workers push, and waits for the end.
func (c *exportPush) pushByID(ctx context.Context, cl *Session, id relabel.ID) error {
	e, err := cl.PushExport(ctx, id, c.PushExport)
	if err != nil {
		return err
	}
	number := e.Pushes[0].Number
	if c.Detach {
		fmt.Printf("%s  it is pushed %s: `relabel export show %s` shows the progress\n", id, cl.elsewhere(), id)
		warnWithoutWorker(ctx, cl)
		return nil
	}
	var p relabel.ExportPush
	err = cl.exporting(ctx, func() (err error) {
		p, err = watchPush(ctx, cl, id, number)
		return err
	})
	if ctx.Err() != nil {
		return Interruptedf("the push continues %s: `relabel export show %s` shows the progress, and the same command waits for its end", cl.elsewhere(), id)
	}
	if err != nil {
		return err
	}
	printPushed(e.Rows, e.Form.Views, p.Place)
	return nil
}

// watchPush waits for a push's end.
func watchPush(ctx context.Context, cl *Session, id relabel.ID, number int) (p relabel.ExportPush, err error) {
	said := ""
	err = poll(ctx, pollPeriod, func() (bool, error) {
		e, err := cl.Export(ctx, id)
		if err != nil {
			return false, err
		}
		if p, err = e.Push(number); err != nil {
			return false, err
		}
		switch p.State {
		case relabel.ExportDone:
			return true, nil
		case relabel.ExportFailed:
			return true, relabel.Errorf(relabel.CodeConflict, "the push failed: %s", p.Failure)
		case relabel.ExportCancelled:
			return true, relabel.Errorf(relabel.CodeConflict, "the push was cancelled")
		}
		if now := pushText(p); now != said {
			said = now
			fmt.Fprintf(os.Stderr, "%s  %s\n", id, oneLine(now))
		}
		return false, nil
	})
	return p, err
}

// pushText describes a push in a line.
func pushText(p relabel.ExportPush) string {
	switch {
	case p.State == relabel.ExportDone:
		return "pushed to " + p.Place
	case p.State == relabel.ExportFailed:
		return fmt.Sprintf("push to %s failed: %s", p.Destination, p.Failure)
	case p.Waiting != "" && p.WaitingSince != nil:
		return fmt.Sprintf("push to %s waiting since %s: %s", p.Destination, p.WaitingSince.Local().Format(time.DateTime), p.Waiting)
	case p.State == relabel.ExportRunning:
		return fmt.Sprintf("push to %s running, %.1f of %.1f MB uploaded", p.Destination, float64(p.SentBytes)/1e6, float64(p.Bytes)/1e6)
	}
	return fmt.Sprintf("push to %s %s", p.Destination, p.State)
}

// printPushed says where a pushed export is, and how it is loaded.
func printPushed(states int, views []relabel.View, place string) {
	say("%d labelled states as %s are in %s", states, ViewWords(views), place)
	if repo, commit, _ := strings.Cut(strings.TrimPrefix(place, "hf://"), "@"); !strings.Contains(commit, "/") {
		say("  load_dataset(%q, %q, revision=%q)", repo, cmp.Or(views...), commit)
	}
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

package cli

import (
	"context"
	"errors"
	"fmt"

	"relabel/api"
)

// exportStart is `relabel export start RUN`.
type exportStart struct {
	ClientFlags
	api.NewExport
	Detach bool `help:"Return at once; relabel export show shows the progress."`
}

// Run starts the export and waits for its end.
func (c *exportStart) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		if _, err := findRun(ctx, cl, c.NewExport.Run); err != nil {
			return err
		}
		var err error
		body := c.NewExport
		if body.Tokenizer, err = UseTokenizer(ctx, cl, c.Tokenizer); err != nil {
			return err
		}
		if body.TemplateText, body.Template, err = useTemplate(c.Template); err != nil {
			return err
		}
		e, err := cl.StartExport(ctx, body)
		if err != nil {
			return notHere(err, map[string]string{"tokenizer": c.Tokenizer, "template": c.Template})
		}
		id := e.ID
		if c.Detach {
			fmt.Printf("%s  it is built %s: `relabel export show %s` shows the progress\n", id, cl.elsewhere(), id)
			fmt.Println("  " + taken(e))
			warnWithoutWorker(ctx, cl)
			return nil
		}
		err = cl.exporting(ctx, func() error {
			e, err = WatchExport(ctx, cl, id)
			return err
		})
		if ctx.Err() != nil {
			return Interruptedf("the export continues %s: `relabel export show %s` shows the progress", cl.elsewhere(), id)
		}
		if err != nil {
			return err
		}
		return errors.Join(PrintExport(e), showManifest(ctx, cl, e))
	})
}

// exporting waits for the end of an export, or of a push of it. Where no server runs that would do it, this process does.
func (c *Session) exporting(ctx context.Context, wait func() error) error {
	if c.local == nil {
		warnWithoutWorker(ctx, c)
		return wait()
	}
	stop, err := c.local.StartExports(ctx)
	if err != nil {
		return err
	}
	return errors.Join(wait(), stop())
}

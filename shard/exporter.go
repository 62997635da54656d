package shard

import (
	"context"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/shard/tokenizers"
)

// partBytes is the stored text of a part of an export, before it is compressed: some eight
// million tokens, which one machine holds in memory with their trees, and enough that the
// last, partly filled bin of a part is lost in the others.
const partBytes = 32 << 20

// lookPeriod is between two looks whether an export was cancelled.
const lookPeriod = 2 * time.Second

// waitPeriod is between two tries at a step that waits for its destination.
const waitPeriod = 20 * time.Second

// Config is what an Exporter works with. All fields but Machine, Log and Version are
// needed.
type Config struct {
	Store      Store
	Tokenizers *tokenizers.Opener
	// Destinations say how buckets are reached; zero: at the providers' own addresses.
	Destinations Destinations
	Root         string // folder in which each export gets one, named by its id
	FolderID     string // of Root; see FolderID
	Machine      string // that it runs on, for messages
	Log          zerolog.Logger
	Version      string // of relabel, written into the files
}

// Exporter builds data sets. It is safe for concurrent use.
type Exporter struct {
	Config
	partBytes int64
}

// NewExporter returns an Exporter that writes below config.Root.
func NewExporter(config Config) *Exporter { return &Exporter{Config: config, partBytes: partBytes} }

// Step does one step of an export. It may be done again after a crash or beside itself:
// the same snapshot gives the same bytes, and nothing is to be seen before the last step.
// Of an export that is over, and not done, it removes what is left. A step that another
// one has made needless by ending the export is no failure.
func (x *Exporter) Step(ctx context.Context, job relabel.ExportJob) error {
	e, err := x.Store.FindExport(ctx, job.ExportID)
	if relabel.CodeOf(err) == relabel.CodeNotFound {
		return nil // deleted, with its run
	}
	if err != nil {
		return err
	}
	if over(e) {
		return x.clear(ctx, e)
	}
	steps, stop := x.untilEnded(ctx, e.ID)
	err = x.step(steps, e, job)
	stop()
	if err == nil {
		return nil
	}
	now, findErr := x.Store.FindExport(ctx, e.ID)
	if relabel.CodeOf(findErr) == relabel.CodeNotFound || findErr == nil && over(now) {
		e.State = now.State
		return x.clear(ctx, e) // again: this step may have put a file after the others were removed
	}
	return err
}

func (x *Exporter) step(ctx context.Context, e relabel.Export, job relabel.ExportJob) error {
	switch job.Step {
	case relabel.CutExport:
		return x.cut(ctx, e)
	case relabel.BuildPart:
		return x.buildPart(ctx, e, job.Part)
	case relabel.FinishExport:
		return x.finish(ctx, e)
	case relabel.ClearExport:
		return nil // it is not over
	}
	return relabel.Errorf(relabel.CodeInvalid, "there is no step %q", job.Step)
}

// over reports whether an export has ended, well or not.
func over(e relabel.Export) bool {
	return e.State != relabel.ExportQueued && e.State != relabel.ExportRunning
}

// cut tries the destination, so that one that cannot be written to is known before
// anything is built, and cuts the export into parts.
func (x *Exporter) cut(ctx context.Context, e relabel.Export) error {
	if err := x.ready(ctx, e); err != nil {
		return refusedAtOnce(err)
	}
	return x.Store.CutExport(ctx, e.ID, x.partBytes)
}

// ready tries whether files can be put.
func (x *Exporter) ready(ctx context.Context, e relabel.Export) error {
	at, err := x.place(ctx, e)
	if err != nil {
		return err
	}
	return closeAfter(at.ready(ctx), at)
}

// untilEnded returns a context that ends when the export does other than well.
func (x *Exporter) untilEnded(ctx context.Context, id relabel.ID) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		tick := time.NewTicker(lookPeriod)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if x.ended(ctx, id) {
				cancel()
			}
		}
	}()
	return ctx, cancel
}

// ended reports whether an export was cancelled, failed in another part, or was deleted.
func (x *Exporter) ended(ctx context.Context, id relabel.ID) bool {
	e, err := x.Store.FindExport(ctx, id)
	return relabel.CodeOf(err) == relabel.CodeNotFound || err == nil && over(e) && e.State != relabel.ExportDone
}

// clear removes what an export that is over has written, unless it is done, and what its
// crashed tries left in the scratch folder.
func (x *Exporter) clear(ctx context.Context, e relabel.Export) error {
	if err := removeUnlocked(scratchFolders(x.Root, e.ID.String())); err != nil {
		return folderError(err)
	}
	if e.State == relabel.ExportDone {
		return nil
	}
	at, err := x.place(ctx, e)
	if err != nil {
		return err
	}
	return closeAfter(at.remove(ctx), at)
}

// Prepare fills in where a new export is written, and refuses a form or a destination
// that cannot be, with CodeInvalid naming the field. The tokenizer is opened and its
// template tried.
func (x *Exporter) Prepare(ctx context.Context, e relabel.Export) (relabel.Export, error) {
	if !e.Form.Tokens() {
		if field := ofTokens(e.Form); field != "" {
			return e, relabel.Errorf(relabel.CodeInvalid, "is of the views of tokens, and there is none among the views asked for: add linear, packed or tree").On(field)
		}
	}
	e.Form = e.Form.WithDefaults()
	e.Form.Views = inOrder(e.Form.Views)
	if err := checkForm(e.Form); err != nil {
		return e, err
	}
	if e.Form.Tokens() {
		var err error
		if _, e.ModelCheck, err = x.openStudent(ctx, e.Form); err != nil {
			return e, err
		}
	}
	if e.Destination != "" {
		at, err := x.Destinations.parse(e.Destination)
		e.Directory = publicURL(e.Destination, at.prefix, e.ID)
		return e, err
	}
	e.FolderID, e.Directory = x.FolderID, newFolder(x.Root, e.ID).directory()
	return e, nil
}

func inOrder(views []relabel.View) []relabel.View {
	var ordered []relabel.View
	for _, v := range relabel.Views {
		if slices.Contains(views, v) {
			ordered = append(ordered, v)
		}
	}
	return ordered
}

// ofTokens names a field of the form that says nothing of messages and is set all the
// same, "" for none.
func ofTokens(f relabel.ExportForm) string {
	for _, is := range []struct {
		field string
		set   bool
	}{
		{"tokenizer", f.Tokenizer != ""}, {"template", f.Template != ""}, {"template_text", f.TemplateText != ""}, {"template_options", f.TemplateOptions != nil}, {"date", f.Date != ""},
		{"arguments", f.Arguments != ""}, {"reasoning", f.Reasoning == relabel.ReasoningKeep}, {"thinking_alias", f.ThinkingAlias != nil}, {"normalisation", f.Normalisation != ""}, {"capacity", f.Capacity != 0},
		{"max_length", f.MaxLength != 0}, {"too_long", f.TooLong != ""}, {"pad_tree", f.PadTree}, {"bare", f.Bare},
	} {
		if is.set {
			return is.field
		}
	}
	return ""
}

// checkForm refuses what does not go together.
func checkForm(f relabel.ExportForm) error {
	bad := func(field, format string, a ...any) error {
		return relabel.Errorf(relabel.CodeInvalid, format, a...).On(field)
	}
	switch {
	case !f.Tokens():
		return nil
	case f.Tokenizer == "":
		return bad("tokenizer", "views of tokens need the student's tokenizer: name a registered one here, or in the student's policy")
	case f.Template != "" && f.TemplateText != "":
		return bad("template", "is a second template: give template or template_text")
	case f.Bare && !slices.Contains(f.Views, relabel.ViewLinear):
		return bad("bare", "is of the linear view, which is not asked for")
	case f.Bare && f.Normalisation == relabel.PerTransition:
		return bad("bare", "rows have no weights, so each token weighs 1: normalisation must be token")
	case f.MaxLength > f.Capacity:
		return bad("max_length", "is over the capacity: no bin would hold such a row")
	case f.PadTree && !slices.Contains(f.Views, relabel.ViewTree):
		return bad("pad_tree", "is of the tree view, which is not asked for")
	}
	return nil
}

package shard

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/secretscan"
	"relabel/shard/hub"
	"relabel/shard/tokenizers"
	"relabel/trainers"
)

// partBytes is the stored text of one part, in bytes before compression: about eight million
// tokens. One machine can hold a part and its trees in memory, and the part's last, partly
// filled bin is negligible.
const partBytes = 32 << 20

// lookPeriod is the interval at which a running step checks whether its export was cancelled.
const lookPeriod = 2 * time.Second

// waitPeriod is the time between two attempts at a step that waits for its destination.
const waitPeriod = 20 * time.Second

// Config configures an Exporter. All fields except Machine, Log, Version and OwnSecrets are required.
type Config struct {
	Store      Store
	Tokenizers *tokenizers.Opener
	// Destinations configures access to buckets; the zero value uses the providers' own
	// servers.
	Destinations Destinations
	Root         string // folder that holds one subfolder per export, named by its ID
	FolderID     string // of Root; see FolderID
	Machine      string // name of this machine, for messages
	Log          zerolog.Logger
	Version      string // of relabel, written to the files
	// OwnSecrets are the values of this process's secrets by their names. No export may have one of them.
	OwnSecrets map[string]string
}

// Exporter builds data sets. It is safe for concurrent use.
type Exporter struct {
	Config
	partBytes int64
	scan      *secretscan.Scanner
}

// NewExporter returns an Exporter that writes to folders below config.Root.
func NewExporter(config Config) *Exporter {
	return &Exporter{Config: config, partBytes: partBytes, scan: secretscan.NewScanner(config.OwnSecrets)}
}

// Step runs one step of an export. It may be repeated after a crash or run concurrently with
// itself: the same snapshot gives the same bytes, and readers see nothing before the last
// step. It removes the leftovers of an export that failed or was cancelled. It returns nil if
// the export ended while the step ran.
func (x *Exporter) Step(ctx context.Context, job relabel.ExportJob) error {
	e, err := x.Store.FindExport(ctx, job.ExportID)
	if relabel.CodeOf(err) == relabel.CodeNotFound {
		return nil // deleted together with its run
	}
	if err != nil {
		return err
	}
	if job.Step == relabel.PushExport {
		return x.push(ctx, e, job.Part)
	}
	if ended(e) {
		return x.clear(ctx, e)
	}
	steps, stop := x.untilAborted(ctx, e.ID)
	err = x.step(steps, e, job)
	stop()
	if err == nil {
		return nil
	}
	now, findErr := x.Store.FindExport(ctx, e.ID)
	if relabel.CodeOf(findErr) == relabel.CodeNotFound || findErr == nil && ended(now) {
		e.State = now.State
		return x.clear(ctx, e) // repeated: this step may have written a file after the first removal
	}
	return err
}

func (x *Exporter) step(ctx context.Context, e relabel.Export, job relabel.ExportJob) error {
	switch job.Step {
	case relabel.CutExport:
		return x.cut(ctx, e)
	case relabel.SignPart:
		return x.signPart(ctx, e, job.Part)
	case relabel.CompareExport:
		return x.compare(ctx, e)
	case relabel.BuildPart:
		return x.buildPart(ctx, e, job.Part)
	case relabel.FinishExport:
		return x.finish(ctx, e)
	case relabel.ClearExport:
		return nil // the export has not ended
	}
	return relabel.Errorf(relabel.CodeInvalid, "unknown step %q", job.Step)
}

// ended reports whether an export has ended, successfully or not.
func ended(e relabel.Export) bool {
	return e.State != relabel.ExportQueued && e.State != relabel.ExportRunning
}

// cut tests the destination, so that an unwritable one is reported before anything is built,
// and divides the export into parts.
func (x *Exporter) cut(ctx context.Context, e relabel.Export) error {
	if err := x.checkWritable(ctx, e); err != nil {
		return refusedAtOnce(err)
	}
	return x.Store.CutExport(ctx, e.ID, x.partSize(e))
}

// checkWritable tests whether files can be written to the export's storage.
func (x *Exporter) checkWritable(ctx context.Context, e relabel.Export) error {
	at, err := x.storage(e)
	if err != nil {
		return err
	}
	return at.checkWritable(ctx)
}

// untilAborted returns a context that is cancelled when the export fails, is cancelled or is
// deleted.
func (x *Exporter) untilAborted(ctx context.Context, id relabel.ID) (context.Context, func()) {
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
			if x.aborted(ctx, id) {
				cancel()
			}
		}
	}()
	return ctx, cancel
}

// aborted reports whether an export was cancelled, was deleted, or failed in another part.
func (x *Exporter) aborted(ctx context.Context, id relabel.ID) bool {
	e, err := x.Store.FindExport(ctx, id)
	return relabel.CodeOf(err) == relabel.CodeNotFound || err == nil && ended(e) && e.State != relabel.ExportDone
}

// clear removes the scratch folders of crashed attempts at an ended export, and its files
// unless it is done.
func (x *Exporter) clear(ctx context.Context, e relabel.Export) error {
	if err := removeUnlocked(scratchFolders(x.Root, e.ID.String())); err != nil {
		return folderError(err)
	}
	at, err := x.storage(e)
	if err != nil {
		return err
	}
	if e.State == relabel.ExportDone {
		return at.release()
	}
	return at.remove(ctx)
}

// Prepare fills in where a new export of a run with this recipe is written. It opens the
// tokenizer, tests its template, and returns CodeInvalid, naming the field, if the form or the
// destination is invalid.
func (x *Exporter) Prepare(ctx context.Context, recipe relabel.Recipe, e relabel.Export) (_ relabel.Export, err error) {
	if e.Form, err = trainers.Resolve(e.Form); err != nil {
		return e, err
	}
	if !e.Form.Tokens() {
		if field := tokenField(e.Form); field != "" {
			return e, relabel.Errorf(relabel.CodeInvalid, "does not apply to %s: omit it, or add linear, packed or tree", cmp.Or(viewNames(e.Form.Views), "messages")).On(field)
		}
	}
	e.Form = e.Form.WithDefaults()
	e.Form.Views = inOrder(e.Form.Views)
	if recipe == relabel.OPD {
		e.Form.WeightSpan = cmp.Or(e.Form.WeightSpan, relabel.SpanToken)
	}
	if err := trainers.CheckWeights(e.Form, recipe, mixWeights(e)); err != nil {
		return e, err
	}
	if err := checkForm(e.Form); err != nil {
		return e, err
	}
	if err := checkRecipe(e.Form, recipe); err != nil {
		return e, err
	}
	if err := checkMix(e); err != nil {
		return e, err
	}
	if e.Form.Tokens() {
		student, checked, err := x.openStudent(ctx, e.Form)
		if err != nil {
			return e, err
		}
		e.ModelCheck = checked
		if err := checkStudent(e.Form, student); err != nil {
			return e, err
		}
	}
	if err := checkAllowed(e.Form.AllowSecrets); err != nil {
		return e, err
	}
	if hub.IsPlace(e.Destination) {
		place, err := hub.ParsePlace(e.Destination)
		e.FolderID, e.Directory = x.FolderID, place.String()
		return e, errors.Join(err, place.CheckWritable())
	}
	if len(e.Form.AllowSecrets) > 0 {
		return e, relabel.Errorf(relabel.CodeInvalid, "applies to destinations on the Hugging Face Hub only (hf://…): other exports may have secrets, which their manifest counts").On("allow_secrets")
	}
	if e.Destination != "" {
		at, err := x.Destinations.parse(e.Destination)
		if err != nil {
			return e, err
		}
		e.Directory = publicURL(e.Destination, at.prefix, e.ID)
		return e, at.checkNew()
	}
	e.FolderID, e.Directory = x.FolderID, newFolder(x.Root, e.ID).directory()
	return e, nil
}

// viewNames lists views.
func viewNames(views []relabel.View) string {
	var names []string
	for _, v := range views {
		names = append(names, string(v))
	}
	return strings.Join(names, ", ")
}

func inOrder(views []relabel.View) []relabel.View {
	return slices.DeleteFunc(slices.Clone(relabel.AllViews), func(v relabel.View) bool { return !slices.Contains(views, v) })
}

// tokenField returns the first field that is set but applies to token views only, or "".
func tokenField(f relabel.ExportForm) string {
	for _, is := range []struct {
		field string
		set   bool
	}{
		{"tokenizer", f.Tokenizer != ""}, {"template", f.Template != ""}, {"template_text", f.TemplateText != ""}, {"template_options", f.TemplateOptions != nil}, {"date", f.Date != ""},
		{"arguments", f.Arguments != ""}, {"reasoning", f.Reasoning == relabel.ReasoningKeep}, {"thinking_alias", f.ThinkingAlias != nil}, {"normalisation", f.Normalisation != ""}, {"weight_span", f.WeightSpan != ""}, {"capacity", f.Capacity != 0},
		{"max_length", f.MaxLength != 0}, {"too_long", f.TooLong != ""}, {"pad_tree", f.PadTree}, {"bare", f.Bare}, {"min_distance", f.MinDistance > 0},
	} {
		if is.set {
			return is.field
		}
	}
	return ""
}

// checkForm returns CodeInvalid if fields of the form contradict each other.
func checkForm(f relabel.ExportForm) error {
	bad := func(field, format string, a ...any) error {
		return relabel.Errorf(relabel.CodeInvalid, format, a...).On(field)
	}
	switch {
	case !f.Tokens():
		return nil
	case f.Tokenizer == "":
		return bad("tokenizer", "is required for all views but messages: name a registered one here or in the student's policy")
	case f.Template != "" && f.TemplateText != "":
		return bad("template", "conflicts with template_text: give only one of them")
	case f.Bare && !slices.Contains(f.Views, relabel.ViewLinear):
		return bad("bare", "applies to the linear view only, which is not selected")
	case f.Bare && f.For == "" && f.Normalisation == relabel.PerTransition:
		return bad("bare", "rows have no weights, so each token has weight 1: normalisation must be token")
	case f.MaxLength > f.Capacity:
		return bad("max_length", "exceeds the capacity: no bin could hold such a row")
	case f.Normalisation == relabel.PerTransition && slices.Contains(f.Views, relabel.ViewPreference):
		return bad("normalisation", "gives weights, which rows of the preference view do not have: choose token, or export preference alone")
	case f.MinDistance > 0 && !slices.Contains(f.Views, relabel.ViewPreference):
		return bad("min_distance", "applies to the preference view only, which is not selected")
	case f.PadTree && !slices.Contains(f.Views, relabel.ViewTree):
		return bad("pad_tree", "applies to the tree view only, which is not selected")
	}
	return nil
}

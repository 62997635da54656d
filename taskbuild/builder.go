package taskbuild

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// Options are the settings of a build.
type Options struct {
	Out    string // the output folder; it is created
	Source string // what the tasks are made of, in words; a folder of another source is refused. "": any
	Recipe Recipe // of candidates without their own
	// Folder is where the Dockerfile of Recipe is looked for.
	Folder string
	Jobs   int // candidates at once, at least 1
	// Before and After are how many times the tests run without and with the change, at least 1.
	Before, After int
	// MaxDisk bounds the bytes of the images that the build has at any time, on top of the images that it
	// starts from; 0 means no limit. MinFree is how many bytes stay free on the engine's disk.
	MaxDisk, MinFree int64
	// Variables are set for the commands that build images, for example HTTPS_PROXY. They are not kept in
	// the images.
	Variables map[string]string
	// Writer writes the problem statements of the tasks, in the place of those of the candidates. nil: nobody.
	// WriterName changes with what it writes, and so do the keys of candidates.
	Writer     StatementWriter
	WriterName string
	// Again has candidates run again whose image could not be made, for example without network.
	Again bool
	// Done is called after each candidate; several at once. nil: nobody.
	Done func(Entry)
}

// Builder makes tasks. Use it once.
type Builder struct {
	engine  Engine
	tester  Tester
	options Options
	folder  *folder
	images  *images
	started time.Time

	mu      sync.Mutex
	items   []result // in the source's order
	stopped string   // why candidates are postponed; "" if they are not
}

// result is what became of an item.
type result struct {
	item      Item
	entry     Entry
	postponed bool
	built     bool // by this build
	fault     bool // the entry is not in the journal: the next build tries the candidate again
}

// New returns a builder.
func New(engine Engine, tester Tester, options Options) *Builder {
	return &Builder{engine: engine, tester: tester, options: options}
}

// Build makes the tasks of a source and writes tasks.jsonl and report.json into the output folder. It
// fails with CodeConflict while another build uses the folder, or if it has tasks of another source. If ctx ends or the engine fails, neither
// file changes, and the next build of the folder continues.
func (b *Builder) Build(ctx context.Context, source Source) (report Report, err error) {
	b.started = time.Now()
	if b.folder, err = openFolder(b.options.Out, b.options.Source); err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, b.folder.close()) }()
	b.images = newImages(b.engine, b.options, b.folder)
	if err := b.engine.Tidy(ctx, LabelBuild, b.folder.id); err != nil {
		return Report{}, err
	}
	if err := b.run(ctx, source); err != nil {
		return Report{}, err
	}
	if err := b.dropDuplicates(ctx); err != nil {
		return Report{}, err
	}
	if err := b.images.removeUnused(ctx, b.tasks()); err != nil {
		return Report{}, err
	}
	report = b.report()
	if report.Absent, err = b.folder.absent(b.items); err != nil {
		return Report{}, err
	}
	return report, b.folder.write(b.tasks(), report)
}

// run builds all candidates of the source.
func (b *Builder) run(ctx context.Context, source Source) error {
	work, within := errgroup.WithContext(ctx)
	work.SetLimit(max(1, b.options.Jobs))
	for item, err := range source.Items(within) {
		if err != nil || within.Err() != nil {
			return cmp.Or(work.Wait(), err, ctx.Err()) // the first is the cause of the others
		}
		at := b.add(item)
		if item.Refusal != nil {
			continue
		}
		work.Go(func() error {
			r, err := b.build(within, item)
			if err != nil {
				return err
			}
			b.mu.Lock()
			b.items[at] = r
			b.mu.Unlock()
			if b.options.Done != nil && !r.postponed {
				b.options.Done(r.entry)
			}
			return nil
		})
	}
	return cmp.Or(work.Wait(), ctx.Err())
}

// add stores an item and returns its place.
func (b *Builder) add(item Item) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.items = append(b.items, result{item: item})
	return len(b.items) - 1
}

// build returns the result of a candidate: that of the journal, or that of its runs. An error ends the
// whole build.
func (b *Builder) build(ctx context.Context, item Item) (result, error) {
	t, err := b.newTrial(ctx, item.Candidate)
	if err != nil {
		return result{}, err
	}
	if e, known, err := b.known(ctx, t); err != nil || known {
		return result{item: item, entry: e}, err
	}
	if why, err := b.images.noRoom(ctx); err != nil || why != "" {
		b.mu.Lock()
		b.stopped = why
		b.mu.Unlock()
		return result{item: item, postponed: true}, err
	}
	start := time.Now()
	e, err := t.run(ctx)
	if err != nil {
		return result{}, err
	}
	e.Seconds = time.Since(start).Seconds()
	if e.Reason != "" {
		if err := b.images.remove(ctx, t.line.Image); err != nil {
			return result{}, err
		}
	}
	fault := e.Reason == ReasonInfrastructure
	if !fault {
		err = b.folder.journal.Add(e)
	}
	return result{item: item, entry: e, built: true, fault: fault}, err
}

// known returns the journal's entry of a trial. The image of a task must still exist.
func (b *Builder) known(ctx context.Context, t *trial) (Entry, bool, error) {
	e, known := b.folder.journal.Find(t.key)
	if b.options.Again && slices.Contains(imageReasons, e.Reason) {
		return Entry{}, false, nil
	}
	if !known || e.Task == nil || e.Reason != "" {
		return e, known, nil
	}
	labels, err := b.engine.Labels(ctx, LabelKey, []string{e.Task.Image})
	return e, labels[e.Task.Image] == t.key, err
}

// tasks returns the tasks in the source's order.
func (b *Builder) tasks() []Entry {
	var tasks []Entry
	for _, r := range b.items {
		if r.entry.Task != nil && r.entry.Reason == "" {
			tasks = append(tasks, r.entry)
		}
	}
	return tasks
}

// logFile opens the file for one log of a candidate.
func (b *Builder) logFile(id, name string) (*os.File, error) {
	dir := filepath.Join(b.folder.dir, "logs", id)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return os.Create(filepath.Join(dir, name+".log"))
}

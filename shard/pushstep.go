package shard

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"relabel"
	"relabel/shard/hub"
)

// reportPeriod is the interval at which a running push records its progress and checks whether it was cancelled.
const reportPeriod = time.Second

// PreparePush checks a push of a finished export before it is queued, and returns it with its place in its usual form.
// CodeInvalid if the destination or a rule is invalid, CodeConflict if the text has secrets that are not allowed. Where the
// files are on another machine, the worker checks secrets.
func (x *Exporter) PreparePush(ctx context.Context, e relabel.Export, p relabel.ExportPush) (relabel.ExportPush, error) {
	place, err := hub.ParsePlace(p.Destination)
	if err := errors.Join(err, place.CheckWritable(), checkAllowed(p.AllowSecrets)); err != nil {
		return p, err
	}
	p.Destination = place.String()
	if place.Public {
		p.Destination += "?private=false"
	}
	m, err := x.Manifest(ctx, e)
	if relabel.CodeOf(err) == relabel.CodeConflict {
		return p, nil
	}
	return p, errors.Join(err, checkSecrets(m.Secrets, true, p.AllowSecrets))
}

// push pushes a finished export. Repeating it makes no second commit.
func (x *Exporter) push(ctx context.Context, e relabel.Export, number int) (err error) {
	p, err := e.Push(number)
	if err != nil || !p.Open() {
		return err
	}
	dir, release, err := x.localFiles(ctx, e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	progress := &pushProgress{store: x.Store, export: e.ID, number: number}
	pushing, stop := progress.follow(ctx)
	defer stop()
	place, err := x.Destinations.Push(pushing, Push{Dir: dir, Destination: p.Destination, Allow: p.AllowSecrets, Agent: "relabel/" + x.Version,
		Begin: progress.begin, Sent: func(bytes, _ int64) { progress.sent.Add(bytes) }, Patience: hubPatience})
	if errors.Is(err, errPushOver) || errors.Is(context.Cause(pushing), errPushOver) {
		return nil
	}
	if err != nil {
		return err
	}
	x.Log.Info().Stringer("export", e.ID).Str("place", place).Msg("export pushed")
	return x.Store.FinishPush(ctx, e.ID, number, place)
}

// localFiles returns a folder of this machine with the files of a finished export. Those of a bucket, or of a place on the Hub,
// are copied into a scratch folder, which release removes.
func (x *Exporter) localFiles(ctx context.Context, e relabel.Export) (dir string, release func() error, err error) {
	if e.Destination == "" {
		return newFolder(x.Root, e.ID).final, func() error { return nil }, nil
	}
	at, err := x.storage(e)
	if err != nil {
		return "", nil, err
	}
	scratch, err := newScratch(x.Root, e.ID)
	if err != nil {
		return "", nil, err
	}
	for _, f := range e.Files {
		if err := copyOut(ctx, at, f, scratch.path(f.Path)); err != nil {
			return "", nil, errors.Join(err, scratch.remove())
		}
	}
	return scratch.dir, scratch.remove, nil
}

// copyOut copies a file of a published export to a local one, no slower than slowest.
func copyOut(ctx context.Context, at storage, f relabel.ExportFile, local string) error {
	ctx, cancel := context.WithTimeout(ctx, transferTime(f.Bytes))
	defer cancel()
	from, err := at.open(ctx, f.Path)
	if err != nil {
		return err
	}
	defer from.Close()
	if err := os.MkdirAll(filepath.Dir(local), folderMode); err != nil {
		return folderError(err)
	}
	to, err := os.OpenFile(local, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return folderError(err)
	}
	_, err = io.Copy(to, from)
	return folderError(errors.Join(err, to.Close()))
}

// errPushOver is the cause of a context whose push was cancelled or deleted.
var errPushOver = errors.New("the push is over")

// pushProgress records how much a push has sent.
type pushProgress struct {
	store  Store
	export relabel.ID
	number int
	sent   atomic.Int64
	total  atomic.Int64
}

// begin records the bytes of all files, before the first is sent.
func (p *pushProgress) begin(ctx context.Context, bytes int64) error {
	p.total.Store(bytes)
	return p.report(ctx)
}

// report records the progress; the error is errPushOver if the push is not open.
func (p *pushProgress) report(ctx context.Context) error {
	open, err := p.store.ReportPush(ctx, p.export, p.number, p.sent.Load(), p.total.Load())
	if err == nil && !open {
		return errPushOver
	}
	return err
}

// follow records the progress until stop. It cancels the context if the push is over.
func (p *pushProgress) follow(ctx context.Context) (following context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		tick := time.NewTicker(reportPeriod)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if errors.Is(p.report(ctx), errPushOver) { // other errors pass, or end the push itself
				cancel(errPushOver)
			}
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-over
	}
}

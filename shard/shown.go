package shard

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"

	"relabel"
	"relabel/shard/rows"
)

// Row reads row n of a view, counting from 0, of a finished export in any storage. It reads
// the file's footer and the row's pages only. Tokens are decoded if the tokenizer is
// available on this machine. CodeNotFound if the row does not exist.
func (x *Exporter) Row(ctx context.Context, e relabel.Export, view relabel.View, n int) (shown relabel.ShownRow, err error) {
	of, m, err := x.view(ctx, e, view)
	if err != nil {
		return shown, err
	}
	shown.Of = of.Len()
	if shown.Row, shown.File, err = of.At(n); err != nil {
		return shown, err
	}
	shown.Texts = x.texts(ctx, m, shown.Row.IDs)
	return shown, nil
}

// Holds lists the labels of a trajectory with the rows of a view that contain them, in row
// order; none for bare rows. It reads one column of the files that in accepts.
func (x *Exporter) Holds(ctx context.Context, e relabel.Export, view relabel.View, trajectory relabel.ID, in func(path string) bool) ([]relabel.HeldLabel, error) {
	of, _, err := x.view(ctx, e, view)
	if err != nil {
		return nil, err
	}
	return of.Of(trajectory.String(), in)
}

// view returns a view of a finished export.
func (x *Exporter) view(ctx context.Context, e relabel.Export, view relabel.View) (of rows.View, m relabel.Manifest, err error) {
	if m, err = x.Manifest(ctx, e); err != nil {
		return of, m, err
	}
	if !slices.Contains(m.Views, view) {
		return of, m, relabel.Errorf(relabel.CodeNotFound, "the export has no view %.50q", view)
	}
	return rows.NewView(m, view, func(path string) (rows.Bytes, error) {
		file, err := x.Open(ctx, e, path)
		if err != nil {
			return nil, err
		}
		info, err := file.Stat()
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		return &ranges{FileReader: file, size: info.Size()}, nil
	}), m, nil
}

// mostManifest bounds the bytes of a manifest that a server may send: it is held in memory.
const mostManifest = 64 << 20

// Manifest reads the manifest of a finished export. CodeConflict if the export is in another
// machine's folder.
func (x *Exporter) Manifest(ctx context.Context, e relabel.Export) (m relabel.Manifest, err error) {
	file, err := x.Open(ctx, e, manifestName)
	if err != nil {
		return m, err
	}
	raw, err := io.ReadAll(io.LimitReader(file, mostManifest+1))
	if err == nil && len(raw) > mostManifest {
		err = relabel.Errorf(relabel.CodeInvalid, "its %s has more than %d MiB, so that relabel did not write it", manifestName, mostManifest>>20)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return m, err
	}
	return m, json.Unmarshal(relabel.RenameManifestFields(raw), &m)
}

// texts decodes IDs one by one; nil if the tokenizer cannot be opened or has changed.
func (x *Exporter) texts(ctx context.Context, m relabel.Manifest, ids []int32) []string {
	if m.Tokenizer == nil || len(ids) == 0 {
		return nil
	}
	t := x.Tokenizers.OfSHA256(ctx, m.Tokenizer.Ref(), m.Tokenizer.SHA256)
	if t == nil {
		return nil
	}
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = string(t.AppendBytes(nil, id))
	}
	return out
}

// ranges implements io.ReaderAt for a file, one read at a time.
type ranges struct {
	relabel.FileReader
	mu   sync.Mutex
	size int64
}

// Size returns the file's length in bytes.
func (r *ranges) Size() int64 { return r.size }

// ReadAt implements io.ReaderAt.
func (r *ranges) ReadAt(p []byte, at int64) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at >= r.size {
		return 0, io.EOF
	}
	if _, err := r.Seek(at, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := io.ReadFull(r.FileReader, p[:min(int64(len(p)), r.size-at)])
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

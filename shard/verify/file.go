package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"relabel"
	"relabel/shard/outfile"
	"relabel/shard/render"
	"relabel/shard/rows"
)

// fileCheck is the check of one file.
type fileCheck struct {
	*check
	entry  relabel.ManifestFile
	source *source
	number int // of the current row
	order  order
	states states
	state  string // messages_json of the previous row

	pairs   *render.Pairs // renders the messages of one trajectory
	pairsOf string

	rejected bool // the current row has a problem
	findings
}

// readFile checks a file and adds what it holds to its view.
func (c *check) readFile(ctx context.Context, entry relabel.ManifestFile) error {
	f := &fileCheck{check: c, entry: entry, source: c.sourceOf(entry.Path), findings: newFindings(c.views[entry.View].bare), order: order{done: map[string]bool{}}}
	for _, class := range f.classes() {
		f.sums[class] = new(sums)
	}
	f.Files = 1
	err := f.read(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		f.broken = true
		f.refuse("file", entry.Path, "", "%v", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.views[entry.View].merge(&f.findings)
	return nil
}

// classes lists the classes of facts that the file's view contains.
func (f *fileCheck) classes() []class {
	switch {
	case f.entry.View == relabel.ViewMessages && f.Student != nil:
		return []class{rendered, pairs, weights, runs, written}
	case f.entry.View == relabel.ViewMessages:
		return []class{weights, written}
	case f.entry.View == relabel.ViewPreference:
		return nil
	case f.isText(f.entry.View):
		return []class{rendered, anyToken, runs, pairs, written}
	case f.bare:
		return []class{rendered, anyToken, runs}
	}
	return []class{rendered, served, anyToken, labels, pairs, weights, runs}
}

// read checks the file's bytes, columns and rows. It stops at a wrong hash, because such a
// file may contain anything.
func (f *fileCheck) read(ctx context.Context) error {
	name := filepath.Join(f.dir, filepath.FromSlash(path.Clean("/"+f.entry.Path)))
	switch info, err := os.Stat(name); {
	case err != nil:
		return errors.New("is in the manifest, but cannot be opened")
	case !info.Mode().IsRegular(): // a device or a pipe may have no end
		return errors.New("is in the manifest, but is not a regular file")
	case info.Size() != f.entry.Bytes:
		return fmt.Errorf("has %d bytes, %d in the manifest; its rows are not read", info.Size(), f.entry.Bytes)
	}
	file, err := os.Open(name)
	if err != nil {
		return errors.New("is in the manifest, but cannot be opened")
	}
	defer file.Close()
	size, err := f.checkHash(file)
	if err != nil {
		return err
	}
	if !f.entry.View.IsParquet() {
		return f.readStream(ctx, file, size)
	}
	r, err := rows.Open(file, size)
	if err != nil {
		return err
	}
	defer r.Close()
	if !f.checkColumns(r.Reader) {
		f.broken = true
		return nil
	}
	if limits := r.Limits(); limits != "" {
		f.refuse("file", f.entry.Path, "", "%s", limits)
	}
	if err := f.readRows(ctx, r); err != nil {
		return err
	}
	f.checkCounts(r.Rows())
	return nil
}

// readStream checks the rows of a file that is not Parquet.
func (f *fileCheck) readStream(ctx context.Context, file io.ReaderAt, size int64) error {
	r, err := rows.OpenReader(f.entry.View, f.dialect(), file, size)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := f.readRows(ctx, r); err != nil {
		return err
	}
	f.checkCounts(int64(f.Rows))
	return nil
}

// checkHash compares the file's length and hash with the manifest's.
func (f *fileCheck) checkHash(file io.Reader) (size int64, err error) {
	hash := sha256.New()
	if size, err = io.Copy(hash, file); err != nil {
		return 0, fmt.Errorf("cannot be read: %w", err)
	}
	if size > outfile.MaxFile {
		f.refuse("file", f.entry.Path, "", "has %d bytes, more than %d", size, outfile.MaxFile)
	}
	if size != f.entry.Bytes {
		return 0, fmt.Errorf("has %d bytes, %d in the manifest; its rows are not read", size, f.entry.Bytes)
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != f.entry.SHA256 {
		return 0, fmt.Errorf("has the SHA-256 %s, %s in the manifest; its rows are not read", got, f.entry.SHA256)
	}
	return size, nil
}

// readRows checks the rows one after the other.
func (f *fileCheck) readRows(ctx context.Context, r rows.Reader) error {
	var row relabel.ExportRow
	for ; ; f.number++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := r.Next(&row)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("row %d: %w", f.number, err)
		}
		f.Rows++
		f.row(&row)
		f.Progress.Rows.Add(1)
		f.Progress.Tokens.Add(int64(len(row.IDs)))
	}
}

// row checks a row and, if it is readable, adds up its facts.
func (f *fileCheck) row(row *relabel.ExportRow) {
	f.rejected = false
	switch {
	case f.entry.View == relabel.ViewPreference:
		f.preference(row)
		return
	case f.isText(f.entry.View):
		f.textRow(row)
		return
	}
	if row.ID != "" {
		f.rowIDs = append(f.rowIDs, f.hash.name(row.ID, 0))
	}
	if f.entry.View == relabel.ViewMessages {
		f.message(row)
		return
	}
	f.Tokens += int64(len(row.IDs))
	f.longest = max(f.longest, len(row.IDs))
	f.tokens(row)
	if f.broken = f.broken || f.rejected; f.rejected {
		return
	}
	f.facts(row, f.bare, func(class class, v fact, _ int) { f.sums[class].add(v) })
}

// reject records a problem of a row.
func (f *fileCheck) reject(row *relabel.ExportRow, kind, format string, a ...any) {
	f.refuse(kind, f.entry.Path, rowName(row, f.number), format, a...)
}

// rowName returns a row's name; bare rows only have a number.
func rowName(row *relabel.ExportRow, number int) string {
	if row.ID == "" {
		return fmt.Sprintf("#%d", number)
	}
	return row.ID
}

// unreadable records a problem that prevents further checks of the row.
func (f *fileCheck) unreadable(row *relabel.ExportRow, kind, format string, a ...any) {
	f.rejected = true
	f.reject(row, kind, format, a...)
}

// checkCounts compares the counted rows and tokens with the manifest and the file's footer.
func (f *fileCheck) checkCounts(said int64) {
	if said != int64(f.Rows) {
		f.refuse("file", f.entry.Path, "", "declares %d rows, has %d", said, f.Rows)
	}
	for _, count := range []struct {
		what      string
		want, got int64
	}{{"rows", int64(f.entry.Rows), int64(f.Rows)}, {"tokens", int64(f.entry.Tokens), f.Tokens}, {"supervised_tokens", int64(f.entry.SupervisedTokens), f.Supervised}} {
		if count.want != count.got {
			f.refuse("manifest", f.entry.Path, "", "%s is %d in the manifest, counted %d", count.what, count.want, count.got)
		}
	}
}

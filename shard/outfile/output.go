// Package outfile writes the numbered files of an export's view, hashed as they are written.
package outfile

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"
	"path/filepath"
)

// MaxRow is the maximum size of a row, in bytes before compression: about half a million
// tokens in a token view. MaxFile is the size of the largest file.
const (
	MaxRow  = 12 << 20
	MaxFile = 256 << 20
)

// Size is the contribution of a row to its file.
type Size struct {
	Bytes      int64 // before compression; at most MaxRow
	Tokens     int   // IDs, including padding; 0 in views of text
	Supervised int   // ids with a label
}

// File describes a finished file.
type File struct {
	Path   string // relative to the export, with slashes
	SHA256 string // hex
	Bytes  int64
	Rows   int

	Tokens, SupervisedTokens int // sums of Size's
}

// Output is a file that is hashed as it is written.
type Output struct {
	file  *os.File
	buf   *bufio.Writer
	hash  hash.Hash
	bytes int64
}

// Create makes a file that its owner writes and its group reads.
func Create(name string) (*Output, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return nil, err
	}
	o := &Output{file: f, hash: sha256.New()}
	o.buf = bufio.NewWriterSize(io.MultiWriter(f, o.hash), 1<<20)
	return o, nil
}

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.buf.Write(p)
	o.bytes += int64(n)
	return n, err
}

// Finish writes what is buffered, syncs and closes the file.
func (o *Output) Finish() error {
	return errors.Join(o.buf.Flush(), o.file.Sync(), o.file.Close())
}

// Abort closes the file, which stays on disk as it is.
func (o *Output) Abort() { _ = o.file.Close() } // the file is thrown away

// Bytes is the number of bytes written so far.
func (o *Output) Bytes() int64 { return o.bytes }

// SHA256 is the hash of a finished file (hex).
func (o *Output) SHA256() string { return hex.EncodeToString(o.hash.Sum(nil)) }

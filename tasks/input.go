package tasks

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"relabel"
)

// Input is what tasks are read from. It is read more than once, and Parquet files not in order.
type Input interface {
	io.ReaderAt
	Size() int64 // bytes
}

// Bounds of compressed files: a small one must not grow without end.
const (
	maxInflation   = 250       // decompressed bytes per compressed byte, beyond freeInflation
	freeInflation  = 64 << 20  // bytes
	maxZstdWindow  = 128 << 20 // bytes
	sniffed        = 1 << 10   // bytes that show what a file is
	tarMagicOffset = 257
)

// kind is what the bytes of a file are.
type kind string

const (
	jsonLines   kind = "JSONL"
	jsonArray   kind = "JSON"
	parquetFile kind = "Parquet"
	gzipFile    kind = "gzip"
	zstdFile    kind = "zstd"
	tarFile     kind = "tar"
)

// recognise returns the kind of a file by its first bytes. Anything unknown is read as JSONL, whose reader
// describes what is wrong.
func recognise(start []byte) (kind, error) {
	text := bytes.TrimLeft(bytes.TrimPrefix(start, []byte("\xef\xbb\xbf")), " \t\r\n")
	for _, other := range []struct{ magic, name string }{
		{"PK\x03\x04", "a zip file"}, {"BZh", "compressed by bzip2"}, {"\xfd7zXZ\x00", "compressed by xz"}, {"ARROW1\x00", "an Arrow file"},
	} {
		if bytes.HasPrefix(start, []byte(other.magic)) {
			return "", fmt.Errorf("is %s, which is not read: unpack it, or write its rows as JSONL or Parquet", other.name)
		}
	}
	switch {
	case bytes.HasPrefix(start, []byte("version https://git-lfs.github.com/spec/v1")):
		return "", errors.New("is a pointer of Git LFS, not the file: run git lfs pull")
	case bytes.HasPrefix(start, []byte("PAR1")):
		return parquetFile, nil
	case bytes.HasPrefix(start, []byte("\x1f\x8b")):
		return gzipFile, nil
	case bytes.HasPrefix(start, []byte("\x28\xb5\x2f\xfd")):
		return zstdFile, nil
	case len(start) > tarMagicOffset && bytes.HasPrefix(start[tarMagicOffset:], []byte("ustar")):
		return tarFile, nil
	case bytes.HasPrefix(text, []byte("[")):
		return jsonArray, nil
	}
	return jsonLines, nil
}

// firstBytes returns the first bytes of an input.
func firstBytes(in Input) ([]byte, error) {
	start := make([]byte, min(sniffed, in.Size()))
	n, err := in.ReadAt(start, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return start[:n], err
}

// unpacked returns a reader of the decompressed bytes of an input, which fails beyond the bounds, and the kind of
// these bytes: JSONL or JSON.
func unpacked(in Input, packed kind) (*bufio.Reader, kind, error) {
	var plain io.Reader
	var err error
	raw := bufio.NewReaderSize(io.NewSectionReader(in, 0, in.Size()), 1<<18)
	if packed == gzipFile {
		plain, err = gzip.NewReader(raw)
	} else {
		// Decoding in this goroutine alone leaves nothing behind when the reading ends early.
		plain, err = zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow))
	}
	if err != nil {
		return nil, "", fmt.Errorf("is damaged: %w", err)
	}
	text := bufio.NewReaderSize(&bounded{plain, freeInflation + maxInflation*in.Size()}, 1<<18)
	start, err := text.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, "", fmt.Errorf("is damaged: %w", err)
	}
	inner, err := recognise(start)
	if err == nil && inner != jsonLines && inner != jsonArray {
		err = fmt.Errorf("is %s within %s: unpack it first", inner, packed)
	}
	return text, inner, err
}

// bounded fails when more bytes come than it allows.
type bounded struct {
	io.Reader
	left int64
}

// Read reads within the bound.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errInflated
	}
	return n, err
}

var errInflated = fmt.Errorf("it grows to more than %d times its size when it is decompressed", maxInflation)

// theFile stands for an input without a name in errors.
const theFile = "the file"

// unreadable is the error for a file, or a file of an archive, that cannot be read at all.
func unreadable(file string, err error) error {
	return relabel.Errorf(relabel.CodeInvalid, "%s", err).Because(err).On(cmp.Or(file, theFile))
}

package process

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// Errors of file operations in addition to those of io/fs.
var (
	ErrNotRegular   = errors.New("not a regular file")
	ErrNotDirectory = syscall.ENOTDIR
)

// MaxPlain bounds the bytes that are read of a repository's own files; the longest is packed-refs.
const MaxPlain = 64 << 20

// OpenPlain opens a regular file. It refuses a pipe or a device in its place, which could block or be
// endless.
func OpenPlain(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNotRegular
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ReadPlain reads a regular file, up to MaxPlain.
func ReadPlain(path string) ([]byte, error) {
	f, err := OpenPlain(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxPlain))
}

package process

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// Errors of file operations beside those of io/fs.
var (
	ErrNotRegular   = errors.New("not a regular file")
	ErrNotDirectory = syscall.ENOTDIR
)

// MaxPlain is the most that is read of a file of the repository's own, in bytes; the
// longest is packed-refs.
const MaxPlain = 64 << 20

// OpenPlain opens a regular file. What a command put in its place, a pipe or a device,
// would hold us up or never end.
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

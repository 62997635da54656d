package inside

import (
	"io"
	"os"
	"syscall"
)

// maxPlain is the most that is read of a file of the repository's own, in bytes; the
// longest is packed-refs.
const maxPlain = 64 << 20

// openPlain opens a regular file. What a command put in its place, a pipe or a device,
// would hold us up or never end.
func openPlain(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// readPlain reads a regular file, up to maxPlain.
func readPlain(path string) ([]byte, error) {
	f, err := openPlain(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxPlain))
}

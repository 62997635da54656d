package inside

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// warmIndex is the repository's index as git knows it once it has looked at every file
// there: what an index holds of a file's times and place on disk is seldom true after an
// image went from one machine to another, and git would read every file again at each
// look. It is kept in memory, where no command can change it, and is good for as long as
// the repository's own index is the same file. What it holds of the tree is the
// repository's; only what is known of unchanged files is newer.
type warmIndex struct {
	of      fileState // the repository's index that it was made from
	content []byte
	written time.Time // git trusts what it knows of files older than their index alone
}

// fileState tells whether a file is still the same: no command can set its change time.
type fileState struct {
	device, inode uint64
	size          int64
	modified      syscall.Timespec
	changed       syscall.Timespec
}

// stateOf returns a file's state; not ok where it is no regular file.
func stateOf(path string) (state fileState, ok bool) {
	var s syscall.Stat_t
	if err := syscall.Lstat(path, &s); err != nil || s.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return state, false
	}
	return fileState{s.Dev, s.Ino, s.Size, s.Mtim, s.Ctim}, true
}

// largestWarm is the largest index that is kept in memory, in bytes: that of some 300,000
// files.
const largestWarm = 32 << 20

// placeIndex puts a copy of the repository's index into our folder, the warm one where it
// is still good, else one that is warmed first. A copy that cannot be had or warmed is
// left for stage to see to.
func (r *repository) placeIndex(ctx context.Context, processes *processes, from string) error {
	ours := filepath.Join(r.private, "index")
	os.Remove(ours)
	state, regular := stateOf(from)
	if regular && r.warm != nil && r.warm.of == state {
		return r.warm.write(ours)
	}
	r.warm = nil
	if err := copyIndex(from, ours); err != nil || !regular || state.size > largestWarm {
		return err
	}
	// Exit code 1 says that files have changed, which is no matter.
	if _, err := r.git(ctx, processes, nil, "update-index", "-q", "--refresh"); err != nil && !isExit(err, 1) {
		return nil
	}
	if after, _ := stateOf(from); after == state { // else it was half of one, maybe
		r.warm = readWarm(ours, state)
	}
	return nil
}

func readWarm(path string, of fileState) *warmIndex {
	f, err := openPlain(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, largestWarm+1))
	if err != nil || len(content) > largestWarm {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	return &warmIndex{of: of, content: content, written: info.ModTime()}
}

// write puts the index where it was, as old as it was: a file that changed in the moment
// after git looked at it is told by that.
func (w *warmIndex) write(path string) error {
	if err := os.WriteFile(path, w.content, 0o600); err != nil {
		return err
	}
	return os.Chtimes(path, w.written, w.written)
}

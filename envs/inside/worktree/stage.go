package worktree

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"relabel/envs/inside/process"
	"relabel/envs/wire"
)

// slowLook is how long a check of unchanged files may take before our index records their times
// again.
const slowLook = 300 * time.Millisecond

// Stage adds the working tree to sandboxd's index, which begins with tree: every file that the repository
// tracks or would add, as it is on disk. Special files, and files of more than wire.MaxPatch bytes,
// which are returned, keep their entries.
func (r *Repository) Stage(ctx context.Context, processes *process.Table, tree string) (large []string, err error) {
	if err := r.Prepare(); err != nil {
		return nil, err
	}
	if !r.Seeded {
		if err := r.seed(ctx, processes, tree); err != nil {
			return nil, err
		}
	}
	if err := r.heedTheirs(ctx, processes); err != nil {
		return nil, err
	}
	began := time.Now()
	listed, err := r.Git(ctx, processes, nil, "ls-files", "-z", "-o", "-m", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	if len(listed) == 0 {
		if time.Since(began) > slowLook {
			err = r.refresh(ctx, processes)
		}
		return nil, err
	}
	large, err = r.addListed(ctx, processes, listed)
	return large, err
}

// addListed puts changed and new files, as ls-files lists them, into our index, and returns those
// that are too large for it.
func (r *Repository) addListed(ctx context.Context, processes *process.Table, listed []byte) (large []string, err error) {
	var paths bytes.Buffer
	simple := true
	for path := range bytes.SplitSeq(bytes.TrimSuffix(listed, []byte{0}), []byte{0}) {
		info, err := os.Lstat(filepath.Join(r.workdir, string(path)))
		switch {
		case bytes.HasSuffix(path, []byte("/")):
			simple = false // a repository in the repository
		case err == nil && info.Mode().IsRegular() && info.Size() > wire.MaxPatch:
			large = append(large, string(path))
		case err != nil, info.Mode().IsRegular(), info.Mode()&os.ModeSymlink != 0:
			paths.Write(append(path, 0))
		}
	}
	if simple {
		_, err := r.Git(ctx, processes, paths.Bytes(), "update-index", "--add", "--remove", "--replace", "-z", "--stdin")
		var refused *gitError
		if !errors.As(err, &refused) {
			return large, err
		}
	}
	// The slow way: it checks every file again, and skips those that cannot be added.
	args := []string{"add", "-A", "--ignore-errors", "--", "."}
	for _, path := range large {
		args = append(args, ":(exclude,literal)"+path)
	}
	if _, err = r.Git(ctx, processes, nil, args...); isExit(err, 1) {
		err = nil // some file could not be read: it stays as it was
	}
	return large, err
}

// seed fills our index with the files that a tree tracks ("": none), and lets git check each.
func (r *Repository) seed(ctx context.Context, processes *process.Table, tree string) error {
	os.Remove(r.bulk.Path("index"))
	os.Remove(r.bulk.Path("index.lock"))
	r.theirs = fileState{}
	args := []string{"read-tree", tree}
	if tree == "" {
		args[1] = "--empty"
	}
	if _, err := r.Git(ctx, processes, nil, args...); err != nil {
		return errors.Join(ErrNoRepository, err)
	}
	r.Seeded = true
	return r.refresh(ctx, processes)
}

// refresh updates the times of unchanged files in sandboxd's index.
func (r *Repository) refresh(ctx context.Context, processes *process.Table) error {
	// Exit code 1 means that some files have changed.
	_, err := r.Git(ctx, processes, nil, "update-index", "-q", "--refresh")
	if isExit(err, 1) {
		return nil
	}
	return err
}

// fileState detects changes of a file: no command can set its change time.
type fileState struct {
	device, inode uint64
	size          int64
	modified      syscall.Timespec
	changed       syscall.Timespec
}

// stateOf returns a file's state; not ok if it is not a regular file.
func stateOf(path string) (state fileState, ok bool) {
	var s syscall.Stat_t
	if err := syscall.Lstat(path, &s); err != nil || s.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return state, false
	}
	return fileState{s.Dev, s.Ino, s.Size, s.Mtim, s.Ctim}, true
}

// heedTheirs reads two facts from the repository's own index if it changed: tracked files that its
// ignore rules match, and missing files that a sparse checkout skips. It uses neither their content nor
// the index's state of unchanged files.
func (r *Repository) heedTheirs(ctx context.Context, processes *process.Table) error {
	dir, err := GitFolder(r.workdir)
	if err != nil {
		return errors.Join(ErrNoRepository, err)
	}
	path := filepath.Join(dir, "index")
	state, regular := stateOf(path)
	if !regular || state == r.theirs {
		return nil
	}
	if err := copyPlain(path, r.bulk.Path("theirs")); err != nil {
		return err
	}
	theirs, stderr, status, err := processes.Output(ctx, r.request("theirs", nil, []string{"ls-files", "-v", "-z"}))
	if err = gitFailure("ls-files", stderr, process.ExitCode(status), err); err != nil {
		if ctx.Err() != nil {
			return err
		}
		return nil // a broken index is ignored
	}
	ours, err := r.Git(ctx, processes, nil, "ls-files", "-z")
	if err != nil {
		return err
	}
	tracked := map[string]bool{}
	for path := range bytes.SplitSeq(ours, []byte{0}) {
		tracked[string(path)] = true
	}
	added, left := r.compare(theirs, tracked)
	err = r.updateIndex(ctx, processes, added, "--add")
	if err = errors.Join(err, r.updateIndex(ctx, processes, left, "--skip-worktree")); err == nil {
		r.theirs = state
	}
	return err
}

// compare reads the output of ls-files -v for the repository's index. It returns existing files that we
// do not track, and tracked ones that the index skips and that do not exist.
func (r *Repository) compare(listed []byte, tracked map[string]bool) (added, left []byte) {
	for entry := range bytes.SplitSeq(listed, []byte{0}) {
		tag, name, _ := bytes.Cut(entry, []byte(" "))
		if len(tag) != 1 || len(name) == 0 {
			continue
		}
		info, err := os.Lstat(filepath.Join(r.workdir, string(name)))
		skipped := tag[0] == 'S' || tag[0] == 's'
		switch {
		case err != nil && skipped && tracked[string(name)]:
			left = append(append(left, name...), 0)
		case err == nil && !tracked[string(name)] && info.Mode().IsRegular() && info.Size() <= wire.MaxPatch:
			added = append(append(added, name...), 0)
		}
	}
	return added, left
}

// updateIndex applies an option of update-index to paths. A path that it refuses, below a link for
// example, leaves those after it as they were.
func (r *Repository) updateIndex(ctx context.Context, processes *process.Table, paths []byte, option string) error {
	if len(paths) == 0 {
		return nil
	}
	_, err := r.Git(ctx, processes, paths, "update-index", option, "-z", "--stdin")
	var refused *gitError
	if errors.As(err, &refused) {
		return nil
	}
	return err
}

// copyPlain copies a regular file, up to MaxPlain.
func copyPlain(from, to string) error {
	source, err := process.OpenPlain(from)
	if err != nil {
		return nil
	}
	defer source.Close()
	target, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, io.LimitReader(source, process.MaxPlain))
	return errors.Join(err, target.Close())
}

package inside

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"relabel/envs/inside/process"
	"relabel/envs/inside/worktree"
	"relabel/envs/wire"
)

// wholeSystem is the fingerprint if commands start in /: no digest of a whole system stays the same.
const wholeSystem = "the whole system"

// fingerprint is the id of the tree that git would commit, with the sizes and ends of files that are
// too large for it. If git fails (no repository, a broken one, special files that would block git), it
// is a digest of the folder.
func (s *Server) fingerprint(ctx context.Context) (string, error) {
	if s.workdir == "/" {
		return wholeSystem, nil
	}
	s.repo.Mu.Lock()
	defer s.repo.Mu.Unlock()
	tree, err := s.gitTree(ctx)
	if err == nil {
		return "git:" + tree, nil
	}
	if ctx.Err() != nil {
		return "", err
	}
	if full := s.orDiskFull(err); errors.Is(full, errDiskFull) {
		return "", full // another kind of digest would look like another tree
	}
	digest, walkErr := walkDigest(ctx, s.workdir)
	if walkErr != nil {
		return "", errors.Join(walkErr, err)
	}
	return "walk:" + digest, nil
}

// gitTree is the id of the tree that git would commit.
func (s *Server) gitTree(ctx context.Context) (string, error) {
	found, err := s.repo.Tree.Scan(ctx, s.workdir)
	if err != nil {
		return "", err
	}
	if len(found.Special) > 0 {
		return "", fmt.Errorf("%s: %w", found.Special[0], process.ErrNotRegular)
	}
	s.repo.NoteStart()
	large, err := s.repo.Stage(ctx, s.processes, s.repo.Start)
	if errors.Is(err, worktree.ErrNoRepository) && !s.repo.Seeded {
		// The first commit may have been removed with the history after the base.
		if dir, failed := worktree.GitFolder(s.workdir); failed == nil {
			large, err = s.repo.Stage(ctx, s.processes, worktree.HeadOf(dir))
		}
	}
	if err != nil {
		return "", err
	}
	written, err := s.repo.Git(ctx, s.processes, nil, "write-tree")
	tree := strings.TrimSpace(string(written))
	if err != nil || len(large) == 0 {
		return tree, err
	}
	h := sha256.New()
	for _, path := range large {
		fmt.Fprintf(h, "%q ", path)
		digestFile(h, filepath.Join(s.workdir, path))
	}
	return tree + "+" + hex.EncodeToString(h.Sum(nil)), nil
}

// walkDigest is a digest of all paths, modes and contents below dir, without .git and volatile files.
// It fails only with ctx's error.
func walkDigest(ctx context.Context, dir string) (string, error) {
	h := sha256.New()
	dir = worktree.Resolved(dir)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if path == dir && err != nil {
			// A command removed or replaced the folder.
			fmt.Fprintln(h, "no folder")
			return nil
		}
		if isExcluded(entry.Name()) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		fmt.Fprintf(h, "%q %o %v\n", strings.TrimPrefix(path, dir), entry.Type(), err != nil)
		switch {
		case entry.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			fmt.Fprintf(h, "%q %v\n", target, err != nil)
		case entry.Type().IsRegular():
			digestFile(h, path)
		}
		return nil
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

// isExcluded matches .git and the patterns of volatile.
func isExcluded(name string) bool {
	return name == ".git" || name == "__pycache__" || name == ".pytest_cache" || strings.HasSuffix(name, ".pyc") || strings.HasSuffix(name, ".pyo")
}

// digestFile adds a file's mode and content, or that it cannot be read. Of a file of more than
// wire.MaxPatch bytes, which may be sparse and huge, only the size and both ends count.
func digestFile(h io.Writer, path string) {
	f, err := process.OpenPlain(path)
	if err != nil {
		fmt.Fprintln(h, "unreadable")
		return
	}
	defer f.Close()
	mode, size := fs.FileMode(0), int64(0)
	if info, err := f.Stat(); err == nil {
		mode, size = info.Mode().Perm(), info.Size()
	}
	const end = 1 << 20
	parts := []io.Reader{io.LimitReader(f, wire.MaxPatch)}
	if size > wire.MaxPatch {
		parts = []io.Reader{io.NewSectionReader(f, 0, end), io.NewSectionReader(f, size-end, end)}
	}
	content := sha256.New()
	n, err := io.Copy(content, io.MultiReader(parts...))
	fmt.Fprintf(h, "%o %d %d %x %v\n", mode, size, n, content.Sum(nil), err != nil)
}

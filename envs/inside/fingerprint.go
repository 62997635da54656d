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
)

// fingerprint is the id of the tree that git would commit, or, where git cannot say
// (no repository, a broken one), a digest of the folder by walking it.
func (s *Server) fingerprint(ctx context.Context) (string, error) {
	s.repo.mu.Lock()
	defer s.repo.mu.Unlock()
	s.repo.noteStart()
	err := s.repo.stage(ctx, s.processes, s.repo.start)
	if err == nil {
		var tree []byte
		if tree, err = s.repo.git(ctx, s.processes, nil, "write-tree"); err == nil {
			return "git:" + strings.TrimSpace(string(tree)), nil
		}
	}
	if ctx.Err() != nil {
		return "", err
	}
	if full := s.orDiskFull(err); errors.Is(full, errDiskFull) {
		return "", full // a digest of another kind would look like another tree
	}
	digest, walkErr := walkDigest(ctx, s.workdir)
	if walkErr != nil {
		return "", errors.Join(walkErr, err)
	}
	return "walk:" + digest, nil
}

// walkDigest is a digest of all paths, modes and contents below dir, .git left out. Errors
// are ctx's alone.
func walkDigest(ctx context.Context, dir string) (string, error) {
	h := sha256.New()
	dir = resolved(dir)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if path == dir && err != nil {
			// A tree that a command removed, or made something else, is as good as another.
			fmt.Fprintln(h, "no folder")
			return nil
		}
		if entry.Name() == ".git" {
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

// resolved is the folder itself where dir is a link to one, which a walk would not enter.
func resolved(dir string) string {
	if target, err := filepath.EvalSymlinks(dir); err == nil {
		return target
	}
	return dir
}

// digestFile adds a file's mode and content; one that cannot be read counts as such.
func digestFile(h io.Writer, path string) {
	f, err := os.Open(path)
	if err != nil {
		fmt.Fprintln(h, "unreadable")
		return
	}
	defer f.Close()
	content := sha256.New()
	n, err := io.Copy(content, f)
	mode := fs.FileMode(0)
	if info, err := f.Stat(); err == nil {
		mode = info.Mode().Perm()
	}
	fmt.Fprintf(h, "%o %d %x %v\n", mode, n, content.Sum(nil), err != nil)
}

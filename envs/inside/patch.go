package inside

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"relabel/envs/wire"
)

// Bounds on the left-out files that are named: how many, and the bytes of all names.
const (
	maxBinaryNames = 1000
	maxNamesBytes  = 64 << 10
)

// patch ends what commands left behind and returns what changed since base, binary
// files left out.
func (s *Server) patch(ctx context.Context, base string) (diff []byte, binary []string, err error) {
	s.repo.mu.Lock()
	defer s.repo.mu.Unlock()
	s.processes.endAll()
	// Commands run as we do and can write to our folder, also while we warm an index there.
	s.repo.warm = nil
	if err := os.RemoveAll(s.repo.private); err != nil {
		return nil, nil, err
	}
	if err := s.repo.prepare(ctx, s.processes); err != nil {
		return nil, nil, err
	}
	if base == "" {
		base = s.repo.start
	}
	commit, err := s.repo.git(ctx, s.processes, nil, "rev-parse", "--verify", "--quiet", base+"^{commit}")
	if err != nil || base == "" {
		return nil, nil, errors.Join(errNoRepository, err)
	}
	base = strings.TrimSpace(string(commit))
	submodules, err := s.gitlinks(ctx, base)
	if err != nil {
		return nil, nil, err
	}
	if err := removeNested(s.workdir, submodules); err != nil {
		return nil, nil, err
	}
	if err := s.repo.stage(ctx, s.processes, base); err != nil {
		return nil, nil, err
	}
	if binary, err = s.leaveOutBinary(ctx, base); err != nil {
		return nil, nil, err
	}
	diff, err = s.repo.git(ctx, s.processes, nil, "diff", "--no-color", "--binary", "--full-index", "--no-ext-diff", "--no-textconv",
		"--no-renames", "--src-prefix=a/", "--dst-prefix=b/", "--cached", base)
	if len(diff) > wire.MaxPatch {
		return nil, nil, errTooLarge
	}
	if len(diff) > 0 && diff[len(diff)-1] != '\n' {
		diff = append(diff, '\n')
	}
	return diff, binary, err
}

// gitlinks returns the paths of base's submodules, whose .git is their own.
func (s *Server) gitlinks(ctx context.Context, base string) (map[string]bool, error) {
	tree, err := s.repo.git(ctx, s.processes, nil, "ls-tree", "-r", "-z", base)
	if err != nil {
		return nil, err
	}
	paths := map[string]bool{}
	for entry := range bytes.SplitSeq(tree, []byte{0}) {
		if meta, path, ok := bytes.Cut(entry, []byte("\t")); ok && bytes.HasPrefix(meta, []byte("160000 ")) {
			paths[string(path)] = true
		}
	}
	return paths, nil
}

// removeNested removes .git below the top folder: git would record the folder around it
// as a submodule instead of its files.
func removeNested(workdir string, keep map[string]bool) error {
	workdir = resolved(workdir)
	return filepath.WalkDir(workdir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != ".git" {
			return nil // what cannot be read cannot be staged either
		}
		folder := strings.TrimPrefix(strings.TrimPrefix(filepath.Dir(path), workdir), "/")
		if folder != "" && !keep[folder] {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
		if entry.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
}

// leaveOutBinary puts binary files in our index back to what they are in base, and
// returns their paths.
func (s *Server) leaveOutBinary(ctx context.Context, base string) ([]string, error) {
	numstat, err := s.repo.git(ctx, s.processes, nil, "diff", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--cached", base)
	if err != nil {
		return nil, err
	}
	binary := map[string]bool{}
	for entry := range bytes.SplitSeq(numstat, []byte{0}) {
		if path, ok := bytes.CutPrefix(entry, []byte("-\t-\t")); ok {
			binary[string(path)] = true
		}
	}
	if len(binary) == 0 {
		return nil, nil
	}
	raw, err := s.repo.git(ctx, s.processes, nil, "diff", "--raw", "-z", "--no-renames", "--no-abbrev", "--cached", base)
	if err != nil {
		return nil, err
	}
	var names []string
	var info bytes.Buffer
	room := maxNamesBytes
	fields := strings.Split(string(raw), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		// ":oldmode newmode oldid newid status", then the path.
		old, path := strings.Fields(strings.TrimPrefix(fields[i], ":")), fields[i+1]
		if len(old) < 3 || !binary[path] {
			continue
		}
		info.WriteString(old[0] + " " + old[2] + "\t" + path + "\x00")
		if room -= len(path); room >= 0 && len(names) < maxBinaryNames {
			names = append(names, path)
		}
	}
	_, err = s.repo.git(ctx, s.processes, info.Bytes(), "update-index", "-z", "--index-info")
	return names, err
}

package inside

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"relabel/envs/inside/process"
	"relabel/envs/inside/worktree"
	"relabel/envs/wire"
)

// Bounds of the list of excluded files: their number, and the bytes of all names.
const (
	maxDroppedNames = 1000
	maxNamesBytes   = 64 << 10
)

// patch ends all processes of commands and returns the changes since base, and the excluded paths:
// binary and large files, and folders whose paths are too long to open.
func (s *Server) patch(ctx context.Context, base string) (diff []byte, dropped []string, err error) {
	s.repo.Mu.Lock()
	defer s.repo.Mu.Unlock()
	if err := s.processes.EndAllAndWait(ctx); err != nil {
		return nil, nil, err
	}
	found, err := s.clear(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := s.repo.Prepare(); err != nil {
		return nil, nil, err
	}
	if base == "" {
		base = s.repo.Start
	}
	tree, err := s.repo.TreeOf(ctx, s.processes, base)
	if err != nil || base == "" {
		return nil, nil, errors.Join(worktree.ErrNoRepository, err)
	}
	if err := s.removeNested(ctx, tree, found.Nested); err != nil {
		return nil, nil, err
	}
	// Every file is read again: one that a command had mapped into memory may have changed without a
	// trace.
	s.repo.Seeded = false
	large, err := s.repo.Stage(ctx, s.processes, tree)
	if err != nil {
		return nil, nil, err
	}
	binary, err := s.excludeBinary(ctx, tree)
	if err != nil {
		return nil, nil, err
	}
	diff, err = s.repo.Git(ctx, s.processes, nil, "diff", "--no-color", "--binary", "--full-index", "--no-ext-diff", "--no-textconv",
		"--no-renames", "--src-prefix=a/", "--dst-prefix=b/", "--cached", tree)
	if len(diff) > wire.MaxPatch {
		return nil, nil, process.ErrTooLarge
	}
	if len(diff) > 0 && diff[len(diff)-1] != '\n' {
		diff = append(diff, '\n')
	}
	return diff, named(binary, large, found.TooLong), err
}

// named joins lists of paths up to the bounds.
func named(lists ...[]string) (names []string) {
	room := maxNamesBytes
	for _, list := range lists {
		for _, path := range list {
			if room -= len(path); room < 0 || len(names) == maxDroppedNames {
				return names
			}
			names = append(names, path)
		}
	}
	return names
}

// clear removes pipes and links to devices under the names of git's own files, which would block git.
// No command runs any more.
func (s *Server) clear(ctx context.Context) (worktree.Scanned, error) {
	s.repo.Tree = worktree.TreeScan{}
	found, err := s.repo.Tree.Scan(ctx, s.workdir)
	if err != nil {
		return found, err
	}
	for _, path := range found.Special {
		if err := os.Remove(filepath.Join(s.workdir, path)); err != nil {
			return found, err
		}
	}
	return found, nil
}

// removeNested removes .git below the top folder, except in tree's submodules: git would record the
// folder as a submodule instead of its files.
func (s *Server) removeNested(ctx context.Context, tree string, nested []string) error {
	if len(nested) == 0 {
		return nil
	}
	listed, err := s.repo.Git(ctx, s.processes, nil, "ls-tree", "-r", "-z", tree)
	if err != nil {
		return err
	}
	submodules := map[string]bool{}
	for entry := range bytes.SplitSeq(listed, []byte{0}) {
		if meta, path, ok := bytes.Cut(entry, []byte("\t")); ok && bytes.HasPrefix(meta, []byte("160000 ")) {
			submodules[string(path)] = true
		}
	}
	for _, path := range nested {
		if submodules[filepath.Dir(path)] {
			continue
		}
		if err := os.RemoveAll(filepath.Join(s.workdir, path)); err != nil {
			return err
		}
	}
	return nil
}

// change is an entry of git diff --raw: mode and object name of both sides, and the path.
type change struct {
	modes, names [2]string
	path         string
}

// parseChanges reads the output of git diff --raw -z: ":oldmode newmode oldname newname status", then
// the path.
func parseChanges(raw []byte) (changes []change) {
	fields := strings.Split(string(raw), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		if m := strings.Fields(strings.TrimPrefix(fields[i], ":")); len(m) >= 4 {
			changes = append(changes, change{[2]string{m[0], m[1]}, [2]string{m[2], m[3]}, fields[i+1]})
		}
	}
	return changes
}

// excludeBinary resets binary files in sandboxd's index to their content in tree, and returns their
// paths. It verifies the content of every changed file against its object name, on both sides.
func (s *Server) excludeBinary(ctx context.Context, tree string) (names []string, err error) {
	raw, err := s.repo.Git(ctx, s.processes, nil, "diff", "--raw", "-z", "--no-renames", "--no-abbrev", "--cached", tree)
	if err != nil || len(raw) == 0 {
		return nil, err
	}
	changes := parseChanges(raw)
	if err := s.repo.ReadObjects(ctx, s.processes, blobsOf(changes), nil); err != nil {
		return nil, err
	}
	numstat, err := s.repo.Git(ctx, s.processes, nil, "diff", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--cached", tree)
	if err != nil {
		return nil, err
	}
	binary := map[string]bool{}
	for entry := range bytes.SplitSeq(numstat, []byte{0}) {
		if path, ok := bytes.CutPrefix(entry, []byte("-\t-\t")); ok {
			binary[string(path)] = true
		}
	}
	var info bytes.Buffer
	for _, c := range changes {
		if binary[c.path] {
			info.WriteString(c.modes[0] + " " + c.names[0] + "\t" + c.path + "\x00")
			names = append(names, c.path)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	_, err = s.repo.Git(ctx, s.processes, info.Bytes(), "update-index", "-z", "--index-info")
	return names, err
}

// blobsOf returns the object names of the files' contents on both sides, without submodules and
// missing sides.
func blobsOf(changes []change) (names []string) {
	seen := map[string]bool{}
	for _, c := range changes {
		for side, mode := range c.modes {
			name := c.names[side]
			if mode == "160000" || strings.Trim(mode, "0") == "" || strings.Trim(name, "0") == "" || seen[name] {
				continue
			}
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

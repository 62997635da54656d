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

// Bounds on the left-out files that are named: how many, and the bytes of all names.
const (
	maxDroppedNames = 1000
	maxNamesBytes   = 64 << 10
)

// patch ends what commands left behind and returns what changed since base, and the paths of
// what it leaves out: binary and large files, and folders whose paths are too long to be opened.
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
	// What is known of unchanged files is forgotten: a file that a command had mapped into memory
	// may have changed without a trace.
	s.repo.Seeded = false
	large, err := s.repo.Stage(ctx, s.processes, tree)
	if err != nil {
		return nil, nil, err
	}
	binary, err := s.leaveOutBinary(ctx, tree)
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

// named joins lists of paths, up to the bounds on those that are named.
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

// clear removes what git would wait for in the working tree: pipes and links to devices under the
// names of its own files. No command runs any more.
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

// removeNested removes .git below the top folder, except those of tree's submodules: git would
// record the folder around it as a submodule instead of its files.
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

// leaveOutBinary puts binary files in our index back to what they are in tree, and returns their
// paths. It holds the content of every changed file against its name, on both sides.
func (s *Server) leaveOutBinary(ctx context.Context, tree string) ([]string, error) {
	raw, err := s.repo.Git(ctx, s.processes, nil, "diff", "--raw", "-z", "--no-renames", "--no-abbrev", "--cached", tree)
	if err != nil || len(raw) == 0 {
		return nil, err
	}
	// ":oldmode newmode oldname newname status", then the path.
	fields := strings.Split(string(raw), "\x00")
	if err := s.repo.ReadObjects(ctx, s.processes, blobsOf(fields), nil); err != nil {
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
	var names []string
	var info bytes.Buffer
	for i := 0; i+1 < len(fields); i += 2 {
		old, path := strings.Fields(strings.TrimPrefix(fields[i], ":")), fields[i+1]
		if len(old) >= 3 && binary[path] {
			info.WriteString(old[0] + " " + old[2] + "\t" + path + "\x00")
			names = append(names, path)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	_, err = s.repo.Git(ctx, s.processes, info.Bytes(), "update-index", "-z", "--index-info")
	return names, err
}

// blobsOf returns the names of the files' contents in the fields of a raw diff, both sides,
// without those of submodules and of what is not there.
func blobsOf(fields []string) (names []string) {
	seen := map[string]bool{}
	for i := 0; i+1 < len(fields); i += 2 {
		meta := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(meta) < 4 {
			continue
		}
		for side := range 2 {
			mode, name := meta[side], meta[2+side]
			if mode == "160000" || strings.Trim(mode, "0") == "" || strings.Trim(name, "0") == "" || seen[name] {
				continue
			}
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

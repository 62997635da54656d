package repository

import (
	"context"
	"errors"
	"strings"

	"relabel"
)

// The modes of entries that are no regular files.
const (
	modeSymlink   = "120000"
	modeSubmodule = "160000"
)

// Entry is a file, a symlink or a submodule of a commit.
type Entry struct {
	Path string // bytes as in git: any but 0, also invalid UTF-8
	Mode string // octal, such as 100644
	Blob string // of a submodule, a commit of another repository
}

// Symlink reports whether the entry is a symlink, whose blob is its target.
func (e Entry) Symlink() bool { return e.Mode == modeSymlink }

// Submodule reports whether the entry is a submodule.
func (e Entry) Submodule() bool { return e.Mode == modeSubmodule }

// maxTree bounds the bytes of a list of all files: about a million of them.
const maxTree = 128 << 20

// Tree lists all entries of a commit, given by its full id, in the order of their paths. CodeNotFound if
// there is no such commit.
func (m *Mirrors) Tree(ctx context.Context, name, commit string) ([]Entry, error) {
	commit, err := m.exact(ctx, name, commit)
	if err != nil {
		return nil, err
	}
	text, err := m.run(ctx, name, maxTree, "ls-tree", "-r", "-z", "--full-tree", commit)
	if errors.Is(err, errTooMuch) {
		return nil, relabel.Errorf(relabel.CodeInvalid, "the commit %s of %s has too many files", commit, name)
	}
	if err != nil {
		return nil, err
	}
	list := string(text)
	entries := make([]Entry, 0, strings.Count(list, "\x00"))
	for line := range strings.SplitSeq(list, "\x00") {
		if line == "" {
			continue
		}
		e, err := parseEntry(line)
		if err != nil {
			return nil, failed(ctx, name, err)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// exact is Commit for full ids alone.
func (m *Mirrors) exact(ctx context.Context, name, commit string) (string, error) {
	commit = strings.ToLower(commit)
	if err := checkID("commit", commit); err != nil {
		return "", err
	}
	return m.Commit(ctx, name, commit)
}

var errEntry = errors.New("git listed an entry that is none")

// parseEntry reads "MODE KIND ID\tPATH".
func parseEntry(line string) (Entry, error) {
	head, path, _ := strings.Cut(line, "\t")
	parts := strings.Split(head, " ")
	if len(parts) != 3 || path == "" {
		return Entry{}, errEntry
	}
	return Entry{Path: path, Mode: parts[0], Blob: parts[2]}, nil
}

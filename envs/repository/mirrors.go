// Package repository reads bare git mirrors at any commit, without a work tree and without a network,
// and makes the index of a commit.
//
// The mirror of owner/name is the folder owner__name.git, that of a repository without an owner is
// name.git. Mirrors are not trusted: their configuration runs no program, and nothing outside of a
// mirror is read.
package repository

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"relabel"
)

// Mirrors are the mirrors in one folder. They are safe for concurrent use.
type Mirrors struct {
	dir  string
	git  string // the program
	pool *pool
}

// Open returns the mirrors in a folder. CodeInvalid if it is none, CodeUnavailable without git.
func Open(dir string) (*Mirrors, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return nil, relabel.Errorf(relabel.CodeInvalid, "the folder of mirrors cannot be read").On("--repositories").Because(err)
	case !info.IsDir():
		return nil, relabel.Errorf(relabel.CodeInvalid, "is no folder").On("--repositories")
	}
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeUnavailable, "git is not installed").Because(err)
	}
	m := &Mirrors{dir: dir, git: git}
	m.pool = newPool(m.startReader)
	return m, nil
}

// Close ends all children. It waits for calls in progress; later ones fail.
func (m *Mirrors) Close() { m.pool.close() }

// longestRepository bounds a repository's name in bytes, so that the folder's name is none too long.
const longestRepository = 200

// repositoryName matches owner/name and name. Owners have no two underscores in a row, so that each
// folder belongs to one repository.
var repositoryName = regexp.MustCompile(`^(?:[A-Za-z0-9](?:_?[A-Za-z0-9.-])*/)?[A-Za-z0-9_.-]+$`)

// CheckName refuses what is no owner/name and no name with CodeInvalid.
func CheckName(name string) error {
	last := name[strings.LastIndexByte(name, '/')+1:]
	if len(name) > longestRepository || !repositoryName.MatchString(name) || strings.HasPrefix(last, ".") || strings.HasPrefix(last, "-") {
		return relabel.Errorf(relabel.CodeInvalid, "%.120q is not the name of a repository, such as owner/name", name).On("repository")
	}
	return nil
}

// folder returns the mirror of a repository. CodeInvalid for an invalid name, CodeNotFound without a
// mirror, and CodeEnvironment for a folder that is none.
func (m *Mirrors) folder(name string) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	base := strings.ReplaceAll(name, "/", "__") + ".git"
	dir := filepath.Join(m.dir, base)
	for _, part := range []string{".", "HEAD", "objects"} {
		_, err := os.Stat(filepath.Join(dir, part))
		switch {
		case part == "." && errors.Is(err, fs.ErrNotExist):
			return "", relabel.Errorf(relabel.CodeNotFound, "there is no mirror of %s: clone it with git clone --mirror to %s in the folder of mirrors", name, base)
		case errors.Is(err, fs.ErrNotExist):
			return "", relabel.Errorf(relabel.CodeEnvironment, "the folder %s is no bare git repository: it has no %s", base, part)
		case err != nil:
			return "", relabel.Errorf(relabel.CodeEnvironment, "the mirror of %s cannot be read", name).Because(err)
		}
	}
	for _, part := range []string{"objects/info/alternates", "commondir", "objects", "objects/pack"} {
		info, err := os.Lstat(filepath.Join(dir, part))
		if err == nil && !info.IsDir() {
			return "", relabel.Errorf(relabel.CodeEnvironment, "the mirror of %s reads objects of another folder (%s): clone it again with git clone --mirror --no-local", name, part)
		}
	}
	return dir, nil
}

// Has reports why there is no mirror of a repository, nil if there is one.
func (m *Mirrors) Has(name string) error {
	_, err := m.folder(name)
	return err
}

// List returns the names of the repositories that have a mirror, sorted. CodeUnavailable if the folder
// cannot be read.
func (m *Mirrors) List() (names []string, err error) {
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeUnavailable, "the folder of mirrors cannot be read").Because(err)
	}
	for _, e := range entries {
		folder, is := strings.CutSuffix(e.Name(), ".git")
		name := strings.Replace(folder, "__", "/", 1)
		if is && m.Has(name) == nil {
			names = append(names, name)
		}
	}
	return names, nil
}

var (
	fullID  = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)
	someHex = regexp.MustCompile(`^[0-9a-fA-F]{4,63}$`)
	refName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/+-]*$`)
)

// checkID refuses what is no full id of an object with CodeInvalid.
func checkID(field, id string) error {
	if !fullID.MatchString(id) {
		return relabel.Errorf(relabel.CodeInvalid, "%.80q is not a full id: it needs all 40 hexadecimal digits", id).On(field)
	}
	return nil
}

// longestRef bounds the name of a tag or branch in bytes.
const longestRef = 250

// Commit returns the full id of a commit by its full id, or by the name of a tag or else a branch.
// Abbreviated ids are refused, because they become ambiguous as a mirror grows. CodeNotFound if there
// is no such commit.
func (m *Mirrors) Commit(ctx context.Context, name, rev string) (string, error) {
	if fullID.MatchString(strings.ToLower(rev)) {
		return m.peel(ctx, name, rev, strings.ToLower(rev))
	}
	if len(rev) > longestRef || !refName.MatchString(rev) || strings.Contains(rev, "..") {
		return "", relabel.Errorf(relabel.CodeInvalid, "%.80q is not the id of a commit, and not the name of a tag or branch", rev).On("commit")
	}
	id, err := m.peel(ctx, name, rev, "refs/tags/"+rev)
	if relabel.CodeOf(err) == relabel.CodeNotFound && m.Has(name) == nil {
		id, err = m.peel(ctx, name, rev, "refs/heads/"+rev)
	}
	if relabel.CodeOf(err) == relabel.CodeNotFound && someHex.MatchString(rev) && m.Has(name) == nil {
		return "", relabel.Errorf(relabel.CodeInvalid, "%q is an abbreviated commit: it needs all 40 digits", rev).On("commit")
	}
	return id, err
}

// peel returns the id of the commit that an object of git is, or that a tag names.
func (m *Mirrors) peel(ctx context.Context, name, shown, object string) (string, error) {
	a, err := m.ask(ctx, name, object+"^{commit}", 0)
	if err == nil && a.missing {
		err = relabel.Errorf(relabel.CodeNotFound, "the mirror of %s has no commit %s: update the mirror", name, shown)
	}
	return a.id, err
}

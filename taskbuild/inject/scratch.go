package inject

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"relabel/taskbuild"
)

// scratch is a bare repository of our own, with the objects of the user's. Commits with bugs are made there.
type scratch struct {
	dir  string
	base string // full hash
	list []string
}

// newScratch makes a scratch repository for a commit of another one.
func newScratch(ctx context.Context, repository, commit string) (*scratch, error) {
	if commit == "" {
		commit = "HEAD"
	}
	base, err := taskbuild.Git(ctx, repository, "rev-parse", "--verify", commit+"^{commit}")
	if err != nil {
		return nil, err
	}
	origin, err := taskbuild.Git(ctx, repository, "rev-parse", "--absolute-git-dir")
	if err != nil {
		return nil, err
	}
	s := &scratch{base: string(bytes.TrimSpace(base))}
	if s.dir, err = os.MkdirTemp("", "relabel-inject-*"); err != nil {
		return nil, err
	}
	if err = s.open(ctx, string(bytes.TrimSpace(origin))); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	return s, nil
}

// open fills the empty folder.
func (s *scratch) open(ctx context.Context, origin string) error {
	if _, err := taskbuild.Git(ctx, s.dir, "clone", "-q", "--bare", "--shared", "--template=", origin, "."); err != nil {
		return err
	}
	exclude, err := taskbuild.ReadExclude(origin)
	if err != nil || exclude == nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(s.dir, "info"), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.dir, "info", "exclude"), exclude, 0o644)
}

// paths lists the regular files of the base.
func (s *scratch) paths(ctx context.Context) ([]string, error) {
	if s.list == nil {
		out, err := taskbuild.Git(ctx, s.dir, "ls-tree", "-r", "-z", "--full-tree", s.base)
		if err != nil {
			return nil, err
		}
		for _, entry := range strings.Split(string(out), "\x00") {
			if mode, name, ok := strings.Cut(entry, "\t"); ok && strings.HasPrefix(mode, "100") {
				s.list = append(s.list, name)
			}
		}
	}
	return slices.Clone(s.list), nil
}

func (s *scratch) read(ctx context.Context, name string) ([]byte, error) {
	return taskbuild.Git(ctx, s.dir, "cat-file", "blob", s.base+":"+name)
}

// bugCommit is a commit with a bug.
type bugCommit struct {
	hash string
	fix  string // the diff from the bug to the base
	bug  string // the diff from the base to the bug
	at   time.Time
}

// treeLine and signature match headers of a commit.
var (
	headers   = regexp.MustCompile(`(?m)^(tree|parent|gpgsig|gpgsig-sha256|mergetag) .*\n( .*\n)*`)
	committed = regexp.MustCompile(`(?m)^committer .* (\d+) [+-]\d{4}$`)
)

// commit makes the child of the base that has the bug, with the base's own message, author and dates: the
// same bug has the same hash everywhere.
func (s *scratch) commit(ctx context.Context, m Mutation) (bugCommit, error) {
	var c bugCommit
	source, err := s.read(ctx, m.Path)
	if err != nil {
		return c, err
	}
	blob, err := s.hashObject(ctx, "blob", m.apply(source))
	if err != nil {
		return c, err
	}
	tree, err := s.treeWith(ctx, m.Path, blob)
	if err != nil {
		return c, err
	}
	text, err := taskbuild.Git(ctx, s.dir, "cat-file", "commit", s.base)
	if err != nil {
		return c, err
	}
	head, message, _ := strings.Cut(string(text), "\n\n")
	head = headers.ReplaceAllString(head+"\n", "")
	if found := committed.FindStringSubmatch(head); found != nil {
		seconds, err := strconv.ParseInt(found[1], 10, 64)
		if err != nil {
			return c, err
		}
		c.at = time.Unix(seconds, 0)
	}
	if c.hash, err = s.hashObject(ctx, "commit", fmt.Appendf(nil, "tree %s\nparent %s\n%s\n%s", tree, s.base, head, message)); err != nil {
		return c, err
	}
	if c.fix, err = s.diff(ctx, c.hash, s.base); err != nil {
		return c, err
	}
	c.bug, err = s.diff(ctx, s.base, c.hash)
	return c, err
}

func (s *scratch) diff(ctx context.Context, from, to string) (string, error) {
	out, err := taskbuild.Git(ctx, s.dir, "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--text", "--diff-algorithm=myers", "-U3", from, to)
	return string(out), err
}

// treeWith returns the tree of the base with another blob at a path.
func (s *scratch) treeWith(ctx context.Context, name, blob string) (string, error) {
	out, err := taskbuild.Git(ctx, s.dir, "ls-tree", "--full-tree", s.base, "--", ":(literal)"+name)
	if err != nil {
		return "", err
	}
	mode, _, _ := strings.Cut(string(out), " ")
	if _, err := taskbuild.Git(ctx, s.dir, "read-tree", s.base); err != nil {
		return "", err
	}
	if _, err := taskbuild.Git(ctx, s.dir, "update-index", "--cacheinfo", mode+","+blob+","+name); err != nil {
		return "", err
	}
	tree, err := taskbuild.Git(ctx, s.dir, "write-tree")
	return string(bytes.TrimSpace(tree)), err
}

func (s *scratch) hashObject(ctx context.Context, kind string, content []byte) (string, error) {
	name := filepath.Join(s.dir, "relabel-object")
	if err := os.WriteFile(name, content, 0o644); err != nil {
		return "", err
	}
	out, err := taskbuild.Git(ctx, s.dir, "hash-object", "-t", kind, "-w", "--no-filters", name)
	return string(bytes.TrimSpace(out)), err
}

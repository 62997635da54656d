// Package history gives the changes of a git repository as candidates for tasks.
package history

import (
	"context"
	"iter"
	"strconv"
	"strings"
	"time"

	"relabel"
	"relabel/taskbuild"
)

// Config says which changes are examined.
type Config struct {
	Repository string // path of the repository
	Name       string // the repository's name in tasks, for example owner/name
	Range      string // commits as git rev-list takes them, for example v1.0..main; "" means HEAD
	// Merges examines the merge commits of the first-parent line instead of single commits, each with the
	// difference to its first parent.
	Merges bool
	// Commits bounds the number of the newest commits that are examined; 0 means all.
	Commits int
	// MaxFiles and MaxLines bound the source files of a patch, and its added and removed lines.
	MaxFiles, MaxLines int
	Recipe             taskbuild.Recipe
	// Detect returns the recipe for the repository at a commit; ok is false if there is none. It takes the place of
	// Recipe, since old commits may have other tests. nil: Recipe is that of all commits.
	Detect func(ctx context.Context, commit string) (r taskbuild.Recipe, ok bool, err error)
	Issues *Issues // the texts of issues; nil: only commit messages
	// Unstated keeps changes whose statement is missing or quotes the fix: the build has a writer of statements.
	Unstated bool
}

// Source gives the changes of a repository, the oldest first. It implements taskbuild.Source.
type Source struct{ config Config }

// Open checks that the repository and the range exist. Errors are CodeInvalid.
func Open(ctx context.Context, c Config) (*Source, error) {
	if c.Range == "" {
		c.Range = "HEAD"
	}
	gitDir, err := taskbuild.Git(ctx, c.Repository, "rev-parse", "--absolute-git-dir")
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeInvalid, "%s is not a git repository", c.Repository).Because(err)
	}
	if _, err := taskbuild.Git(ctx, c.Repository, "rev-list", "-n", "1", "--end-of-options", c.Range, "--"); err != nil {
		return nil, relabel.Errorf(relabel.CodeInvalid, "%q names no commits of %s", c.Range, c.Repository).On("--range").Because(err)
	}
	if c.Name == "" {
		c.Name = NameOf(strings.TrimSuffix(strings.TrimSpace(string(gitDir)), "/.git"))
	}
	return &Source{c}, nil
}

// Close implements taskbuild.Source.
func (s *Source) Close() error { return nil }

// Items implements taskbuild.Source. A merge commit of several commits is examined with Config.Merges only, and
// single commits without it.
func (s *Source) Items(ctx context.Context) iter.Seq2[taskbuild.Item, error] {
	return func(yield func(taskbuild.Item, error) bool) {
		commits, err := s.list(ctx)
		if err != nil {
			yield(taskbuild.Item{}, err)
			return
		}
		for _, c := range commits {
			item, err := s.item(ctx, c)
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

// commit is a commit of the range.
type commit struct {
	hash, parent string // parent: the first; "" if it has none
	merge        bool
	at           time.Time
	subject      string
	message      string // with the subject
}

// list returns the commits to examine, parents first.
func (s *Source) list(ctx context.Context) ([]commit, error) {
	args := []string{"log", "-z", "--topo-order", "--reverse", "--format=%H%x01%P%x01%ct%x01%B"}
	if s.config.Merges {
		args = append(args, "--merges", "--first-parent")
	} else {
		args = append(args, "--no-merges")
	}
	if s.config.Commits > 0 {
		args = append(args, "-n", strconv.Itoa(s.config.Commits))
	}
	out, err := taskbuild.Git(ctx, s.config.Repository, append(args, "--end-of-options", s.config.Range, "--")...)
	if err != nil {
		return nil, err
	}
	var commits []commit
	for _, text := range strings.Split(strings.Trim(string(out), "\x00"), "\x00") {
		fields := strings.SplitN(text, "\x01", 4)
		if len(fields) < 4 {
			continue // an empty range
		}
		parents := strings.Fields(fields[1])
		c := commit{hash: fields[0], merge: len(parents) > 1, message: strings.ToValidUTF8(fields[3], "�")}
		if len(parents) > 0 {
			c.parent = parents[0]
		}
		if seconds, err := strconv.ParseInt(fields[2], 10, 64); err == nil {
			c.at = time.Unix(seconds, 0)
		}
		c.subject, _, _ = strings.Cut(strings.TrimSpace(c.message), "\n")
		commits = append(commits, c)
	}
	return commits, nil
}

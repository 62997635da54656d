package history

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"strings"

	"relabel/gitdiff"
	"relabel/taskbuild"
)

// revert matches the subject of a commit that takes another one back.
var revert = regexp.MustCompile(`(?i)^revert(ed|s)?\b|^back out\b|^backed out\b`)

// item turns a commit into a candidate or a refusal.
func (s *Source) item(ctx context.Context, c commit) (taskbuild.Item, error) {
	refuse := func(reason taskbuild.Reason, detail string) (taskbuild.Item, error) {
		return taskbuild.Item{Refusal: &taskbuild.Refusal{Change: c.hash, Title: c.subject, Reason: reason, Detail: detail}}, nil
	}
	switch {
	case c.parent == "":
		return refuse(taskbuild.ReasonRoot, "")
	case revert.MatchString(c.subject):
		return refuse(taskbuild.ReasonRevert, "")
	}
	diff, err := taskbuild.Git(ctx, s.config.Repository, "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--full-index", "--binary", "--no-renames",
		"--submodule=short", "--src-prefix=a/", "--dst-prefix=b/", c.parent, c.hash, "--")
	if err != nil {
		return taskbuild.Item{}, err
	}
	recipe, err := s.recipe(ctx, c.parent)
	if err != nil {
		return taskbuild.Item{}, err
	}
	change, reason, detail := s.split(string(diff), recipe)
	if reason != "" {
		return refuse(reason, detail)
	}
	statement := s.statement(c)
	if statement == "" && !s.config.Unstated {
		return refuse(taskbuild.ReasonNoStatement, "")
	}
	if leaked := taskbuild.Leaks(statement, change.patch); len(leaked) > 0 && !s.config.Unstated {
		return refuse(taskbuild.ReasonLeak, leaked[0])
	}
	return taskbuild.Item{Candidate: taskbuild.Candidate{
		ID: instanceID(s.config.Name, c.hash), Repo: s.config.Name, Repository: s.config.Repository, Base: c.parent, Origin: taskbuild.OriginCommit,
		Change: c.hash, Title: c.subject, At: c.at, ProblemStatement: statement, Patch: change.patch, TestPatch: change.testPatch, TestFiles: change.testFiles,
		Recipe: &recipe,
	}}, nil
}

// recipe is the recipe of a base commit.
func (s *Source) recipe(ctx context.Context, base string) (taskbuild.Recipe, error) {
	if s.config.Detect == nil {
		return s.config.Recipe, nil
	}
	r, ok, err := s.config.Detect(ctx, base)
	if err != nil || !ok {
		return s.config.Recipe, err
	}
	return r, nil
}

// notInID are the characters that instance ids do not have.
var notInID = regexp.MustCompile(`[^A-Za-z0-9_.+-]+`)

// instanceID is owner__name-hash.
func instanceID(name, hash string) string {
	id := notInID.ReplaceAllString(strings.ReplaceAll(name, "/", "__"), "-")
	return strings.TrimLeft(id, ".+-") + "-" + hash[:12]
}

// change is the difference of a commit, apart for source and tests.
type change struct {
	patch, testPatch string
	testFiles        []string
}

// split sorts the files of a difference. It returns why they make no candidate; "" if they do.
func (s *Source) split(diff string, recipe taskbuild.Recipe) (c change, reason taskbuild.Reason, detail string) {
	if strings.TrimSpace(diff) == "" {
		return c, taskbuild.ReasonNoSource, "it changes nothing"
	}
	files, err := gitdiff.Changes(diff)
	if err != nil {
		return c, taskbuild.ReasonUnreadable, err.Error()
	}
	texts := taskbuild.SplitDiff(diff)
	if len(texts) != len(files) {
		return c, taskbuild.ReasonUnreadable, fmt.Sprintf("its difference has %d files, but %d parts", len(files), len(texts))
	}
	var patch, tests strings.Builder
	sources, lines := 0, 0
	for i, f := range files {
		name := f.New
		if name == "" {
			name = f.Old
		}
		if submodule.MatchString(texts[i]) { // no pattern matches it, but the tests may need it
			return c, taskbuild.ReasonSubmodule, name
		}
		kind := recipe.Kind(name)
		if kind == taskbuild.OtherFile {
			continue
		}
		if reason := unusable(f); reason != "" {
			return c, reason, name
		}
		if kind == taskbuild.TestFile {
			tests.WriteString(texts[i])
			if f.New != "" && recipe.Runs(name) {
				c.testFiles = append(c.testFiles, name)
			}
			continue
		}
		patch.WriteString(texts[i])
		sources++
		lines += changedLines(f)
	}
	c.patch, c.testPatch = patch.String(), tests.String()
	switch {
	case sources == 0:
		return c, taskbuild.ReasonNoSource, ""
	case len(c.testFiles) == 0:
		return c, taskbuild.ReasonNoTests, ""
	case sources > s.config.MaxFiles:
		return c, taskbuild.ReasonTooLarge, fmt.Sprintf("%d source files, at most %d", sources, s.config.MaxFiles)
	case lines > s.config.MaxLines:
		return c, taskbuild.ReasonTooLarge, fmt.Sprintf("%d changed lines, at most %d", lines, s.config.MaxLines)
	}
	return c, "", ""
}

// submodule matches the line of a difference that has the mode of a submodule.
var submodule = regexp.MustCompile(`(?m)^(index [0-9a-f.]+|new file mode|deleted file mode|old mode|new mode) 160000$`)

// unusable returns why a change of a source or a test cannot be a part of a task.
func unusable(f gitdiff.File) taskbuild.Reason {
	if f.Binary {
		return taskbuild.ReasonBinary
	}
	for _, h := range f.Hunks {
		for _, l := range h.Lines {
			if strings.HasPrefix(l.Text, "version https://git-lfs.github.com/spec/") {
				return taskbuild.ReasonLFS
			}
		}
	}
	return ""
}

// changedLines counts the added and removed lines of a file.
func changedLines(f gitdiff.File) int {
	n := 0
	for _, h := range f.Hunks {
		for _, l := range h.Lines {
			if l.Op == gitdiff.Added || l.Op == gitdiff.Removed {
				n++
			}
		}
	}
	return n
}

// NameOf is the name of a repository at a path.
func NameOf(dir string) string { return strings.TrimSuffix(path.Base(dir), ".git") }

package localise

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"relabel"
	"relabel/codeindex"
	"relabel/gitdiff"
	"relabel/tasks"
)

// minIssue is the least length of an issue in characters.
const minIssue = 100

// maxSource is the size of a source file in bytes above which its functions are not known.
const maxSource = 1 << 20

// drop says why a candidate becomes no task. It is an error inside of this package only.
type drop struct {
	reason Reason
	detail string
}

// Error is the reason with its detail.
func (d drop) Error() string { return string(d.reason) + ": " + d.detail }

// made is a task with what its change has beside gold.
type made struct {
	task      relabel.Task
	languages map[codeindex.Language]languageCount
	added     int // functions that the base lacks
}

type languageCount struct{ files, functions int }

// build makes a task of a candidate. The error is a drop if it becomes none.
func (b *Builder) build(ctx context.Context, c Candidate) (made, error) {
	switch {
	case b.Exclude.Has(c):
		return made{}, drop{Excluded, c.Repository}
	case c.duplicate:
		return made{}, drop{Duplicate, c.InstanceID}
	case utf8.RuneCountInString(strings.TrimSpace(c.Issue)) < minIssue:
		return made{}, drop{ShortIssue, fmt.Sprintf("it has fewer than %d characters", minIssue)}
	}
	base, changes, err := b.changes(ctx, c)
	if err != nil {
		return made{}, err
	}
	m := made{languages: map[codeindex.Language]languageCount{}, task: relabel.Task{Kind: relabel.Localise, InstanceID: c.InstanceID, Repo: c.Repository, BaseCommit: base,
		ProblemStatement: c.Issue, HintsText: c.HintsText}}
	if err := b.addGold(ctx, &m, changes); err != nil {
		return made{}, err
	}
	if len(m.task.GoldFiles) == 0 {
		return made{}, drop{NoGold, "it adds files, or changes comments and blank lines"}
	}
	return m, nil
}

// changes returns the full id of the base and the changed source files that are none of tests.
func (b *Builder) changes(ctx context.Context, c Candidate) (base string, changes []gitdiff.File, err error) {
	if !tasks.ValidRepository(c.Repository) {
		return "", nil, drop{NoMirror, fmt.Sprintf("%q is not owner/name", c.Repository)}
	}
	if err := b.Repositories.Has(c.Repository); err != nil {
		return "", nil, dropped(err, NoMirror)
	}
	if base, err = b.Repositories.Commit(ctx, c.Repository, c.BaseCommit); err != nil {
		return "", nil, dropped(err, NoCommit)
	}
	patch := c.Patch
	if c.HeadCommit != "" {
		head, err := b.Repositories.Commit(ctx, c.Repository, c.HeadCommit)
		if err != nil {
			return "", nil, dropped(err, NoCommit)
		}
		diff, err := b.Repositories.Diff(ctx, c.Repository, base, head)
		if err != nil {
			return "", nil, dropped(err, NotApplied)
		}
		patch = string(diff)
	}
	if patch == "" { // the two commits have the same files
		return "", nil, drop{NonCode, "it changes nothing"}
	}
	all, err := gitdiff.Changes(patch)
	if err != nil {
		return "", nil, drop{NotApplied, "the diff " + err.Error()}
	}
	source := slices.DeleteFunc(all, func(f gitdiff.File) bool { return !isSource(f.Old) && !isSource(f.New) })
	if len(source) == 0 {
		return "", nil, drop{NonCode, "it changes no source file"}
	}
	source = slices.DeleteFunc(source, func(f gitdiff.File) bool { return IsTest(basePath(f)) })
	if len(source) == 0 {
		return "", nil, drop{TestsOnly, "it changes no other source file"}
	}
	return base, source, nil
}

// dropped is an error of a mirror as the reason of one candidate. Errors of the whole process stay.
func dropped(err error, reason Reason) error {
	switch relabel.CodeOf(err) {
	case relabel.CodeNotFound, relabel.CodeInvalid:
		return drop{reason, err.Error()}
	case relabel.CodeEnvironment:
		return drop{NoMirror, err.Error()}
	}
	return err
}

func isSource(path string) bool { return codeindex.LanguageOf(path) != "" }

// basePath is the path of a file before the change, or after it if the change adds the file.
func basePath(f gitdiff.File) string {
	if isNew(f) {
		return f.New
	}
	return f.Old
}

func isNew(f gitdiff.File) bool { return f.Old == "" || f.Copied }

// addGold adds the gold of changed source files.
func (b *Builder) addGold(ctx context.Context, m *made, changes []gitdiff.File) error {
	var paths []string
	for _, f := range changes {
		if !isNew(f) {
			paths = append(paths, f.Old)
		}
	}
	part, absent, err := b.Repositories.Part(ctx, m.task.Repo, m.task.BaseCommit, paths)
	if err != nil {
		return dropped(err, NoMirror)
	}
	if len(absent) > 0 {
		return drop{NotApplied, absent[0] + " is not in the base"}
	}
	functions := map[string]bool{}
	for _, f := range changes {
		if isNew(f) {
			m.added += b.newFunctions(f)
			continue
		}
		file := part.File(f.Old)
		if file == nil || !tasks.ValidGoldFile(f.Old) {
			continue // a symlink, or no answer can name it
		}
		g, err := b.goldOf(ctx, m.task.Repo, file, f)
		if err != nil {
			return err
		}
		m.added += len(g.added)
		if g.code {
			m.addFile(file, g, functions)
		}
	}
	slices.Sort(m.task.GoldFiles)
	m.task.GoldFiles = slices.Compact(m.task.GoldFiles)
	slices.Sort(m.task.GoldFunctions)
	return nil
}

// addFile adds the gold of one file, which several parts of a diff may change.
func (m *made) addFile(file *codeindex.File, g gold, functions map[string]bool) {
	count := m.languages[file.Language]
	if !slices.Contains(m.task.GoldFiles, file.Path) {
		m.task.GoldFiles = append(m.task.GoldFiles, file.Path)
		count.files++
	}
	for name := range g.names {
		function := file.Path + "::" + name
		if functions[function] || !tasks.ValidGoldFunction(function) {
			continue // no answer can name the second, such as the method ` of Ruby
		}
		functions[function] = true
		m.task.GoldFunctions = append(m.task.GoldFunctions, function)
		count.functions++
	}
	m.languages[file.Language] = count
}

// goldOf finds the gold of one file. Files that are deleted or renamed are gold in any case.
func (b *Builder) goldOf(ctx context.Context, repository string, file *codeindex.File, f gitdiff.File) (gold, error) {
	moved := f.New != f.Old
	content, size, err := b.Repositories.Read(ctx, repository, file.Blob, maxSource)
	switch {
	case err != nil:
		return gold{}, dropped(err, NoMirror)
	case size > maxSource: // git takes even larger ones for binary
		return gold{code: moved || f.Binary || len(f.Hunks) > 0}, nil
	case f.Binary:
		return gold{code: moved}, nil
	}
	base := newText(string(content))
	head, edits, err := apply(base, f.Hunks)
	if err != nil {
		return gold{}, drop{NotApplied, f.Old + ": " + err.Error()}
	}
	c := change{language: file.Language, base: base, head: head, edits: edits, baseIndex: *file.Records}
	if f.New == "" {
		c.head, c.edits = text{}, []edit{{base: 0, end: len(base.lines)}}
	}
	if len(c.head.lines) > 0 {
		c.headIndex = b.Repositories.Parse(file.Language, f.New, []byte(head.String()))
	}
	g := c.gold()
	g.code = g.code || moved
	return g, nil
}

// newFunctions counts the functions of a file that the change adds.
func (b *Builder) newFunctions(f gitdiff.File) (n int) {
	language := codeindex.LanguageOf(f.New)
	if language == "" || f.Copied || f.Binary {
		return 0
	}
	head, _, err := apply(text{}, f.Hunks)
	if err != nil {
		return 0
	}
	for _, d := range b.Repositories.Parse(language, f.New, []byte(head.String())).Definitions {
		if d.Kind != codeindex.Class {
			n++
		}
	}
	return n
}

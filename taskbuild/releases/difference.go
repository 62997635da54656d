package releases

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"relabel/taskbuild"
)

// difference is what changed between two releases, apart for sources and tests.
type difference struct {
	patch     string
	testPatch string
	testFiles []string // changed files with tests that the newer release has
}

// pair are the trees of two releases in a repository.
type pair struct {
	repository
	base, next string // commits
	versions   []string
}

// difference sorts the changed files by the patterns of a recipe, and returns the differences. Source files in
// which only a version or a copyright changed are left out.
func (p pair) difference(ctx context.Context, r taskbuild.Recipe) (difference, *taskbuild.Refusal, error) {
	names, err := p.names(ctx)
	if err != nil {
		return difference{}, nil, err
	}
	kept, err := p.names(ctx, "--diff-filter=d")
	if err != nil {
		return difference{}, nil, err
	}
	var d difference
	var source, tests []string
	for _, name := range names {
		switch r.Kind(name) {
		case taskbuild.TestFile:
			tests = append(tests, name)
			if r.Runs(name) && slices.Contains(kept, name) {
				d.testFiles = append(d.testFiles, name)
			}
		case taskbuild.SourceFile:
			only, err := p.saysOnlyVersion(ctx, name)
			if err != nil {
				return d, nil, err
			}
			if !only {
				source = append(source, name)
			}
		}
	}
	if len(source) == 0 {
		return d, &taskbuild.Refusal{Reason: taskbuild.ReasonNoSource}, nil
	}
	if len(d.testFiles) == 0 {
		return d, &taskbuild.Refusal{Reason: taskbuild.ReasonNoTests}, nil
	}
	if d.patch, err = p.diff(ctx, source); err != nil {
		return d, nil, err
	}
	d.testPatch, err = p.diff(ctx, tests)
	return d, nil, err
}

// names lists the changed files.
func (p pair) names(ctx context.Context, options ...string) ([]string, error) {
	out, err := p.git(ctx, append(append([]string{"diff", "--no-renames", "--name-only", "-z"}, options...), p.base, p.next)...)
	return strings.FieldsFunc(out, func(c rune) bool { return c == 0 }), err
}

// diff returns the difference of files as a patch.
func (p pair) diff(ctx context.Context, paths []string, options ...string) (string, error) {
	args := append([]string{"diff", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--binary"}, options...)
	args = append(args, p.base, p.next, "--")
	for _, path := range paths {
		args = append(args, ":(top,literal)"+path)
	}
	return p.git(ctx, args...)
}

// saysOnlyVersion reports whether nothing but lines with a version or a copyright changed in a file.
func (p pair) saysOnlyVersion(ctx context.Context, path string) (bool, error) {
	patch, err := p.diff(ctx, []string{path}, "-U0")
	if err != nil {
		return false, err
	}
	words := []string{"version", "copyright"}
	for _, v := range p.versions {
		words = append(words, regexp.QuoteMeta(v))
	}
	mark := regexp.MustCompile("(?i)" + strings.Join(words, "|"))
	found := false
	for _, hunk := range strings.Split(patch, "\n@@")[1:] {
		for _, line := range strings.Split(hunk, "\n")[1:] {
			if line == "" || !strings.ContainsRune("+-", rune(line[0])) || strings.TrimSpace(line[1:]) == "" {
				continue
			}
			if !mark.MatchString(line) {
				return false, nil
			}
			found = true
		}
	}
	return found, nil
}

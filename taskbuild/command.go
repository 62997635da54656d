package taskbuild

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"
)

// TestsPlace is what the tests of a task replace in a test command.
const TestsPlace = "{tests}"

// command returns the test command for the test files of a task.
func (r Recipe) command(files []string) string {
	return strings.ReplaceAll(r.TestCommand, TestsPlace, strings.Join(r.Tests.arguments(files), " "))
}

// arguments returns test files as quoted arguments, without repetitions.
func (t TestArguments) arguments(files []string) []string {
	var words []string
	switch t {
	case TestsFiles:
		words = files
	case TestsPackages:
		for _, f := range files {
			words = append(words, "./"+strings.TrimSuffix(path.Dir(f), "."))
		}
	case TestsCargo:
		words = cargoTargets(files)
	case TestsMaven:
		var classes []string
		for _, f := range files {
			classes = append(classes, className(f))
		}
		slices.Sort(classes)
		words = []string{"-Dtest=" + strings.Join(slices.Compact(classes), ",")}
	case TestsGradle:
		for _, f := range files {
			words = append(words, "--tests="+className(f))
		}
	}
	words = slices.Clone(words)
	slices.Sort(words)
	words = slices.Compact(words)
	for i, w := range words {
		words[i] = Quote(w)
	}
	return words
}

// cargoTargets returns the targets of cargo that contain files: an integration test of its own for a file
// or a folder in tests/, otherwise the library.
func cargoTargets(files []string) []string {
	var words []string
	for _, f := range files {
		at := slices.Index(strings.Split(f, "/"), "tests")
		parts := strings.Split(f, "/")
		if at < 0 || at+1 >= len(parts) || slices.Contains(parts[:at], "src") {
			words = append(words, "--lib")
			continue
		}
		words = append(words, "--test="+strings.TrimSuffix(parts[at+1], ".rs"))
	}
	return words
}

// className is the name of the class in a file of Java, Kotlin, Groovy or Scala.
func className(file string) string {
	base := path.Base(file)
	return strings.TrimSuffix(base, path.Ext(base))
}

// plainWord matches words that need no quotes.
var plainWord = regexp.MustCompile(`^[\w./+:@%=,-]+$`)

// Quote quotes a word for bash.
func Quote(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// about describes a commit to the commands of a recipe: RELABEL_DATE is the day when it was made, and
// RELABEL_VERSION the version of the last tag before it, since the image has no tags.
func about(ctx context.Context, repository, commit string) (string, error) {
	date, err := gitWord(ctx, repository, "log", "-1", "--format=%cs", commit)
	if err != nil {
		return "", err
	}
	tag, err := gitWord(ctx, repository, "describe", "--tags", "--abbrev=0", commit)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	number := version.FindString(tag)
	if err != nil || number == "" {
		number = "1.0"
	}
	return "export RELABEL_DATE=" + Quote(date) + " RELABEL_VERSION=" + Quote(number) + "\n", nil
}

// version matches the number of a version in a tag.
var version = regexp.MustCompile(`\d+(\.\d+)*`)

// dependencyScript installs the dependencies, and removes the files of the repository itself and what Python
// compiled of them, since they may be those of another commit; what the commands have made stays.
func (r Recipe) dependencyScript(about string) string {
	return "set -eo pipefail\n" + about + strings.Join(r.Dependencies, "\n") + "\ncd " + Quote(r.Workdir) + `
git ls-files -z '*.py' | sed -z 's|[^/]*$|__pycache__|' | sort -zu | xargs -0 -r rm -rf --
git ls-files -z | xargs -0 -r rm -rf --
rm -rf .git
find . -mindepth 1 -type d -empty -delete
`
}

// buildScript runs the commands of Build, and lets git ignore the files that they, and those of
// Dependencies, have left, so that they do not become a part of patches. "" if there are no commands.
func (r Recipe) buildScript(about string) string {
	if len(r.Dependencies)+len(r.Build) == 0 {
		return ""
	}
	return "set -eo pipefail\n" + about + strings.Join(r.Build, "\n") + "\ncd " + Quote(r.Workdir) + `
git status --porcelain >/dev/null
mkdir -p .git/info
git -c core.quotePath=off ls-files --others --exclude-standard --directory | sed 's/[][*?\\]/\\&/g; s/^/\//' >>.git/info/exclude
git checkout -q --force HEAD -- .
`
}

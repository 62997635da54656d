package taskbuild

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path"
	"strings"

	"go.yaml.in/yaml/v2"

	"relabel"
)

// ReadRecipe reads a recipe file, YAML or JSON. Unknown fields and missing ones are errors that name the file
// and the field.
func ReadRecipe(file string) (Recipe, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return Recipe{}, err
	}
	var r Recipe
	in := yaml.NewDecoder(bytes.NewReader(text))
	in.SetStrict(true)
	if err := in.Decode(&r); err != nil && !errors.Is(err, io.EOF) {
		return Recipe{}, relabel.Errorf(relabel.CodeInvalid, "%s", strings.ReplaceAll(err.Error(), "\n", " ")).On(file)
	}
	if err := r.Check(); err != nil {
		var wrong *relabel.Error
		if errors.As(err, &wrong) {
			return Recipe{}, wrong.On(file + ": " + wrong.Field)
		}
		return Recipe{}, err
	}
	return r, nil
}

// Text returns the recipe as a recipe file.
func (r Recipe) Text() ([]byte, error) { return yaml.Marshal(r) }

// Check returns a CodeInvalid error for the first field that is wrong.
func (r Recipe) Check() error {
	wrong := func(field, format string, args ...any) error {
		return relabel.Errorf(relabel.CodeInvalid, format, args...).On(field)
	}
	switch {
	case r.Image == "" && r.Dockerfile == "":
		return wrong("image", "is missing: name an image, or a dockerfile")
	case r.Image != "" && r.Dockerfile != "":
		return wrong("dockerfile", "stands beside image: name one of them")
	case !path.IsAbs(r.Workdir) || path.Clean(r.Workdir) != r.Workdir || r.Workdir == "/":
		return wrong("workdir", "%q is not the absolute path of a folder below /", r.Workdir)
	case strings.TrimSpace(r.TestCommand) == "":
		return wrong("test_command", "is missing")
	case r.LogParser == "":
		return wrong("log_parser", "is missing")
	case len(r.TestFiles) == 0:
		return wrong("test_files", "is missing: without it nothing tells tests from source")
	case len(r.SourceFiles) == 0:
		return wrong("source_files", "is missing")
	case r.TestSeconds < 1:
		return wrong("test_seconds", "is %d: must be at least 1", r.TestSeconds)
	case r.BuildSeconds < 1:
		return wrong("build_seconds", "is %d: must be at least 1", r.BuildSeconds)
	case len(r.Dependencies) > 0 && len(r.Manifests) == 0:
		return wrong("manifests", "is missing: name the files that determine the dependencies")
	}
	return r.checkTests()
}

// checkTests checks that the test command and the form of its arguments fit.
func (r Recipe) checkTests() error {
	has := strings.Contains(r.TestCommand, TestsPlace)
	switch r.Tests {
	case TestsAll:
		if has {
			return relabel.Errorf(relabel.CodeInvalid, "is all, but test_command has %s", TestsPlace).On("tests")
		}
		return nil
	case TestsFiles, TestsPackages, TestsCargo, TestsMaven, TestsGradle:
		if !has {
			return relabel.Errorf(relabel.CodeInvalid, "has no %s, where the tests of a task are written", TestsPlace).On("test_command")
		}
		return nil
	}
	return relabel.Errorf(relabel.CodeInvalid, "%q is not one of all, files, go-packages, cargo-targets, maven-classes, gradle-tests", r.Tests).On("tests")
}

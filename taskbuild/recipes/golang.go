package recipes

import (
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"relabel/taskbuild"
)

// goImage has the newest Go, which also builds modules for older ones.
const goImage = "relabel/base-gotoolchain:bookworm"

// detectGo fits Go modules with tests.
func detectGo(t Tree) (taskbuild.Recipe, bool) {
	if !t.Has("go.mod") || !t.Any("**/*_test.go") {
		return taskbuild.Recipe{}, false
	}
	commands := []string{
		// Commits before the first go.mod get one that git does not track.
		"[ -e go.mod ] || { go mod init " + taskbuild.Quote(firstPath(t)) + " && go mod tidy; }",
		"go mod download",
		"go test -vet=off -count=1 -run '^$' ./... >/dev/null || true", // fills the build cache
	}
	if t.Any("vendor/modules.txt") {
		commands = commands[2:]
	}
	return taskbuild.Recipe{
		Name: "go", Image: goImage, Workdir: workdir, Manifests: []string{"go.mod", "go.sum", "vendor/modules.txt"}, Dependencies: commands,
		Environment: map[string]string{"GOFLAGS": "-modcacherw", "GOTOOLCHAIN": "local", "GOCACHE": "/var/cache/go-build", "GOMODCACHE": "/var/cache/go-mod"},
		TestCommand: "go test -v -vet=off -count=1 " + taskbuild.TestsPlace, Tests: taskbuild.TestsPackages, LogParser: "gotest",
		TestFiles: []string{"**/*_test.go", "**/testdata/**"}, RunFiles: []string{"**/*_test.go"}, SourceFiles: []string{"**/*.go", "**/*.tmpl", "**/*.s", "**/*.y"},
		Ignore: append([]string{"vendor/**"}, ignored...), TestSeconds: testSeconds, BuildSeconds: buildSeconds,
	}, true
}

// firstPath is the path by which a module's packages imported each other before it had a go.mod: without the major
// version.
func firstPath(t Tree) string {
	path := modfile.ModulePath([]byte(t.Text("go.mod")))
	prefix, major, ok := module.SplitPathVersion(path)
	if !ok || !strings.HasPrefix(major, "/") { // gopkg.in has .v2 also in the paths of imports
		return path
	}
	return prefix
}

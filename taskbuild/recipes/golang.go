package recipes

import "relabel/taskbuild"

// goImage has the newest Go, which also builds modules for older ones.
const goImage = "relabel/base-gotoolchain:bookworm"

// detectGo fits Go modules with tests.
func detectGo(t Tree) (taskbuild.Recipe, bool) {
	if !t.Has("go.mod") || !t.Any("**/*_test.go") {
		return taskbuild.Recipe{}, false
	}
	commands := []string{"go mod download", "go test -vet=off -count=1 -run '^$' ./... >/dev/null || true"} // the second fills the build cache
	if t.Any("vendor/modules.txt") {
		commands = commands[1:]
	}
	return taskbuild.Recipe{
		Name: "go", Image: goImage, Workdir: workdir, Manifests: []string{"go.mod", "go.sum", "vendor/modules.txt"}, Dependencies: commands,
		Environment: map[string]string{"GOFLAGS": "-modcacherw", "GOTOOLCHAIN": "local", "GOCACHE": "/var/cache/go-build", "GOMODCACHE": "/var/cache/go-mod"},
		TestCommand: "go test -v -vet=off -count=1 " + taskbuild.TestsPlace, Tests: taskbuild.TestsPackages, LogParser: "gotest",
		TestFiles: []string{"**/*_test.go", "**/testdata/**"}, RunFiles: []string{"**/*_test.go"}, SourceFiles: []string{"**/*.go", "**/*.tmpl", "**/*.s", "**/*.y"},
		Ignore: append([]string{"vendor/**"}, ignored...), TestSeconds: testSeconds, BuildSeconds: buildSeconds,
	}, true
}

package protect

import (
	"path"
	"strings"

	"relabel/envs/verify/tree"
)

// goSettings are files that say which packages and modules the go command builds.
var goSettings = map[string]bool{"go.mod": true, "go.sum": true, "go.work": true, "go.work.sum": true}

// steersGo drops what chooses the modules of go test and what is compiled into tests.
func (p protection) steersGo(c tree.Change) string {
	if p.parser != "gotest" {
		return ""
	}
	return goSteering(c.Path)
}

// goSteering says how a file steers the go command or the tests; "" where it does not.
func goSteering(name string) string {
	base := path.Base(name)
	switch {
	case goSettings[base]:
		return "chooses the modules that go test builds"
	case strings.Contains("/"+name, "/vendor/"):
		return "part of a vendored module"
	case strings.HasSuffix(base, "_test.go"):
		return "compiled into the tests"
	case strings.HasSuffix(base, ".syso"):
		return "linked into the tests"
	}
	return ""
}

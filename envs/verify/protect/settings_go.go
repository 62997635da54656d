package protect

import (
	"path"
	"regexp"
	"strings"

	"golang.org/x/mod/modfile"

	"relabel/envs/verify/tree"
	"relabel/testlog"
)

// steersGo drops files that select modules for go test or are compiled into tests.
func (p protection) steersGo(c tree.Change) string {
	base := path.Base(c.Path)
	switch {
	case p.runner != testlog.Go:
		return ""
	case base == "go.mod", base == "go.sum", base == "go.work", base == "go.work.sum":
		return "chooses the modules that go test builds"
	case strings.Contains("/"+c.Path, "/vendor/"):
		return "part of a vendored module"
	case strings.HasSuffix(base, "_test.go"):
		return "compiled into the tests"
	case strings.HasSuffix(base, ".syso"):
		return "linked into the tests"
	}
	return ""
}

// goRelease matches the names of released toolchains.
var goRelease = regexp.MustCompile(`^go1\.\d+(\.\d+)?$`)

// goModSteering returns the settings of a go.mod that select modules and the toolchain, without
// requirements.
func goModSteering(_ protection, content []byte) map[string]any {
	file, err := modfile.Parse("go.mod", content, nil)
	if err != nil {
		return nil
	}
	found := map[string]any{}
	if file.Module != nil {
		found["module"] = file.Module.Mod.Path
	}
	for _, x := range file.Exclude {
		found["exclude "+x.Mod.String()] = true
	}
	for _, t := range file.Tool {
		found["tool "+t.Path] = true
	}
	for _, i := range file.Ignore {
		found["ignore "+i.Path] = true
	}
	steersGoBuild(found, file.Replace, file.Godebug, file.Toolchain)
	return found
}

// goWorkSteering returns the settings of a go.work that select modules and the toolchain.
func goWorkSteering(_ protection, content []byte) map[string]any {
	file, err := modfile.ParseWork("go.work", content, nil)
	if err != nil {
		return nil
	}
	found := map[string]any{}
	for _, u := range file.Use {
		found["use "+u.Path] = true
	}
	steersGoBuild(found, file.Replace, file.Godebug, file.Toolchain)
	return found
}

// steersGoBuild adds the settings that both files may contain.
func steersGoBuild(found map[string]any, replaced []*modfile.Replace, debug []*modfile.Godebug, toolchain *modfile.Toolchain) {
	for _, r := range replaced {
		found["replace "+r.Old.String()] = r.New.String()
	}
	for _, g := range debug {
		found["godebug "+g.Key] = g.Value
	}
	if toolchain != nil && !goRelease.MatchString(toolchain.Name) {
		found["toolchain"] = toolchain.Name
	}
}

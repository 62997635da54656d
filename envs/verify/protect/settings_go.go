package protect

import (
	"regexp"

	"golang.org/x/mod/modfile"
)

// goRelease matches the name of a toolchain as it is released.
var goRelease = regexp.MustCompile(`^go1\.\d+(\.\d+)?$`)

// goModSteering returns what chooses modules and toolchain in a go.mod, but for the modules
// that it requires: which of those the image has is not for the submission to say.
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

// goWorkSteering returns what chooses modules and toolchain in a go.work.
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

// steersGoBuild adds what both files may hold.
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

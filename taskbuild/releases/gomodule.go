package releases

import (
	"context"
	"encoding/json"
	"strings"

	"relabel"
)

// downloadModule gets the zip file of a module. go checks it against the checksum database.
func downloadModule(ctx context.Context, dir string, r release, _ []string) ([]string, error) {
	out, err := run(ctx, dir, []string{"GO111MODULE=on", "GOFLAGS=-mod=mod", "GOWORK=off"}, "go", "mod", "download", "-json", r.name+"@"+r.version)
	var module struct{ Zip, Error string }
	if json.Unmarshal(out, &module) == nil && module.Error != "" {
		return nil, relabel.Errorf(relabel.CodeUnavailable, "go mod download failed: %s", lastText([]byte(module.Error)))
	}
	if err != nil {
		return nil, err
	}
	if module.Zip == "" {
		return nil, relabel.Errorf(relabel.CodeUnavailable, "go mod download names no zip file: %s", lastText(out))
	}
	return []string{module.Zip}, nil
}

// unpackModule unpacks a module's zip file, whose files have the module and the version before their path.
func unpackModule(r release, archives []string, into string) error {
	return unpack(archives[0], into, func(name string) (string, bool) {
		return strings.CutPrefix(name, r.name+"@"+r.version+"/")
	})
}

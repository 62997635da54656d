package releases

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"relabel"
)

// fetch returns the paths of the archives of a release with these hashes. It downloads those that are not in
// the folder of archives, where each is a file named after its hash. work is for temporary files on the same disk;
// field is the hashes' field in the list.
func fetch(ctx context.Context, work, folder string, e Entry, version, field string, pins Hashes) ([]string, error) {
	paths := make([]string, len(pins))
	missing := len(pins) == 0
	for i, pin := range pins {
		paths[i] = filepath.Join(folder, pin)
		if _, err := os.Stat(paths[i]); err != nil {
			missing = true
		}
	}
	if !missing {
		return paths, nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	dir := filepath.Join(work, "download")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	registry := registries[e.Ecosystem]
	found, err := registry.download(ctx, dir, release{e.Package, version}, pins)
	if err != nil {
		return nil, err
	}
	if len(found) < len(registry.archives) {
		return nil, relabel.Errorf(relabel.CodeUnavailable, "%s %s has no %s", e.Package, version, registry.archives[len(found)])
	}
	return paths, keep(found[:len(registry.archives)], paths, filepath.Join(work, "copy"), field, pins)
}

// keep copies downloaded archives to their paths, if they have the pinned hashes. The clients keep the originals.
func keep(found, paths []string, aside, field string, pins Hashes) error {
	var sums []string
	for _, file := range found {
		sum, err := sha256Of(file)
		if err != nil {
			return err
		}
		sums = append(sums, sum)
	}
	if len(pins) == 0 {
		return relabel.Errorf(relabel.CodeInvalid, "is required; the registry has %s", strings.Join(sums, ", ")).On(field)
	}
	for i, sum := range sums {
		if sum != pins[i] {
			return relabel.Errorf(relabel.CodeInvalid, "is %s, but the registry has %s", pins[i], sum).On(field)
		}
	}
	for i := range found {
		if err := copyFile(found[i], aside); err != nil {
			return err
		}
		if err := os.Rename(aside, paths[i]); err != nil {
			return err
		}
	}
	return nil
}

// copyFile copies a file.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// sha256Of returns a file's hash in hexadecimal.
func sha256Of(file string) (string, error) {
	in, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer in.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, in); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

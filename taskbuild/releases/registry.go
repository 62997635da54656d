package releases

import (
	"context"
	"os"
	"path/filepath"
)

// Ecosystem is a registry of packages with its client.
type Ecosystem string

// The ecosystems.
const (
	PyPI   Ecosystem = "pypi"   // source distributions, by pip
	NPM    Ecosystem = "npm"    // packages of Node.js, by npm
	Crates Ecosystem = "crates" // packages of Rust, by cargo
	Go     Ecosystem = "go"     // Go modules, by go
	Maven  Ecosystem = "maven"  // jars with sources and with sources of tests, by mvn
)

// registry is what differs between the ecosystems.
type registry struct {
	// archives tells what the archives of a release are, in the order of their hashes.
	archives []string
	// download asks the registry's client for the archives of a release, and returns their paths, in the
	// same order. Files that it makes are in the folder dir. pins are the hashes, if the list has them.
	download func(ctx context.Context, dir string, r release, pins []string) ([]string, error)
	// unpack unpacks them into an empty folder.
	unpack func(r release, archives []string, into string) error
}

// registries are all ecosystems.
var registries = map[Ecosystem]registry{
	PyPI:   {[]string{"source distribution"}, downloadPyPI, unpackOne},
	NPM:    {[]string{"package"}, downloadNPM, unpackOne},
	Crates: {[]string{"crate"}, downloadCrate, unpackOne},
	Go:     {[]string{"zip file of the module"}, downloadModule, unpackModule},
	Maven:  {[]string{"pom", "jar with sources", "jar with sources of tests"}, downloadMaven, unpackMaven},
}

// release is one release of a package.
type release struct {
	name    string // as its registry writes it
	version string
}

// unpackOne unpacks an archive that has all files in one folder.
func unpackOne(_ release, archives []string, into string) error {
	return unpack(archives[0], into, withoutFirstFolder)
}

// downloadPyPI gets a source distribution. pip asks the package's own code for its name before it keeps
// the archive; it checks the hash first.
func downloadPyPI(ctx context.Context, dir string, r release, pins []string) ([]string, error) {
	wanted := r.name + "==" + r.version
	if len(pins) > 0 {
		wanted += " --hash=sha256:" + pins[0]
	}
	list, into := filepath.Join(dir, "wanted.txt"), filepath.Join(dir, "archive")
	if err := os.WriteFile(list, []byte(wanted+"\n"), 0o644); err != nil {
		return nil, err
	}
	if _, err := run(ctx, dir, nil, "python3", "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps",
		"--no-binary", ":all:", "-d", into, "-r", list); err != nil {
		return nil, err
	}
	return filepath.Glob(filepath.Join(into, "*"))
}

// downloadNPM gets a package. npm runs no script of it.
func downloadNPM(ctx context.Context, dir string, r release, _ []string) ([]string, error) {
	if _, err := run(ctx, dir, nil, "npm", "pack", "--silent", "--ignore-scripts", r.name+"@"+r.version); err != nil {
		return nil, err
	}
	return filepath.Glob(filepath.Join(dir, "*.tgz"))
}

// downloadCrate gets a crate. cargo downloads what a package depends on, so that there is an empty package
// that depends on the crate.
func downloadCrate(ctx context.Context, dir string, r release, pins []string) ([]string, error) {
	manifest := "[package]\nname = \"empty\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[lib]\npath = \"empty.rs\"\n" +
		"[dependencies]\n" + r.name + " = \"=" + r.version + "\"\n"
	for name, text := range map[string]string{"Cargo.toml": manifest, "empty.rs": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	if _, err := run(ctx, dir, nil, "cargo", "fetch", "--quiet"); err != nil {
		return nil, err
	}
	home := os.Getenv("CARGO_HOME")
	if home == "" {
		home = filepath.Join(os.Getenv("HOME"), ".cargo")
	}
	found, err := filepath.Glob(filepath.Join(home, "registry", "cache", "*", r.name+"-"+r.version+".crate"))
	return pinnedFirst(found, pins), err
}

// pinnedFirst returns the first file that has the pinned hash, or otherwise all: several registries may
// have a crate of the same name.
func pinnedFirst(files, pins []string) []string {
	for _, file := range files {
		if sum, err := sha256Of(file); err == nil && len(pins) > 0 && sum == pins[0] {
			return []string{file}
		}
	}
	return files
}

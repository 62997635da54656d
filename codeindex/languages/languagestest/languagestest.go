// Package languagestest builds the programs that parse, for tests.
package languagestest

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"relabel/codeindex/languages"
)

// Parsers returns the parsers with the programs of this source. They are closed at the test's end.
// Without a C compiler it skips the test.
func Parsers(t testing.TB) *languages.Parsers {
	t.Helper()
	p, missing := languages.Open(Folder(t))
	t.Cleanup(p.Close)
	if len(missing) > 0 {
		t.Fatal(missing)
	}
	return p
}

var built = sync.OnceValues(build)

// Folder returns the folder of the programs of this source, which it builds if needed. Without a C
// compiler it skips the test.
func Folder(t testing.TB) string {
	t.Helper()
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("relabel-parsers cannot be built: no C compiler is installed (gcc, libc6-dev)")
	}
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// build builds to one folder for all test binaries of a checkout. Each renames its own files to it;
// all are equal, since they have the same source.
func build() (string, error) {
	module, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find this source: %w", err)
	}
	root := filepath.Dir(strings.TrimSpace(string(module)))
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("relabel-test-%d", os.Getuid()), fmt.Sprintf("%x", sha256.Sum256(module))[:8])
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	aside := filepath.Join(dir, fmt.Sprintf("parser-%d", os.Getpid()))
	goBuild := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", aside, "relabel/cmd/relabel-ecmascript")
	goBuild.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := goBuild.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build relabel-ecmascript: %w\n%s", err, out)
	}
	if err := os.Rename(aside, filepath.Join(dir, "relabel-ecmascript")); err != nil {
		return "", err
	}
	script := exec.Command(filepath.Join(root, "scripts/parsers.sh"))
	script.Stderr = os.Stderr
	path, err := script.Output()
	if err != nil {
		return "", fmt.Errorf("build relabel-parsers: %w", err)
	}
	if err := os.Symlink(strings.TrimSpace(string(path)), aside); err != nil {
		return "", err
	}
	return dir, os.Rename(aside, filepath.Join(dir, "relabel-parsers"))
}

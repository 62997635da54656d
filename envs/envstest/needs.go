// Package envstest is the conformance suite of envs.Host and envs.Sandbox. It also provides the base
// image and the sandboxd binary for tests with sandboxes.
package envstest

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/docker/docker/client"
)

// baseImage is what scripts/base-image.sh builds: git, python3, pytest and bash.
const baseImage = "relabel/base:bookworm"

// Image returns the base image of the tests' sandboxes. It fails the test, with advice, if the image
// is missing.
func Image(t testing.TB) string {
	t.Helper()
	return MadeImage(t, baseImage)
}

// MadeImage returns name, an image that a script of this repository makes. It fails the test, with
// advice, if the image is missing.
func MadeImage(t testing.TB, name string) string {
	t.Helper()
	engine, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	if err != nil {
		t.Fatalf("no Docker client: %v", err)
	}
	defer engine.Close()
	if _, err := engine.ImageInspect(t.Context(), name); err != nil {
		t.Fatalf("the image %s is needed: build it with `make base-image runner-images` (it needs a Docker engine that this user may access): %v", name, err)
	}
	return name
}

// built is the sandboxd of this test binary.
var built = sync.OnceValues(buildSandboxd)

// Sandboxd builds the sandboxd of this source once and returns its path. RELABEL_TEST_SANDBOXD names one
// that is already built.
func Sandboxd(t testing.TB) string {
	t.Helper()
	if path := os.Getenv("RELABEL_TEST_SANDBOXD"); path != "" {
		return path
	}
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// buildSandboxd builds to one path for all test binaries of a checkout. Each renames its own file to
// that path; all are equal, since they have the same source.
func buildSandboxd() (string, error) {
	module, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find this source: %w", err)
	}
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("relabel-test-%d", os.Getuid()), fmt.Sprintf("%x", sha256.Sum256(module))[:8])
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	aside := filepath.Join(dir, fmt.Sprintf("sandboxd-%d", os.Getpid()))
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", aside, "relabel/cmd/sandboxd")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build sandboxd: %w\n%s", err, out)
	}
	path := filepath.Join(dir, "sandboxd")
	return path, os.Rename(aside, path)
}

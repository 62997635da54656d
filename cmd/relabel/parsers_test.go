package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDoctorSaysWhichLanguagesAreIndexed(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("RELABEL_PARSERS", dir)
	for _, step := range []struct {
		write   string
		mark    string // of the program's version
		want    string
		missing int
	}{
		{"", "", "indexed: python, go; not indexed: javascript, typescript, java, rust, c, cpp, ruby, php", 2},
		{"relabel-ecmascript", "relabel-ecmascript/2", "indexed: python, go, javascript, typescript; not indexed: java, rust, c, cpp, ruby, php", 1},
		{"relabel-parsers", "relabel-parsers/1", "indexed: python, go, javascript, typescript, java, rust, c, cpp, ruby, php", 0},
	} {
		if step.write != "" {
			if err := os.WriteFile(filepath.Join(dir, step.write), []byte(step.mark), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		got, rest, _ := strings.Cut(checkParsers(), "\n")
		if got != step.want || strings.Count(rest, "does not exist: build it with `make build`") != step.missing {
			t.Errorf("doctor says %q and %q, want %q and %d programs that are missing", got, rest, step.want, step.missing)
		}
	}
}

package protect

import (
	"bufio"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"relabel"
	"relabel/envs/verify/tree"
)

// TestNoGoldPatchIsTouched holds the rules against the changes between two releases of real
// packages, those of the demo among them. testdata/gold names for each the sources that were
// added (A), modified (M) and deleted (D), files with tests (T) and files of the base (B),
// and modules.txt what an image with pytest has installed.
func TestNoGoldPatchIsTouched(t *testing.T) {
	files, err := filepath.Glob("testdata/gold/*.txt")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	installed := goldLines(t, "testdata/gold/modules.txt")
	for _, file := range files {
		if path.Base(file) == "modules.txt" {
			continue
		}
		r, task := goldRelease(goldLines(t, file))
		r.Facts = tree.ParseFacts("name " + strings.Join(installed, "\x00name ") + "\x00name " + strings.TrimSuffix(path.Base(file), ".txt"))
		if len(r.Changes) == 0 {
			t.Errorf("%s names no change", file)
		}
		if dropped := protectionOf(task, r).split(r.Changes); len(dropped) > 0 {
			t.Errorf("%s: dropped %v", file, dropped)
		}
	}
}

// goldRelease makes a reading and a task of the lines of a file.
func goldRelease(lines []string) (tree.Reading, relabel.Task) {
	var r tree.Reading
	task := relabel.Task{Workdir: "/testbed", TestCmd: "PYTHONPATH=. python3 -m pytest -rA tests/", LogParser: "pytest"}
	var base []string
	for _, line := range lines {
		kind, name, _ := strings.Cut(line, " ")
		c := tree.Change{Path: name, OldMode: "100644", NewMode: "100644"}
		switch kind {
		case "A":
			c.OldMode = tree.NoMode
		case "D":
			c.NewMode = tree.NoMode
		case "T":
			task.FailToPass = append(task.FailToPass, name+"::test_it")
			continue
		case "B":
			base = append(base, name)
			continue
		case "M":
		default:
			continue
		}
		if !c.Added() {
			base = append(base, name)
		}
		r.Changes = append(r.Changes, c)
	}
	r.Base = tree.NewPathSet(base)
	return r, task
}

func goldLines(t *testing.T, file string) []string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines []string
	for scanner := bufio.NewScanner(f); scanner.Scan(); {
		lines = append(lines, scanner.Text())
	}
	return lines
}

package verify

import (
	"bufio"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"relabel"
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
		r.facts = parseFacts("name " + strings.Join(installed, "\x00name ") + "\x00name " + strings.TrimSuffix(path.Base(file), ".txt"))
		if len(r.changes) == 0 {
			t.Errorf("%s names no change", file)
		}
		if dropped := protectionOf(task, r).split(r.changes); len(dropped) > 0 {
			t.Errorf("%s: dropped %v", file, dropped)
		}
	}
}

// goldRelease makes a reading and a task of the lines of a file.
func goldRelease(lines []string) (reading, relabel.Task) {
	var r reading
	task := relabel.Task{Workdir: "/testbed", TestCmd: "PYTHONPATH=. python3 -m pytest -rA tests/", LogParser: "pytest"}
	var base []string
	for _, line := range lines {
		kind, name, _ := strings.Cut(line, " ")
		c := change{path: name, oldMode: "100644", newMode: "100644"}
		switch kind {
		case "A":
			c.oldMode = noMode
		case "D":
			c.newMode = noMode
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
		if !c.added() {
			base = append(base, name)
		}
		r.changes = append(r.changes, c)
	}
	r.base = newPathSet(base)
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

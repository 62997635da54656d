package relabel_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// quoted is a folder or a test as docs/faults.md names it.
var quoted = regexp.MustCompile("`([^`]+)`")

// TestEveryFaultHasItsTests holds docs/faults.md to what is there: each row names tests,
// and each of those stands in the folder that is named before it.
func TestEveryFaultHasItsTests(t *testing.T) {
	page, err := os.ReadFile("docs/faults.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, line := range strings.Split(string(page), "\n") {
		cells := strings.Split(line, " | ")
		if len(cells) != 3 || strings.HasPrefix(line, "| **") || strings.HasPrefix(line, "| what") {
			continue
		}
		rows++
		folder, tests := "", 0
		for _, name := range quoted.FindAllStringSubmatch(cells[2], -1) {
			if !strings.HasPrefix(name[1], "Test") {
				folder = name[1]
				continue
			}
			if tests++; !hasTest(t, folder, name[1]) {
				t.Errorf("%q has no %s", folder, name[1])
			}
		}
		if tests == 0 {
			t.Errorf("no test is named in: %s", line)
		}
	}
	if rows < 30 {
		t.Errorf("%d rows were found", rows)
	}
}

func hasTest(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name+"(t *testing.T) {") {
			return true
		}
	}
	return false
}

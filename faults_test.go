package relabel_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// quoted is a folder or a test in a list of docs/faults.md.
var quoted = regexp.MustCompile("`([^`]+)`")

// TestEveryFaultHasItsTests checks docs/faults.md: each fault (a heading of level three) lists
// tests, and each test exists in the folder that the list names before it.
func TestEveryFaultHasItsTests(t *testing.T) {
	page, err := os.ReadFile("docs/faults.md")
	if err != nil {
		t.Fatal(err)
	}
	faults := strings.Split(string(page), "\n### ")[1:]
	for _, fault := range faults {
		heading, text, _ := strings.Cut(fault, "\n")
		_, list, _ := strings.Cut(text, "\nTests:\n")
		list, _, _ = strings.Cut(list, "\n## ")
		folder, tests := "", 0
		for _, name := range quoted.FindAllStringSubmatch(list, -1) {
			if !strings.HasPrefix(name[1], "Test") {
				folder = name[1]
				continue
			}
			if tests++; !hasTest(t, folder, name[1]) {
				t.Errorf("%s: %q has no %s", heading, folder, name[1])
			}
		}
		if tests == 0 {
			t.Errorf("no test is listed under %q", heading)
		}
	}
	if len(faults) < 80 {
		t.Errorf("docs/faults.md has %d faults", len(faults))
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

package relabel_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const (
	maxColumns  = 200 // of a line of a document, in characters
	maxLongRows = 48  // rows of tables over that, in all documents together
)

var (
	fences  = regexp.MustCompile("(?s)```.*?```")
	links   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
)

// documents returns the paths of all documents.
func documents(t *testing.T) []string {
	t.Helper()
	all := []string{"README.md", "CHANGELOG.md", "examples/train/README.md", "examples/train/learn/README.md", "policy/README.md", "envs/verify/forgeries/README.md"}
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) < 15 {
		t.Fatalf("%d pages in docs: %v", len(pages), err)
	}
	return append(all, pages...)
}

func readDocument(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// anchors returns the anchors of a document's headings, as GitHub derives them.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, line := range strings.Split(fences.ReplaceAllString(text, ""), "\n") {
		if !strings.HasPrefix(line, "#") {
			continue
		}
		heading := dropped.ReplaceAllString(strings.ToLower(strings.TrimSpace(strings.TrimLeft(line, "#"))), "")
		all[strings.ReplaceAll(heading, " ", "-")] = true
	}
	return all
}

// TestLinksOfDocumentsLeadSomewhere checks that the files and headings which documents link to exist.
func TestLinksOfDocumentsLeadSomewhere(t *testing.T) {
	for _, path := range documents(t) {
		for _, link := range links.FindAllStringSubmatch(fences.ReplaceAllString(readDocument(t, path), ""), -1) {
			file, anchor, _ := strings.Cut(link[1], "#")
			if strings.Contains(link[1], "://") {
				continue
			}
			target := path
			if file != "" {
				target = filepath.Join(filepath.Dir(path), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s: %v", path, link[1], err)
				continue
			}
			if anchor != "" && !anchors(readDocument(t, target))[anchor] {
				t.Errorf("%s links to %s, which has no such heading", path, link[1])
			}
		}
	}
}

// TestLinesOfDocumentsAreShort checks the length of lines.
func TestLinesOfDocumentsAreShort(t *testing.T) {
	rows := 0
	for _, path := range documents(t) {
		for i, line := range strings.Split(readDocument(t, path), "\n") {
			switch {
			case len([]rune(line)) <= maxColumns:
			case strings.HasPrefix(line, "|"):
				rows++
			default:
				t.Errorf("%s:%d has %d characters", path, i+1, len([]rune(line)))
			}
		}
	}
	if rows > maxLongRows {
		t.Errorf("%d rows of tables have over %d characters", rows, maxColumns)
	}
}

// TestFilesInTheTableOfChangesExist checks the table of docs/architecture.md that says where to
// change what: its folders exist, and so do its files, below the folder of the row or the root.
func TestFilesInTheTableOfChangesExist(t *testing.T) {
	_, table, _ := strings.Cut(readDocument(t, "docs/architecture.md"), "| change | folder | file |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := 0
	for _, row := range strings.Split(table, "\n")[1:] {
		rows++
		cells := strings.Split(row, " | ")
		folder := strings.Trim(cells[1], "`")
		for _, name := range quoted.FindAllStringSubmatch(strings.Join(cells[1:], " "), -1) {
			if !strings.Contains(name[1], "/") && !strings.Contains(name[1], ".") {
				continue
			}
			_, atRoot := os.Stat(name[1])
			if _, below := os.Stat(filepath.Join(folder, name[1])); atRoot != nil && below != nil {
				t.Errorf("%s is neither below %s nor the root", name[1], folder)
			}
		}
	}
	if rows < 12 {
		t.Errorf("the table has %d rows", rows)
	}
}

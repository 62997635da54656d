package relabel_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// replacedWords are private phrases and names that readers had to guess, with what to write
// instead. Each matches at the boundaries of words, also across a line break of a comment or
// a document.
var replacedWords = []struct{ phrase, better string }{
	{"that is not heard of keeps", "Lease length: a worker silent for this long loses its trajectories."},
	{"whose sandboxes are made ready meanwhile", "Extra sandboxes to prepare while all slots are busy."},
	{"turns in hand may take to finish", "On shutdown, how long running turns may take before they are cancelled."},
	{"with less nothing new is begun", "Below this no new work is claimed"},
	{"who works rolls out at least one", "--rollouts must be at least 1"},
	{"Whose labels leave", "Export labels from this policy"},
	{"the rest is left out and counted", "the rest skipped and counted"},
	{"What becomes of a trunk over that", "When a row exceeds --max-length"},
	{"has a multiple of so many files", "The number of files per view is a multiple of this"},
	{"evaluations never leave", "are never exported"},
	{"the others are not told", "cannot publish worker activity"},
	{"another worker's: let go", "lease lost (cancelled or taken over)"},
	{"what is too old could not be deleted", "purging old events failed"},
	{"a second signal cuts", "signal again to cancel"},
	{"Say what is missing on this machine", "Check prerequisites and show how to install what is missing."},
	{"a task a line", "one task per line"},
	{"one bad line and nothing", "imported completely or not at all"},
	{"Begin with the labels", "Start labelling now"},
	{"belongs into the Authorization header", "send the token in the Authorization header, not in the URL"},
	{"as much of this as may be", "too many concurrent requests; retry later"},
	{"How often it is drawn anew", "Refresh interval."},
	{"a sandbox lives on", "Remove a sandbox after this long without contact from its worker."},
	{"Work out again", "Update estimate"},
	{"Cancel for good", "Cancel permanently"},
	{"Make it again", "Reproduce"},
	{"REST has all of these too", "All steps are also available over REST"},
	{"strikes at random", "injects random faults"},
	{"the books balance", "counters stay consistent"},
	{"That is as good as root", "This equals root access"},
	{"turned at 16 MiB", "rotated at 16 MiB"},
	{"a Postgres that somebody looks after", "a managed Postgres"},
	{"deeds keep what was chosen", "forms keep valid input when one field is rejected"},
	{"deed", "operation"},
	{"deeds", "operations"},
	{"ailing", "failing"},
	{"rouse", "wake"},
	{"expel", "evict"},
	{"house_test", "imports_test"},
	{"asked back", "release requested"},
	{"not to be had", "not available"},
	{"in vain", "failed"},
	{"tried again", "retried"},
	{"came to nothing", "failed"},
	{"given back", "released"},
	{"let go", "released"},
	{"so many", "that many, or the number"},
}

// TestPlainWordsAreUsed holds the words of code, pages and documents.
func TestPlainWordsAreUsed(t *testing.T) {
	for _, name := range textFiles(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range replacedIn(string(text)) {
			t.Errorf("%s: %s", name, found)
		}
	}
}

// textFiles lists code, templates, scripts and documents, but not this list itself, test data,
// what others wrote, and what is built.
func textFiles(t *testing.T) (names []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{".git", "bin", "testdata", "vendor", "shared"}, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if slices.Contains([]string{".go", ".md", ".html", ".js", ".sh", ".py"}, filepath.Ext(name)) && name != "words_test.go" {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// breaks are line breaks with what begins the next line of a comment.
var breaks = regexp.MustCompile(`\s*\n\s*(//|#|\*)?\s*`)

// replacedIn returns what of replacedWords a text has, one sentence each.
func replacedIn(text string) (found []string) {
	text = breaks.ReplaceAllString(text, " ")
	for i, w := range replacedWords {
		// The search for the plain text is fast; few texts need the boundaries.
		if strings.Contains(text, w.phrase) && replaced[i].MatchString(text) {
			found = append(found, `"`+w.phrase+`" is private: write "`+w.better+`"`)
		}
	}
	return found
}

var replaced = func() (all []*regexp.Regexp) {
	for _, w := range replacedWords {
		all = append(all, regexp.MustCompile(`\b`+regexp.QuoteMeta(w.phrase)+`\b`))
	}
	return all
}()

// TestReplacedWordsAreFound proves that the check above can fail.
func TestReplacedWordsAreFound(t *testing.T) {
	for _, w := range replacedWords {
		for _, text := range []string{
			"before " + w.phrase + " after",
			"// " + strings.ReplaceAll(w.phrase, " ", "\n\t// ") + ".",
			"<p>" + strings.ReplaceAll(w.phrase, " ", "\n  ") + "</p>",
		} {
			found := false
			for _, f := range replacedIn(text) {
				found = found || strings.Contains(f, `"`+w.phrase+`"`)
			}
			if !found {
				t.Errorf("not found in %q", text)
			}
		}
	}
	if found := replacedIn("indeed, the unfailing storyteller"); found != nil {
		t.Errorf("parts of words are refused: %v", found)
	}
}

package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestEntriesOfAnExclusionListAreIDsAndRepositories(t *testing.T) {
	file := filepath.Join(t.TempDir(), "list")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("# Verified\nastropy__astropy-1 # twice\n\nastropy__astropy-1\nhttps://github.com/a/b.git\n")
	if entries, err := readEntries(file); err != nil || !slices.Equal(entries, []string{"astropy__astropy-1", "https://github.com/a/b.git"}) {
		t.Errorf("%q, %v", entries, err)
	}
	for _, wrong := range []string{`{"instance_id": "a"}`, "a b c", "PAR1\x00"} {
		write("a__b-1\n" + wrong + "\n")
		if _, err := readEntries(file); err == nil || !strings.Contains(err.Error(), "list: line 2: is neither an instance id nor a repository") {
			t.Errorf("%q gave %v", wrong, err)
		}
	}
}

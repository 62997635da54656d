package gitdiff

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestAReversedDiffUndoesIt compares with git: what a diff makes of a tree, its reverse takes back.
func TestAReversedDiffUndoesIt(t *testing.T) {
	content := rapid.SliceOfN(rapid.SampledFrom([]string{"", "x", "-- a/x", "++ b/x", "@@ -1 +1 @@", " y", "\\ z", "é", "w\r", "\x00\x01"}), 0, 12)
	names := []string{"a.py", "dir/b.py", "with space.txt", "ünïcode.py", "quote\".py"}
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "reverse")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		git(t, dir, "", "init", "-q")
		for _, name := range names {
			if rapid.Bool().Draw(t, "before "+name) {
				write(t, dir, name, content.Draw(t, "old "+name), rapid.Bool().Draw(t, "old mode "+name))
			}
		}
		git(t, dir, "", "add", "-A")
		before := strings.TrimSpace(git(t, dir, "", "write-tree"))
		for _, name := range names {
			switch rapid.IntRange(0, 3).Draw(t, "change "+name) {
			case 0:
				write(t, dir, name, content.Draw(t, "new "+name), rapid.Bool().Draw(t, "new mode "+name))
			case 1:
				_ = os.Remove(filepath.Join(dir, name))
			case 2:
				_ = os.Rename(filepath.Join(dir, name), filepath.Join(dir, "moved-"+filepath.Base(name)))
			}
		}
		git(t, dir, "", "add", "-A")
		after := strings.TrimSpace(git(t, dir, "", "write-tree"))
		diff := git(t, dir, "", "diff-tree", "-r", "-p", "--binary", "--no-color", "-M", before, after)
		if diff == "" {
			return
		}
		reversed, err := Reverse(diff)
		if err != nil {
			t.Fatalf("%v of\n%s", err, diff)
		}
		git(t, dir, reversed, "apply", "--cached", "--whitespace=nowarn")
		if got := strings.TrimSpace(git(t, dir, "", "write-tree")); got != before {
			t.Fatalf("the tree is %s, want %s, after\n%s\nof\n%s", got, before, reversed, diff)
		}
		if again, err := Reverse(reversed); err != nil || again != diff {
			t.Fatalf("reversed twice it is %v\n%s\nnot\n%s", err, again, diff)
		}
	})
}

func write(t *rapid.T, dir, name string, lines []string, executable bool) {
	path := filepath.Join(dir, name)
	mode := os.FileMode(0o644)
	if executable {
		mode = 0o755
	}
	_ = os.Remove(path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), mode); err != nil {
		t.Fatal(err)
	}
}

func git(t *rapid.T, dir, stdin string, args ...string) string {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v: %s\n%s", args, err, said.String(), stdin)
	}
	return string(out)
}

func TestDiffsThatCannotBeUndoneAreRefused(t *testing.T) {
	for diff, want := range map[string]string{
		"diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n":          "copies a file",
		"diff --git a/p b/p\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKcmZ\n\n": "cannot be undone",
		"hello": "names no file",
	} {
		if _, err := Reverse(diff); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", diff, err)
		}
	}
}

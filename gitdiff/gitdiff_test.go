package gitdiff

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDiffsNameTheirFiles(t *testing.T) {
	for name, c := range map[string]struct {
		diff string
		want [][2]string
	}{
		"git":           {"diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n a\n+b\n", [][2]string{{"x", "x"}}},
		"plain":         {"--- x.orig\t2024-01-01\n+++ x\t2024-01-02\n@@ -1 +1 @@\n-a\n+b", [][2]string{{"x.orig", "x"}}},
		"new, deleted":  {"diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+b\ndiff --git a/d b/d\ndeleted file mode 100644\n--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n", [][2]string{{"", "n"}, {"d", ""}}},
		"empty new":     {"diff --git a/pkg/__init__.py b/pkg/__init__.py\nnew file mode 100644\nindex 0..0\n", [][2]string{{"", "pkg/__init__.py"}}},
		"renamed":       {"diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n", [][2]string{{"old", "new"}}},
		"quoted":        {"diff --git \"a/\\303\\251\" \"b/\\303\\251\"\n--- \"a/\\303\\251\"\n+++ \"b/\\303\\251\"\n@@ -1 +1 @@\n-a\n+b\n", [][2]string{{"é", "é"}}},
		"spaces":        {"diff --git a/a b b/a b\n--- a/a b\t\n+++ b/a b\t\n@@ -1 +1 @@\n-a\n+b\n", [][2]string{{"a b", "a b"}}},
		"looks alike":   {"--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/y\n+++ b/y\n c\n--- a/z\n+++ b/z\n@@ -1 +1 @@\n-a\n+b\n", [][2]string{{"x", "x"}, {"z", "z"}}},
		"no newline":    {"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n", [][2]string{{"x", "x"}}},
		"stripped line": {"--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n\n a\n+b\n", [][2]string{{"x", "x"}}},
		"binary":        {"diff --git a/p.png b/p.png\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKcmZ\n\nliteral 0\nHcmV\n\ndiff --git a/x b/x\nold mode 100644\nnew mode 100755\n", [][2]string{{"p.png", "p.png"}, {"x", "x"}}},
		"CRLF":          {"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\r\n+b\r\n", [][2]string{{"x", "x"}}},
	} {
		files, err := Parse(c.diff)
		var got [][2]string
		for _, f := range files {
			got = append(got, [2]string{f.Old, f.New})
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, c.want)
		}
	}
}

// TestDiffsOfGitAreRead reads git's diffs of random trees, and expects every file.
func TestDiffsOfGitAreRead(t *testing.T) {
	names := []string{"a.py", "dir/b.py", "with space.txt", "ünïcode.py", "quote\".py", "tab\there.py", "-dash", "b/b", "a b/a b"}
	line := rapid.SampledFrom([]string{"", "x", "-- a/x", "++ b/x", "@@ -1 +1 @@", "diff --git a/x b/x", "\\ y", "é", "z\r"})
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "diff")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		content := rapid.SliceOfN(line, 0, 12)
		chosen := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 4, rapid.ID).Draw(t, "names")
		want := []string{}
		for _, name := range chosen {
			before, after := content.Draw(t, "before"), content.Draw(t, "after")
			for side, lines := range map[string][]string{"old": before, "new": after} {
				path := filepath.Join(dir, side, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if strings.Join(before, "\n") != strings.Join(after, "\n") {
				want = append(want, name)
			}
		}
		cmd := exec.Command("git", "diff", "--no-index", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", "old", "new")
		cmd.Dir = dir
		out, err := cmd.Output()
		if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() > 1) {
			t.Fatal(err)
		}
		if len(want) == 0 {
			return
		}
		changes, err := Parse(string(out))
		if err != nil {
			t.Fatalf("%v in\n%s", err, out)
		}
		got := []string{}
		for _, c := range changes {
			got = append(got, strings.TrimPrefix(c.New, "new/"))
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("read %q, want %q in\n%s", got, want, out)
		}
	})
}

func TestChangesTakesBinaryFilesWithoutTheirContents(t *testing.T) {
	text := "diff --git a/t.png b/t.png\nindex 1..2 100644\nBinary files a/t.png and b/t.png differ\n" +
		"diff --git a/x b/y\nsimilarity index 90%\ncopy from x\ncopy to y\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n" +
		"diff --git a/u b/v\nsimilarity index 100%\nrename from u\nrename to v\n"
	files, err := Changes(text)
	if err != nil || len(files) != 3 || !files[0].Binary || files[0].Copied || !files[1].Copied || files[1].Old != "x" || len(files[1].Hunks) != 1 || files[2].Copied || files[1].Binary {
		t.Errorf("%+v, %v", files, err)
	}
	if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), "contents of a binary file") {
		t.Errorf("Parse gives %v", err)
	}
	if _, err := Changes("x"); err == nil {
		t.Error("a text without a file is a diff")
	}
}

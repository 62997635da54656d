package gitdiff

import (
	"reflect"
	"strings"
	"testing"
)

func TestAFileHasItsModesAndHunks(t *testing.T) {
	files, err := Parse("diff --git a/x b/x\nold mode 100644\nnew mode 100755\nindex 1..2\n--- a/x\n+++ b/x\n" +
		"@@ -1,2 +1 @@ def f():\r\n a\n--- b\n@@ -9 +8,2 @@\n-c\n\\ No newline at end of file\n+d\n+++ e\n\\ No newline at end of file\n" +
		"diff --git a/y b/y\nnew file mode 120000\nindex 0..1\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+z\n" +
		"diff --git a/z b/z\ndeleted file mode 100644\nindex 1..0\nGIT binary patch\nliteral 0\nHcmV\n")
	if err != nil || len(files) != 3 {
		t.Fatalf("%+v, %v", files, err)
	}
	x := files[0]
	if x.OldMode != "100644" || x.NewMode != "100755" || x.Binary || len(x.Hunks) != 2 {
		t.Errorf("%+v", x)
	}
	if h := x.Hunks[0]; h.Start != 1 || h.Length != 2 || h.Heading != "def f():" || h.Old() != "a\n-- b\n" || h.New() != "a\n" {
		t.Errorf("%+v: %q, %q", h, h.Old(), h.New())
	}
	if h := x.Hunks[1]; h.Start != 9 || h.Length != 1 || h.Heading != "" || h.Old() != "c" || h.New() != "d\n++ e" {
		t.Errorf("%+v: %q, %q", h, h.Old(), h.New())
	}
	if y := files[1]; y.Old != "" || y.New != "y" || y.NewMode != "120000" || y.Hunks[0].New() != "z\n" || y.Hunks[0].Old() != "" {
		t.Errorf("%+v", y)
	}
	if z := files[2]; z.Old != "z" || z.New != "" || !z.Binary || z.Hunks != nil {
		t.Errorf("%+v", z)
	}
}

func TestIncompleteDiffsAreRefusedAtTheirLine(t *testing.T) {
	const head = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n"
	for diff, want := range map[string]string{
		"":                                       "names no file",
		"hello\n":                                "names no file",
		"@@ -1 +1 @@\n-a\n+b\n":                  "line 1 of it is a hunk before any file",
		head + " a\n":                            "the hunk at line 3 has 1 old and 1 new lines, not 2 and 2",
		head + " a\n-b\n+c\ndiff --git a/y b/y":  "",
		head + " a\n-b\ndiff --git a/y b/y\n":    "the hunk at line 3 has 2 old and 1 new lines, not 2 and 2",
		head + " a\n-b\n-c\n-d\n+e\n":            "the hunk at line 3 has 4 old and 2 new lines, not 2 and 2",
		head + " a\n+b\n+c\n-d\n-e\n":            "the hunk at line 3 has 2 old and 3 new lines, not 2 and 2",
		head + " a\n b\n@@ -3 +3 @\n":            "line 6 of it is not the head of a hunk",
		head + " a\n b\n@@ -3 +99999999999 @@\n": "line 6 of it is not the head of a hunk",
		"--- a/x\n+++ b/x\n":                     "line 3 of it should begin a hunk",
		"--- /dev/null\n+++ /dev/null\n":         "line 1 of it names no file",
		"--- \"a/x\n+++ b/x\n":                   "line 1 of it has a path that cannot be read",
		"diff --git \"a/x b/x\n":                 "line 1 of it has a path that cannot be read",
		"diff --git a/x\n":                       "line 1 of it does not name two paths",
		"diff --git a/x b/x\nrename to \"y\n":    "line 2 of it has a path that cannot be read",
		"diff --git a/x b/x\nBinary files a/x and b/x differ\r\n": "contents of a binary file, so it cannot be applied: Binary files a/x and b/x differ",
	} {
		_, err := Parse(diff)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", diff, err, want)
		}
	}
	files, err := Parse("diff --git a/x b/x\nnew mode 100755\n" + head)
	if err == nil || len(files) != 1 || files[0].New != "x" {
		t.Errorf("before the error: %+v, %v", files, err)
	}
}

func TestPathsLoseTheirFirstFolderUnlessTheyLeaveTheRepository(t *testing.T) {
	for _, c := range [][2]string{{"a/x/y", "x/y"}, {"i/x", "x"}, {"x", "x"}, {"/etc/x", "/etc/x"}, {"../x", "../x"}, {"./x", "./x"}, {"a/../../x", "../../x"}} {
		files, err := Parse("--- " + c[0] + "\n+++ " + c[0] + "\n@@ -1 +1 @@\n-a\n+b\n")
		if err != nil || files[0].Old != c[1] || files[0].New != c[1] {
			t.Errorf("%s: %+v, %v", c[0], files, err)
		}
	}
}

func TestLinesAreClassifiedByTheirPosition(t *testing.T) {
	got := Lines("From me\n\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a\n+++ b\n\n\\ No newline at end of file\n--- a\n-- \n2.39\n@@ -1,9 +1 @@\n-a\ncut\n-b\n")
	want := []Line{{Other, "From me"}, {Other, ""}, {Header, "diff --git a/x b/x"}, {Header, "--- a/x"}, {Header, "+++ b/x"},
		{HunkHead, "@@ -1,2 +1,2 @@"}, {Removed, "-- a"}, {Added, "++ b"}, {Context, ""}, {NoNewline, `\ No newline at end of file`},
		{Header, "--- a"}, {Other, "-- "}, {Other, "2.39"}, {HunkHead, "@@ -1,9 +1 @@"}, {Removed, "a"}, {Other, "cut"}, {Other, "-b"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if Lines("") != nil {
		t.Error("an empty text has lines")
	}
}

func FuzzParse(f *testing.F) {
	f.Add("diff --git a/x b/x\nindex 123..456\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ f\n a\n-b\n\\ No newline at end of file\n+c\n")
	f.Add("diff --git a/x b/y\nrename from x\nrename to \"y\\303\"\n@@ -0,0 +1 @@\n\\")
	f.Fuzz(func(t *testing.T, text string) {
		files, err := Parse(text)
		if err == nil && len(files) == 0 {
			t.Fatal("no file and no error")
		}
		for _, file := range files {
			for _, h := range file.Hunks {
				if before, length := h.Old(), h.Length; strings.Count(before+"\n", "\n") < length {
					t.Fatalf("%d lines, but %q", length, before)
				}
			}
		}
	})
}

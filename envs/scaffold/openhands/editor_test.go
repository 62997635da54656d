package openhands

import (
	"fmt"
	"strings"
	"testing"

	"relabel"
)

// editor calls the editor on a path below the repository, with further parameters as
// name and value in turn.
func editor(t *testing.T, e *Episode, command, name string, more ...any) relabel.Observation {
	t.Helper()
	arguments := map[string]any{"command": command, "path": e.workdir + "/" + name}
	for i := 0; i < len(more); i += 2 {
		arguments[more[i].(string)] = more[i+1]
	}
	return do(t, e, toolEditor, arguments)
}

// put writes a file past the editor.
func put(t *testing.T, e *Episode, name, content string) {
	t.Helper()
	if err := e.sandbox.WriteFile(t.Context(), e.workdir+"/"+name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestViewNumbersLines(t *testing.T) {
	e := start(t)
	put(t, e, "f", "one\n\ttwo\nthree")
	head := "Lines 1 to 3 of the 3 of " + e.workdir + "/f (no line end after the last line):\n"
	if o := editor(t, e, "view", "f"); o.Failed || o.Content != head+"     1\tone\n     2\t\ttwo\n     3\tthree" {
		t.Errorf("%q", o.Content)
	}
	if o := editor(t, e, "view", "f", "view_range", []int{2, -1}); !strings.HasSuffix(o.Content, ":\n     2\t\ttwo\n     3\tthree") {
		t.Errorf("%q", o.Content)
	}
	if o := editor(t, e, "view", "f", "view_range", []int{2, 99}); o.Failed || !strings.HasPrefix(o.Content, "Lines 2 to 3 ") {
		t.Errorf("%q", o.Content)
	}
	for _, span := range [][]int{{0, 2}, {4, 5}, {3, 2}, {-1, -1}, {2, -2}} {
		if o := editor(t, e, "view", "f", "view_range", span); !o.Failed || !strings.Contains(o.Content, "has 3 lines") {
			t.Errorf("%v: %q", span, o.Content)
		}
	}
	put(t, e, "empty", "")
	if o := editor(t, e, "view", "empty"); o.Failed || !strings.Contains(o.Content, "is empty") {
		t.Errorf("%q", o.Content)
	}
}

func TestViewTruncatesALongFileAndReportsWhere(t *testing.T) {
	e := start(t)
	put(t, e, "long", strings.Repeat("0123456789012345678901234567890123456789\n", 5000))
	o := editor(t, e, "view", "long")
	if !strings.Contains(o.Content, "Lines 1 to 5000 of the 5000") || !strings.HasSuffix(o.Content, " to 5000 are left out; view them with view_range]\n") || len(o.Content) > maxShown+300 {
		t.Errorf("%d bytes: %q", len(o.Content), o.Content[len(o.Content)-100:])
	}
	put(t, e, "wide", strings.Repeat("x", 100_000))
	if o := editor(t, e, "view", "wide"); !strings.Contains(o.Content, "bytes left out") || len(o.Content) > maxShown+300 {
		t.Errorf("%d bytes", len(o.Content))
	}
}

func TestViewListsAFolderTwoLevelsDeep(t *testing.T) {
	e := start(t)
	for _, name := range []string{"b/one/deep.txt", "b/x.txt", "a.txt", ".hidden/x", "b/.secret"} {
		put(t, e, "dir/"+name, "x")
	}
	bash(t, e, "ln -s dir/b link")
	want := fmt.Sprintf("/a.txt\n%[1]s/dir/b/\n%[1]s/dir/b/one/\n%[1]s/dir/b/x.txt\n", e.workdir)
	if o := editor(t, e, "view", "dir"); o.Failed || !strings.HasSuffix(o.Content, want) {
		t.Errorf("%q", o.Content)
	}
	if o := editor(t, e, "view", "link"); o.Failed || !strings.Contains(o.Content, "/dir/b/x.txt") {
		t.Errorf("%q", o.Content)
	}
	if o := editor(t, e, "view", "dir", "view_range", []int{1, 2}); !o.Failed {
		t.Errorf("%q", o.Content)
	}
}

func TestTheEditorRefusesWhatItCannotOpen(t *testing.T) {
	e := start(t)
	put(t, e, "binary", "a\x00b")
	bash(t, e, "mkfifo pipe; head -c 5000000 /dev/zero | tr '\\0' x > large; ln -s nowhere dangling")
	for name, want := range map[string]string{
		"binary": "is binary", "missing": "There is no file", "large": "5000000 bytes", "pipe": "not a regular file", "dangling": "There is no file",
	} {
		if o := editor(t, e, "view", name); !o.Failed || !strings.Contains(o.Content, want) {
			t.Errorf("view %s: %q", name, o.Content)
		}
		if o := editor(t, e, "str_replace", name, "old_str", "a", "new_str", "b"); !o.Failed || !strings.Contains(o.Content, want) {
			t.Errorf("str_replace %s: %q", name, o.Content)
		}
	}
	if o := do(t, e, toolEditor, map[string]any{"command": "view", "path": "hello.py"}); !o.Failed || !strings.Contains(o.Content, e.workdir+"/hello.py") {
		t.Errorf("%q", o.Content)
	}
	if o := editor(t, e, "insert", "", "insert_line", 0, "new_str", "x"); !o.Failed {
		t.Errorf("%q", o.Content)
	}
}

func TestCreateMakesAFileThatIsNotThere(t *testing.T) {
	e := start(t)
	if o := editor(t, e, "create", "new/deep/f.txt", "file_text", "a\r\nb"); o.Failed || read(t, e, e.workdir+"/new/deep/f.txt") != "a\r\nb" {
		t.Errorf("%+v", o)
	}
	if o := editor(t, e, "create", "hello.py", "file_text", "x"); !o.Failed || !strings.Contains(o.Content, "str_replace") || read(t, e, e.workdir+"/hello.py") != helloPy {
		t.Errorf("%+v", o)
	}
	if o := editor(t, e, "create", "new", "file_text", "x"); !o.Failed || !strings.Contains(o.Content, "is a folder") {
		t.Errorf("%+v", o)
	}
	if o := editor(t, e, "create", "hello.py/below", "file_text", "x"); !o.Failed {
		t.Errorf("%+v", o)
	}
}

func TestStrReplaceWantsExactlyOneMatch(t *testing.T) {
	e := start(t)
	const content = "a = 1\r\nb = 2\nb = 2\n\xe9 latin\nlast"
	for name, c := range map[string]struct {
		old    string
		new    any
		want   string // of the file; "" if it is refused
		answer string
	}{
		"one match":           {"a = 1", "a = 5", "a = 5\r\nb = 2\nb = 2\n\xe9 latin\nlast", "     1\ta = 5"},
		"over line ends":      {"1\r\nb", "1\r\nc", "a = 1\r\nc = 2\nb = 2\n\xe9 latin\nlast", "were"},
		"deletes without new": {" latin\nlast", nil, "a = 1\r\nb = 2\nb = 2\n\xe9", "are now"},
		"no match":            {"c = 3", "", "", "does not occur"},
		"two matches":         {"b = 2", "x", "", "in lines 2, 3"},
		"other line ends":     {"a = 1\nb", "x", "", `end in "\r\n"`},
		"the same":            {"last", "last", "", "the same"},
		"empty":               {"", "x", "", "old_str is empty"},
	} {
		put(t, e, "f", content)
		more := []any{"old_str", c.old}
		if c.new != nil {
			more = append(more, "new_str", c.new)
		}
		o := editor(t, e, "str_replace", "f", more...)
		want := c.want
		if want == "" {
			want = content
		}
		if got := read(t, e, e.workdir+"/f"); got != want || o.Failed != (c.want == "") {
			t.Errorf("%s: %q, %+v", name, got, o)
		}
		if c.answer != "were" && !strings.Contains(o.Content, c.answer) {
			t.Errorf("%s: %q", name, o.Content)
		}
	}
	put(t, e, "f", "xaaax")
	if o := editor(t, e, "str_replace", "f", "old_str", "aa", "new_str", "b"); !o.Failed {
		t.Errorf("a text that overlaps itself was replaced: %q", o.Content)
	}
}

func TestEditsKeepTheModeOfAFile(t *testing.T) {
	e := start(t)
	bash(t, e, "chmod 755 hello.py; ln -s hello.py link.py")
	editor(t, e, "str_replace", "hello.py", "old_str", "world", "new_str", "all")
	if o := bash(t, e, "stat -c %a hello.py"); o.Content != "755\n[exit code 0]" {
		t.Errorf("%q", o.Content)
	}
	editor(t, e, "str_replace", "link.py", "old_str", "all", "new_str", "both")
	if o := bash(t, e, "stat -c '%a %F' hello.py link.py; grep -c both hello.py"); o.Content != "755 regular file\n777 symbolic link\n1\n[exit code 0]" {
		t.Errorf("%q", o.Content)
	}
}

func TestInsertPutsTextAfterALine(t *testing.T) {
	e := start(t)
	for name, c := range map[string]struct {
		before string
		line   int
		added  string
		want   string // "" if it is refused
	}{
		"top":                    {"a\nb\n", 0, "x", "x\na\nb\n"},
		"middle":                 {"a\nb\n", 1, "x\n", "a\nx\nb\n"},
		"several lines":          {"a\nb\n", 1, "x\ny", "a\nx\ny\nb\n"},
		"end":                    {"a\nb\n", 2, "x", "a\nb\nx\n"},
		"end without a line end": {"a\nb", 2, "x\n", "a\nb\nx"},
		"CRLF":                   {"a\r\nb\r\n", 1, "x", "a\r\nx\r\nb\r\n"},
		"blank line":             {"a\n", 1, "\n", "a\n\n"},
		"empty file":             {"", 0, "x", "x\n"},
		"too far":                {"a\nb\n", 3, "x", ""},
		"negative":               {"a\nb\n", -1, "x", ""},
		"nothing":                {"a\n", 0, "", ""},
	} {
		put(t, e, "f", c.before)
		o := editor(t, e, "insert", "f", "insert_line", c.line, "new_str", c.added)
		want := c.want
		if want == "" {
			want = c.before
		}
		if got := read(t, e, e.workdir+"/f"); got != want || o.Failed != (c.want == "") {
			t.Errorf("%s: %q, %+v", name, got, o)
		}
	}
}

func TestAnEditShowsTheLinesAroundIt(t *testing.T) {
	e := start(t)
	put(t, e, "f", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n")
	o := editor(t, e, "insert", "f", "insert_line", 6, "new_str", "new")
	if !strings.HasSuffix(o.Content, "Lines 3 to 11 are now:\n     3\t3\n     4\t4\n     5\t5\n     6\t6\n     7\tnew\n     8\t7\n     9\t8\n    10\t9\n    11\t10\n") {
		t.Errorf("%q", o.Content)
	}
}

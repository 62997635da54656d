package repository

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relabel"
)

const absent = "0123456789012345678901234567890123456789"

func TestNamesOfRepositoriesDoNotLeaveTheFolder(t *testing.T) {
	for _, name := range []string{"owner/name", "name", "a/b.c-d_e", "a_b/c", "a__b", "a/_b", "0/0", "a.b/c"} {
		must(t, CheckName(name))
	}
	for _, name := range []string{"", "/", "a/", "/a", "..", ".", "a/..", "../a", "a/../b", "a/b/c", "a\\b", "a b", "a/b\n", "a\x00", ".git", "a/.b", "-a", "a/-b",
		"a__b/c", "a_/b", "~a/b", "http://a/b", "ä/b", strings.Repeat("a", 201)} {
		wantCode(t, CheckName(name), relabel.CodeInvalid, "not the name of a repository")
	}
}

func TestMissingThingsAreNamed(t *testing.T) {
	ctx := context.Background()
	_, err := Open(filepath.Join(t.TempDir(), "nothing"))
	wantCode(t, err, relabel.CodeInvalid, "--repositories")
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o644))
	_, err = Open(file)
	wantCode(t, err, relabel.CodeInvalid, "is no folder")

	w := newTree(t)
	w.write("a.py", "f")
	id := w.commit()
	m := w.mirrored()
	must(t, m.Has("owner/name"))
	wantCode(t, m.Has("owner/other"), relabel.CodeNotFound, "owner__other.git")
	wantCode(t, m.Has("../x"), relabel.CodeInvalid, "")
	_, err = m.Tree(ctx, "other", id)
	wantCode(t, err, relabel.CodeNotFound, "other.git")
	_, err = m.Tree(ctx, "owner/name", absent)
	wantCode(t, err, relabel.CodeNotFound, "no commit "+absent)
	_, err = m.Tree(ctx, "owner/name", id[:12])
	wantCode(t, err, relabel.CodeInvalid, "40")
	_, err = m.Diff(ctx, "owner/name", id, absent)
	wantCode(t, err, relabel.CodeNotFound, absent)
	blob := w.git("rev-parse", "HEAD:a.py")
	_, err = m.Tree(ctx, "owner/name", blob)
	wantCode(t, err, relabel.CodeNotFound, "no commit "+blob)
	_, _, err = m.Read(ctx, "owner/name", absent, 10)
	wantCode(t, err, relabel.CodeNotFound, "no blob")
	_, _, err = m.Read(ctx, "owner/name", id, 10)
	wantCode(t, err, relabel.CodeInvalid, "is a commit")
	_, _, err = m.Read(ctx, "owner/name", "HEAD:a.py", 10)
	wantCode(t, err, relabel.CodeInvalid, "full id")
}

func TestCommitsAreFoundByFullIdTagOrBranch(t *testing.T) {
	ctx := context.Background()
	w := newTree(t)
	first := w.commit()
	w.git("tag", "-a", "-m", "x", "v1.0")
	w.git("tag", "both")
	second := w.commit()
	w.git("branch", "both")
	w.git("branch", "topic/a")
	m := w.mirrored()
	for rev, want := range map[string]string{first: first, strings.ToUpper(first): first, "v1.0": first, "both": first, "main": second, "topic/a": second} {
		if got, err := m.Commit(ctx, "owner/name", rev); err != nil || got != want {
			t.Errorf("%s: %s, %v", rev, got, err)
		}
	}
	for _, rev := range []string{first[:8], first[:39], "HEAD~1", "", "-x", "main..v1.0", ":/x", "main^{tree}", "a b", "a\nb", "main@{1}"} {
		_, err := m.Commit(ctx, "owner/name", rev)
		wantCode(t, err, relabel.CodeInvalid, "commit")
	}
	_, err := m.Commit(ctx, "owner/name", "v2.0")
	wantCode(t, err, relabel.CodeNotFound, "no commit v2.0")
}

func TestTheTreeHasEveryEntryAsItIs(t *testing.T) {
	ctx := context.Background()
	other := newTree(t)
	other.commit()
	w := newTree(t)
	names := []string{"a b.py", "ü/日本.py", "quote\".py", "back\\slash.py", "new\nline.py", "tab\t.py", "\xff.py", "-x.py", "a.py", "a/b.py"}
	for _, name := range names {
		w.write(name, name)
	}
	must(t, os.Symlink("loop", filepath.Join(w.dir, "loop")))
	must(t, os.Symlink("/etc", filepath.Join(w.dir, "etc.py")))
	w.git("submodule", "--quiet", "add", other.dir, "sub")
	id := w.commit()
	m := w.mirrored()
	entries, err := m.Tree(ctx, "owner/name", id)
	must(t, err)
	found := map[string]Entry{}
	for _, e := range entries {
		found[e.Path] = e
	}
	for _, name := range names {
		e := found[name]
		content, size, err := m.Read(ctx, "owner/name", e.Blob, 100)
		if e.Mode != "100644" || string(content) != name || size != int64(len(name)) || err != nil {
			t.Errorf("%q: %+v, %q, %v", name, e, content, err)
		}
	}
	if !found["sub"].Submodule() || !found["loop"].Symlink() || !found["etc.py"].Symlink() || len(entries) != len(names)+4 {
		t.Errorf("%d entries: %v", len(entries), entries)
	}
}

func TestLargeBlobsAreReadInPart(t *testing.T) {
	ctx := context.Background()
	w := newTree(t)
	large := bytes.Repeat([]byte("0123456789abcde\n"), 50<<20/16)
	w.write("large.bin", string(large))
	w.write("small.py", "x")
	w.commit()
	m := w.mirrored()
	for range 3 {
		content, size, err := m.Read(ctx, "owner/name", w.git("rev-parse", "HEAD:large.bin"), 100)
		if err != nil || size != 50<<20 || !bytes.Equal(content, large[:100]) {
			t.Fatalf("%q, %d, %v", content, size, err)
		}
		content, size, err = m.Read(ctx, "owner/name", w.git("rev-parse", "HEAD:small.py"), 0)
		if err != nil || size != 1 || len(content) != 0 {
			t.Fatalf("%q, %d, %v", content, size, err)
		}
	}
	whole, _, err := m.Read(ctx, "owner/name", w.git("rev-parse", "HEAD:large.bin"), 1<<30)
	if err != nil || !bytes.Equal(whole, large) {
		t.Error(len(whole), err)
	}
}

func TestDiffsHaveRenames(t *testing.T) {
	ctx := context.Background()
	w := newTree(t)
	w.write("old name.py", strings.Repeat("line\n", 50))
	base := w.commit()
	w.git("mv", "old name.py", "new.py")
	w.write("new.py", strings.Repeat("line\n", 50)+"more\n")
	head := w.commit()
	text, err := w.mirrored().Diff(ctx, "owner/name", base, head)
	must(t, err)
	for _, line := range []string{"rename from old name.py", "rename to new.py", "--- a/old name.py", "+++ b/new.py", "+more"} {
		if !strings.Contains(string(text), line) {
			t.Errorf("%q is not in\n%s", line, text)
		}
	}
}

package repository

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"relabel"
)

// TestAMirrorRunsNoPrograms gives a mirror every setting that could run one, and takes away a blob that a
// promisor remote would deliver.
func TestAMirrorRunsNoPrograms(t *testing.T) {
	ctx := context.Background()
	w := newTree(t)
	w.write("a.py", "one\n")
	base := w.commit()
	w.write("a.py", "two\n")
	head := w.commit()
	dir := t.TempDir()
	w.mirror(dir)
	mirror := filepath.Join(dir, "owner__name.git")
	mark := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "evil")
	must(t, os.WriteFile(program, fmt.Appendf(nil, "#!/bin/sh\necho \"$0 $@\" >>%s\n", mark), 0o755))
	must(t, os.WriteFile(filepath.Join(mirror, "info/attributes"), []byte("*.py diff=evil filter=evil merge=evil\n"), 0o644))
	for _, setting := range []string{"core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.askPass", "core.gitProxy", "core.alternateRefsCommand",
		"diff.external", "diff.evil.command", "diff.evil.textconv", "filter.evil.smudge", "filter.evil.clean", "filter.evil.process", "merge.evil.driver",
		"pager.diff-tree", "pager.ls-tree", "pager.cat-file", "alias.ls-tree", "alias.cat-file", "alias.diff-tree", "gpg.program", "credential.helper",
		"uploadpack.packObjectsHook", "remote.origin.uploadpack", "trace2.eventTarget"} {
		git(t, mirror, "config", setting, program)
	}
	for _, setting := range [][2]string{{"core.hooksPath", filepath.Dir(program)}, {"protocol.ext.allow", "always"}, {"protocol.file.allow", "always"},
		{"remote.origin.url", "ext::" + program}, {"remote.origin.promisor", "true"}, {"remote.origin.partialclonefilter", "blob:none"},
		{"remote.near.url", w.dir}, {"remote.near.promisor", "true"}, {"core.repositoryformatversion", "1"}, {"extensions.partialClone", "origin"}} {
		git(t, mirror, "config", setting[0], setting[1])
	}
	git(t, mirror, "cat-file", "-e", base) // the mirror is valid
	m := mirrors(t, dir)
	_, err := m.Tree(ctx, "owner/name", head)
	must(t, err)
	text, err := m.Diff(ctx, "owner/name", base, head)
	if err != nil || !strings.Contains(string(text), "-one\n+two\n") {
		t.Errorf("%s, %v", text, err)
	}
	_, _, err = m.Read(ctx, "owner/name", absent, 10)
	if err == nil {
		t.Error("a blob that is not there is read")
	}
	_, err = m.Commit(ctx, "owner/name", absent)
	if err == nil {
		t.Error("a commit that is not there is found")
	}
	removeBlob(t, mirror, w.git("rev-parse", head+":a.py"))
	m = mirrors(t, dir) // the readers above have the pack open
	_, err = indexer(t, m, &lineParser{}, nil).Index(ctx, "owner/name", head)
	wantCode(t, err, relabel.CodeEnvironment, "damaged")
	_, err = m.Diff(ctx, "owner/name", base, head)
	wantCode(t, err, relabel.CodeEnvironment, "damaged")
	if strings.Contains(err.Error(), "hint:") {
		t.Errorf("git gives advice: %v", err)
	}
	if ran, err := os.ReadFile(mark); err == nil {
		t.Errorf("programs of the mirror ran:\n%s", ran)
	}
}

// removeBlob unpacks all objects of a mirror and removes one.
func removeBlob(t *testing.T, mirror, blob string) {
	t.Helper()
	packs, err := filepath.Glob(filepath.Join(mirror, "objects/pack/*.pack"))
	must(t, err)
	for _, pack := range packs {
		aside := filepath.Join(t.TempDir(), "pack")
		must(t, os.Rename(pack, aside))
		must(t, os.Remove(strings.TrimSuffix(pack, ".pack")+".idx"))
		in, err := os.Open(aside)
		must(t, err)
		cmd := exec.Command("git", "--git-dir="+mirror, "-c", "core.fsmonitor=false", "unpack-objects", "-q")
		cmd.Stdin = in
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		must(t, in.Close())
	}
	must(t, os.Remove(filepath.Join(mirror, "objects", blob[:2], blob[2:])))
}

// TestAForgedBlobIsRefused has another content under the id of a blob, which git does not notice.
func TestAForgedBlobIsRefused(t *testing.T) {
	ctx := context.Background()
	w := newTree(t)
	w.write("a.py", "one\n")
	head := w.commit()
	dir := t.TempDir()
	w.mirror(dir)
	blob := w.git("rev-parse", head+":a.py")
	mirror := filepath.Join(dir, "owner__name.git")
	removeBlob(t, mirror, blob)
	var forged bytes.Buffer
	z := zlib.NewWriter(&forged)
	_, err := z.Write([]byte("blob 5\x00evil\n"))
	must(t, err)
	must(t, z.Close())
	object := filepath.Join(mirror, "objects", blob[:2], blob[2:])
	must(t, os.MkdirAll(filepath.Dir(object), 0o755))
	must(t, os.WriteFile(object, forged.Bytes(), 0o644))
	m := mirrors(t, dir)
	_, _, err = m.Read(ctx, "owner/name", blob, 100)
	wantCode(t, err, relabel.CodeEnvironment, "another content")
	_, err = indexer(t, m, &lineParser{}, nil).Index(ctx, "owner/name", head)
	wantCode(t, err, relabel.CodeEnvironment, "another content")
}

// TestObjectsInAnotherFolderAreRefused has a link in the place of a folder of objects.
func TestObjectsInAnotherFolderAreRefused(t *testing.T) {
	for _, part := range []string{"objects", "objects/pack"} {
		w := newTree(t)
		w.write("a.py", "one\n")
		w.commit()
		dir := t.TempDir()
		w.mirror(dir)
		folder, elsewhere := filepath.Join(dir, "owner__name.git", part), filepath.Join(t.TempDir(), "moved")
		must(t, os.Rename(folder, elsewhere))
		must(t, os.Symlink(elsewhere, folder))
		wantCode(t, mirrors(t, dir).Has("owner/name"), relabel.CodeEnvironment, "objects of another folder")
	}
}

func TestAMirrorReadsNothingElsewhere(t *testing.T) {
	ctx := context.Background()
	w := newTree(t)
	w.write("a.py", "one\n")
	id := w.commit()
	dir := t.TempDir()
	w.git("clone", "-q", "--mirror", "--shared", w.dir, filepath.Join(dir, "shared.git"))
	m := mirrors(t, dir)
	_, err := m.Tree(ctx, "shared", id)
	wantCode(t, err, relabel.CodeEnvironment, "another folder")

	w.mirror(dir)
	git(t, filepath.Join(dir, "owner__name.git"), "config", "core.worktree", w.dir)
	git(t, filepath.Join(dir, "owner__name.git"), "config", "core.bare", "false")
	entries, err := m.Tree(ctx, "owner/name", id)
	if err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestReplacedObjectsAreReadAsTheyWere(t *testing.T) {
	w := newTree(t)
	w.write("a.py", "one\n")
	first := w.commit()
	w.write("a.py", "two\n")
	second := w.commit()
	dir := t.TempDir()
	w.git("replace", w.git("rev-parse", first+":a.py"), w.git("rev-parse", second+":a.py"))
	w.mirror(dir)
	content, _, err := mirrors(t, dir).Read(context.Background(), "owner/name", git(t, w.dir, "--no-replace-objects", "rev-parse", first+":a.py"), 10)
	if err != nil || string(content) != "one\n" {
		t.Errorf("%q, %v", content, err)
	}
}

func TestDamagedMirrorsAreReported(t *testing.T) {
	ctx := context.Background()
	w := newTree(t)
	w.write("a.py", strings.Repeat("one\n", 1000))
	id := w.commit()
	dir := t.TempDir()
	for _, c := range []struct {
		name   string
		damage func(mirror string)
		words  string
	}{
		{"empty", func(mirror string) { must(t, os.RemoveAll(mirror)); must(t, os.Mkdir(mirror, 0o755)) }, "no HEAD"},
		{"no-objects", func(mirror string) { must(t, os.RemoveAll(filepath.Join(mirror, "objects"))) }, "no objects"},
		{"config", func(mirror string) { must(t, os.WriteFile(filepath.Join(mirror, "config"), []byte("[x"), 0o644)) }, "damaged"},
		{"head", func(mirror string) { must(t, os.WriteFile(filepath.Join(mirror, "HEAD"), []byte("x"), 0o644)) }, "damaged"},
		{"pack", func(mirror string) {
			packs, _ := filepath.Glob(filepath.Join(mirror, "objects/pack/*.pack"))
			must(t, os.Chmod(packs[0], 0o644))
			must(t, os.Truncate(packs[0], 100))
		}, "damaged"},
	} {
		mirror := filepath.Join(dir, c.name+".git")
		w.git("clone", "-q", "--mirror", "--no-local", w.dir, mirror)
		c.damage(mirror)
		_, err := mirrors(t, dir).Tree(ctx, c.name, id)
		if err == nil || !strings.Contains(err.Error(), c.words) && relabel.CodeOf(err) != relabel.CodeNotFound {
			t.Errorf("%s: %v", c.name, err)
		}
		t.Logf("%s: %v", c.name, err)
	}
}

func TestAMirrorMayBelongToAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	w := newTree(t)
	w.write("a.py", "one\n")
	id := w.commit()
	dir := t.TempDir()
	w.mirror(dir)
	must(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, 65534, 65534)
	}))
	m := mirrors(t, dir)
	entries, err := m.Tree(context.Background(), "owner/name", id)
	if err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
	_, err = m.Diff(context.Background(), "owner/name", id, id)
	must(t, err)
}

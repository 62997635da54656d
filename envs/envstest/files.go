package envstest

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"

	"relabel/envs"
)

func (s *suite) testFiles(t *testing.T) {
	b := s.sandbox(t)
	t.Run("written files are read", func(t *testing.T) {
		large := make([]byte, 5<<20)
		chacha := rand.NewChaCha8([32]byte{1})
		_, _ = chacha.Read(large)
		for path, content := range map[string][]byte{Workdir + "/a/b/large": large, "relative": []byte("x\x00\xff\n"), "empty": {}} {
			if err := b.WriteFile(t.Context(), path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			got, size, err := b.ReadFile(t.Context(), path, 10<<20)
			if err != nil || !bytes.Equal(got, content) || size != int64(len(content)) {
				t.Errorf("%s: %d of %d bytes, %v", path, len(got), size, err)
			}
		}
		got, size, err := b.ReadFile(t.Context(), Workdir+"/a/b/large", 10)
		if err != nil || !bytes.Equal(got, large[:10]) || size != int64(len(large)) {
			t.Errorf("limited: %d of %d bytes, %v", len(got), size, err)
		}
	})
	b.test("modes", func(b box) {
		b.write("new", "")
		b.bash("touch old; chmod 751 old; ln -s old link")
		b.write("old", "1")
		b.write("link", "2")
		b.prints("stat -c %a new old; cat old; test -L link", "644\n751\n2")
		if err := b.WriteFile(b.t.Context(), "program", []byte("#!/bin/sh\necho ran\n"), 0o755); err != nil {
			b.t.Fatal(err)
		}
		b.prints("./program", "ran")
	})
	b.test("impossible operations", func(b box) {
		b.bash("mkdir -p folder; mkfifo pipe; ln -s nowhere dangling")
		for path, want := range map[string]error{
			"missing": fs.ErrNotExist, "missing/too": fs.ErrNotExist, "dangling": fs.ErrNotExist, "folder": envs.ErrNotRegular,
			"pipe": envs.ErrNotRegular, "/dev/null": nil, "new/below": envs.ErrNotDirectory, strings.Repeat("x", 5000): fs.ErrInvalid,
		} {
			if _, _, err := b.ReadFile(b.t.Context(), path, 10); want != nil && !errors.Is(err, want) {
				b.t.Errorf("read %.20s: got %v, want %v", path, err, want)
			}
		}
		if err := b.WriteFile(b.t.Context(), "folder", nil, 0); !errors.Is(err, envs.ErrNotRegular) {
			b.t.Errorf("write over a folder: %v", err)
		}
		if _, err := b.Stat(b.t.Context(), "missing"); !errors.Is(err, fs.ErrNotExist) {
			b.t.Errorf("stat: %v", err)
		}
	})
}

func (s *suite) testListing(t *testing.T) {
	b := s.sandbox(t)
	b.bash(`mkdir -p d/e/f .hidden d/.git a-b && echo 12345 >d/e/file && touch d/x a.txt d/e/f/deep .h && ln -s d/e link && chmod 751 d/e`)
	for _, c := range []struct {
		dir          string
		depth, limit int
		want         string
		more         bool
	}{
		{Workdir, 1, 100, "a-b a.txt d link", false},
		{Workdir, 2, 100, "a-b a.txt d d/e d/x link", false},
		{Workdir, 3, 100, "a-b a.txt d d/e d/e/f d/e/file d/x link", false},
		{Workdir, 3, 4, "a-b a.txt d d/e", true},
		{Workdir + "/d", 1, 2, "d/e d/x", false},
	} {
		entries, more, err := b.List(t.Context(), c.dir, c.depth, c.limit)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range entries {
			got = append(got, strings.TrimPrefix(e.Path, Workdir+"/"))
		}
		if strings.Join(got, " ") != c.want || more != c.more {
			t.Errorf("%s %d %d: got %v, %v; want %s, %v", c.dir, c.depth, c.limit, got, more, c.want, c.more)
		}
	}
	for path, want := range map[string]envs.FileInfo{
		Workdir + "/d/e":      {Path: Workdir + "/d/e", Mode: fs.ModeDir | 0o751},
		Workdir + "/d/e/file": {Path: Workdir + "/d/e/file", Mode: 0o644, Size: 6},
		Workdir + "/link":     {Path: Workdir + "/link", Mode: fs.ModeSymlink | 0o777, Size: 3, Symlink: "d/e"},
	} {
		got, err := b.Stat(t.Context(), path)
		if got.Mode.IsDir() {
			got.Size = 0 // depends on the file system
		}
		if err != nil || got != want {
			t.Errorf("%s: got %+v, %v", path, got, err)
		}
	}
	if _, _, err := b.List(t.Context(), Workdir+"/missing", 1, 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing folder: %v", err)
	}
	if _, _, err := b.List(t.Context(), Workdir+"/a.txt", 1, 10); !errors.Is(err, envs.ErrNotDirectory) {
		t.Errorf("a file: %v", err)
	}
}

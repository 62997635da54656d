package repository

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestAKilledReaderIsReplaced(t *testing.T) {
	ctx := context.Background()
	w := newTree(t)
	w.write("a.py", "one\n")
	w.commit()
	blob := w.git("rev-parse", "HEAD:a.py")
	m := w.mirrored()
	read := func() {
		t.Helper()
		content, _, err := m.Read(ctx, "owner/name", blob, 10)
		if err != nil || string(content) != "one\n" {
			t.Fatalf("%q, %v", content, err)
		}
	}
	read()
	if len(m.pool.free) != 1 {
		t.Fatalf("%d readers are free", len(m.pool.free))
	}
	first := m.pool.free[0].cmd.Process.Pid
	must(t, syscall.Kill(first, syscall.SIGKILL))
	read()
	if second := m.pool.free[0].cmd.Process.Pid; second == first {
		t.Error("the reader is the same")
	}
	must(t, syscall.Kill(m.pool.free[0].cmd.Process.Pid, syscall.SIGSTOP)) // it does not answer
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	_, _, err := m.Read(short, "owner/name", blob, 10)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	read()
}

func TestReadersAreBoundedAndEndWhenIdle(t *testing.T) {
	ctx := context.Background()
	w := newTree(t)
	for i := range 50 {
		w.write(fmt.Sprintf("%d.py", i), strings.Repeat(fmt.Sprintln(i), i*100))
	}
	id := w.commit()
	m := w.mirrored()
	entries, err := m.Tree(ctx, "owner/name", id)
	must(t, err)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			for j := range entries {
				e := entries[(i+j)%len(entries)]
				content, size, err := m.Read(ctx, "owner/name", e.Blob, 1<<20)
				number := strings.TrimSuffix(e.Path, ".py")
				n, _ := strconv.Atoi(number)
				if err != nil || string(content) != strings.Repeat(number+"\n", n*100) || size != int64(len(content)) {
					t.Errorf("%s: %d bytes, %v", e.Path, size, err)
					return
				}
			}
		})
	}
	all.Wait()
	if n := len(m.pool.free); n == 0 || n > m.pool.size {
		t.Errorf("%d readers are free", n)
	}
	m.pool.idle = time.Millisecond
	_, _, err = m.Read(ctx, "owner/name", entries[0].Blob, 1)
	must(t, err)
	before := len(m.pool.free)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		m.pool.mu.Lock()
		n := len(m.pool.free)
		m.pool.mu.Unlock()
		if n < before || before == 1 && n == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the idle reader does not end")
		}
	}
}

func TestClosedMirrorsAreRefused(t *testing.T) {
	w := newTree(t)
	id := w.commit()
	m := w.mirrored()
	_, err := m.Tree(context.Background(), "owner/name", id)
	must(t, err)
	m.Close()
	_, err = m.Tree(context.Background(), "owner/name", id)
	wantCode(t, err, "unavailable", "closed")
}

func TestAMirrorMayBeUpdatedAndRepackedWhileItIsRead(t *testing.T) {
	ctx := context.Background()
	w := newTree(t)
	w.write("a.py", "one\n")
	old := w.commit()
	dir := t.TempDir()
	w.mirror(dir)
	m := mirrors(t, dir)
	for i := range 5 {
		_, err := m.Commit(ctx, "owner/name", "main") // its reader stays open
		must(t, err)
		w.write("a.py", strings.Repeat("new\n", i+1))
		id := w.commit()
		git(t, filepath.Join(dir, "owner__name.git"), "fetch", "-q")
		got, err := m.Commit(ctx, "owner/name", "main")
		if err != nil || got != id {
			t.Fatalf("main is %s, not %s, %v", got, id, err)
		}
		git(t, filepath.Join(dir, "owner__name.git"), "repack", "-q", "-a", "-d")
		for _, commit := range []string{old, id} {
			content, _, err := m.Read(ctx, "owner/name", w.git("rev-parse", commit+":a.py"), 100)
			if err != nil || len(content) == 0 {
				t.Fatalf("%q, %v", content, err)
			}
		}
	}
	if n := len(m.pool.free); n != 1 {
		t.Errorf("%d readers are free", n)
	}
}

package repository

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"relabel"
	"relabel/codeindex"
)

// indexer returns an indexer without a bound on its memory.
func indexer(t testing.TB, m *Mirrors, p Parsers, s Store) *Indexer {
	x := NewIndexer(IndexerConfig{Mirrors: m, Parsers: p, Store: s, Memory: 1 << 40})
	t.Cleanup(x.Close)
	return x
}

func TestAnIndexHasTheSourceFilesAndCountsTheRest(t *testing.T) {
	ctx := context.Background()
	w := newTree(t)
	w.write("a b.py", "one\ntwo")
	w.write("ü.py", "one\ntwo")
	w.write("bad\n.py", "")
	w.write("bad\xff.py", "")
	w.write("README.md", "")
	w.write("huge.py", strings.Repeat("x\n", 1<<20))
	w.write("panic.py", "panic")
	w.write("a.rb", "f")
	must(t, os.Symlink("link.py", filepath.Join(w.dir, "link.py")))
	other := newTree(t)
	other.commit()
	w.git("submodule", "--quiet", "add", other.dir, "sub.py")
	id := w.commit()
	parser := &lineParser{}
	x, err := indexer(t, w.mirrored(), parser, nil).Index(ctx, "owner/name", strings.ToUpper(id))
	must(t, err)
	if len(x.Files()) != 5 || x.Languages()[codeindex.Python] != 4 {
		t.Errorf("%d files, %v", len(x.Files()), x.Languages())
	}
	if s := x.Skipped(); s[codeindex.BadPath] != 2 || s[codeindex.Symlink] != 1 || s[codeindex.Submodule] != 1 || s[codeindex.NotSource] != 2 {
		t.Errorf("%v", s)
	}
	if p := x.Problems(); p[codeindex.TooLarge] != 1 || p[codeindex.ParseFail] != 1 || p[codeindex.NoParser] != 1 || len(p) != 3 {
		t.Errorf("%v", p)
	}
	if f := x.File("ü.py"); len(f.Find("two")) != 1 || f.Records != x.File("a b.py").Records {
		t.Errorf("%+v", f)
	}
	if parser.parsed.Load() != 2 {
		t.Errorf("%d files are parsed", parser.parsed.Load())
	}
}

func TestOnlyChangedFilesAreParsedAndTheOthersAreShared(t *testing.T) {
	ctx := context.Background()
	w := newTree(t)
	for i := range 20 {
		w.write(fmt.Sprintf("%d.py", i), fmt.Sprint("f", i))
	}
	first := w.commit()
	w.write("3.py", "changed")
	w.git("mv", "4.py", "moved.py")
	second := w.commit()
	m, parser, store := w.mirrored(), &lineParser{}, &memoryStore{map[codeindex.Key][]byte{}}
	x := indexer(t, m, parser, store)
	a, err := x.Index(ctx, "owner/name", first)
	must(t, err)
	b, err := x.Index(ctx, "owner/name", second)
	must(t, err)
	if parser.parsed.Load() != 21 {
		t.Errorf("%d files are parsed", parser.parsed.Load())
	}
	if a.File("1.py") != b.File("1.py") || a.File("4.py").Records != b.File("moved.py").Records || a.File("3.py") == b.File("3.py") {
		t.Error("equal files are not shared")
	}

	// Another process finds them in the store, except of another version, or damaged.
	again := indexer(t, m, parser, store)
	for k := range store.records {
		store.records[k] = []byte("damaged")
		break
	}
	_, err = again.Index(ctx, "owner/name", second)
	must(t, err)
	if n := parser.parsed.Load(); n > 22 {
		t.Errorf("%d files are parsed", n)
	}
	newer := &lineParser{version: 1}
	_, err = indexer(t, m, newer, store).Index(ctx, "owner/name", second)
	if err != nil || newer.parsed.Load() != 20 {
		t.Errorf("%d files are parsed, %v", newer.parsed.Load(), err)
	}
}

func TestConcurrentCallsMakeAnIndexOnce(t *testing.T) {
	ctx := context.Background()
	w := newTree(t)
	w.write("a.py", "f")
	id := w.commit()
	parser := &lineParser{wait: make(chan struct{})}
	x := indexer(t, w.mirrored(), parser, nil)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err := x.Index(ended, "owner/name", id)
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	var all sync.WaitGroup
	results := make([]*codeindex.Index, 10)
	for i := range results {
		all.Go(func() { results[i], _ = x.Index(ctx, "owner/name", id) })
	}
	close(parser.wait)
	all.Wait()
	for _, r := range results {
		if r == nil || r != results[0] {
			t.Fatal("the indexes differ")
		}
	}
	if parser.parsed.Load() != 1 {
		t.Errorf("the file is parsed %d times", parser.parsed.Load())
	}
	x.Close()
	_, err = x.Index(ctx, "owner/name", absent)
	wantCode(t, err, relabel.CodeUnavailable, "closed")
}

func TestAnIndexThatTakesTooLongIsAFailureOfTheEnvironment(t *testing.T) {
	w := newTree(t)
	w.write("a.py", "f")
	id := w.commit()
	x := indexer(t, w.mirrored(), &lineParser{}, nil)
	x.limit = 1
	_, err := x.Index(context.Background(), "owner/name", id)
	wantCode(t, err, relabel.CodeEnvironment, "is not done within 1ns")
}

func TestRecordsAreSharedByFilesThatAreParsedAlike(t *testing.T) {
	w := newTree(t)
	w.write("a.ts", "f")
	w.write("b.ts", "f")
	w.write("c.tsx", "f")
	id := w.commit()
	parser := &lineParser{}
	x, err := indexer(t, w.mirrored(), parser, nil).Index(context.Background(), "owner/name", id)
	must(t, err)
	if n := parser.parsed.Load(); n != 2 || x.File("a.ts").Records != x.File("b.ts").Records || x.File("a.ts").Records == x.File("c.tsx").Records {
		t.Errorf("%d files are parsed", n)
	}
}

func TestMemoryIsBoundedAndCountedExactly(t *testing.T) {
	ctx := context.Background()
	w := newTree(t)
	var ids []string
	for i := range 12 {
		w.write("same.py", "same")
		w.write("changing.py", fmt.Sprint("f", i))
		w.write(fmt.Sprintf("dir/%d.py", i%3), fmt.Sprint("f", i))
		ids = append(ids, w.commit())
	}
	x := indexer(t, w.mirrored(), &lineParser{}, nil)
	x.cache.limit = 10_000
	for i, id := range append(ids, ids...) {
		_, err := x.Index(ctx, "owner/name", id)
		must(t, err)
		if c := x.cache; c.bytes > c.limit || c.order.Len() < min(i+1, 2) || c.order.Len() != len(c.indexes) {
			t.Fatalf("%d bytes, %d indexes", c.bytes, c.order.Len())
		}
	}
	for x.cache.order.Len() > 0 {
		x.cache.remove(x.cache.order.Back())
	}
	if c := x.cache; c.bytes != 0 || len(c.files) != 0 || len(c.sources) != 0 || len(c.indexes) != 0 {
		t.Errorf("%d bytes, %d files, %d records, %d indexes are left", c.bytes, len(c.files), len(c.sources), len(c.indexes))
	}
}

func TestHeadersFollowTheOtherFiles(t *testing.T) {
	ctx := context.Background()
	w := newTree(t)
	w.write("a.h", "f")
	w.write("a.c", "f")
	first := w.commit()
	w.write("b.cc", "f")
	w.write("c.cc", "f")
	second := w.commit()
	x := indexer(t, w.mirrored(), &lineParser{}, nil)
	for id, want := range map[string]codeindex.Language{first: codeindex.C, second: codeindex.CPP} {
		index, err := x.Index(ctx, "owner/name", id)
		must(t, err)
		if got := index.File("a.h").Language; got != want || index.File("a.c").Language != codeindex.C {
			t.Errorf("the header is %s, not %s", got, want)
		}
	}
}

func TestAMissingCommitHasNoIndex(t *testing.T) {
	w := newTree(t)
	w.commit()
	x := indexer(t, w.mirrored(), &lineParser{}, nil)
	_, err := x.Index(context.Background(), "owner/name", absent)
	wantCode(t, err, relabel.CodeNotFound, "no commit")
	_, err = x.Index(context.Background(), "owner/other", absent)
	wantCode(t, err, relabel.CodeNotFound, "no mirror")
	_, err = x.Index(context.Background(), "owner/name", "main")
	wantCode(t, err, relabel.CodeInvalid, "full id")
}

package repository

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/codeindex"
)

func TestWhatAnotherMachineMayNotFindIsNotStored(t *testing.T) {
	passing := []codeindex.Problem{codeindex.TooLarge, codeindex.TooSlow, codeindex.NoParser, codeindex.ParseFail}
	for _, p := range []codeindex.Problem{"", codeindex.Python2, codeindex.Syntax, codeindex.TooLarge, codeindex.TooSlow, codeindex.NotText, codeindex.NoParser, codeindex.ParseFail} {
		if lasting(p) == slices.Contains(passing, p) {
			t.Errorf("%q is lasting: %v", p, lasting(p))
		}
	}
}

// downStore is a Store that does not answer.
type downStore struct{}

func (downStore) FindCodeRecords(context.Context, []codeindex.Key) (map[codeindex.Key][]byte, error) {
	return nil, relabel.Errorf(relabel.CodeUnavailable, "the database does not answer")
}

func (downStore) SaveCodeRecords(context.Context, map[codeindex.Key][]byte) error {
	return relabel.Errorf(relabel.CodeUnavailable, "the database does not answer")
}

func TestAnIndexIsMadeWithoutTheStore(t *testing.T) {
	w := newTree(t)
	w.write("a.py", "one\ntwo")
	id := w.commit()
	x, err := indexer(t, w.mirrored(), &lineParser{}, downStore{}).Index(t.Context(), "owner/name", id)
	must(t, err)
	if f := x.File("a.py"); f == nil || len(f.Records.Definitions) != 2 {
		t.Errorf("%+v", f)
	}
}

func TestCompleteBatchesAreStoredIfTheIndexFails(t *testing.T) {
	w := newTree(t)
	for i := range batch {
		w.write(fmt.Sprintf("f%d.py", i), fmt.Sprint("f", i))
	}
	id := w.commit()
	m, s := w.mirrored(), &memoryStore{map[codeindex.Key][]byte{}}
	x := indexer(t, m, &lineParser{}, s)
	entries, err := m.Tree(t.Context(), "owner/name", id)
	must(t, err)
	sources, _ := x.classify(entries)
	missing := sources[0]
	missing.Blob = strings.Repeat("0", 40)
	err = x.parseAll(t.Context(), "owner/name", append(sources, missing), map[codeindex.Key]*codeindex.Records{})
	if err == nil || len(s.records) != batch {
		t.Errorf("%d records are stored, %v", len(s.records), err)
	}
}

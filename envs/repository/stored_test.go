package repository

import (
	"context"
	"reflect"
	"testing"

	"relabel/codeindex"
	"relabel/store/storetest"
)

func TestRecordsInPostgresSpareTheParser(t *testing.T) {
	ctx := context.Background()
	w := newTree(t)
	w.write("a.py", "one\nÜ \"two\"\n")
	w.write("empty.py", "")
	w.write("huge.py", string(make([]byte, maxParsed+1)))
	w.write("panic.py", "panic")
	id := w.commit()
	m, s := w.mirrored(), storetest.New(t)
	first, second := &lineParser{}, &lineParser{}
	a, err := indexer(t, m, first, s).Index(ctx, "owner/name", id)
	must(t, err)
	b, err := indexer(t, m, second, s).Index(ctx, "owner/name", id)
	must(t, err)
	if first.parsed.Load() != 3 || second.parsed.Load() != 1 { // a parser that failed may not fail again
		t.Errorf("%d, then %d files are parsed", first.parsed.Load(), second.parsed.Load())
	}
	if !reflect.DeepEqual(a, b) || b.Problems()[codeindex.TooLarge] != 1 || len(b.File("a.py").Find("Ü \"two\"")) != 1 {
		t.Errorf("%+v, then %+v", a, b)
	}
}

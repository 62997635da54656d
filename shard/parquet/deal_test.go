package parquet

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"

	"relabel/shard/outfile"
)

func TestRowsAreDealtEvenlyToAMultipleOfTheDataParallelSize(t *testing.T) {
	for _, c := range []struct {
		rows         int
		tokens       int64
		dataParallel int
		want         string
	}{
		{10, 1000, 1, "[10]"},
		{10, 1000, 4, "[3 3 2 2]"},
		{2, 1000, 4, "[1 1 0 0]"},
		{7, fileTokens + 1, 1, "[4 3]"},
		{8, 3*fileTokens + 1, 3, "[2 2 1 1 1 1]"},
		{0, 0, 0, "[0]"},
	} {
		if got := fmt.Sprint(Deal(c.rows, c.tokens, c.dataParallel)); got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}

func TestFilesEndWhereRequestedAndMayBeEmpty(t *testing.T) {
	root := t.TempDir()
	w := NewWriter[testRow](root, Layout{View: "packed", LossMask: "rolled-1", Infix: ".idx", First: 7}, "test")
	for _, rows := range []int{2, 0, 1} {
		for range rows {
			if err := w.Write(testRow{ID: "1", Text: "a"}, outfile.Size{Bytes: 2, Tokens: 5, Supervised: 3}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.EndFile(); err != nil {
			t.Fatal(err)
		}
	}
	files, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		got = append(got, fmt.Sprint(f.Path, " ", f.Rows, f.Tokens, f.SupervisedTokens))
		file, err := os.Open(root + "/" + f.Path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		p, err := parquet.OpenFile(file, f.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if columns := fmt.Sprint(p.Schema().Columns()); columns != "[[id] [text] [kind]]" || p.NumRows() != int64(f.Rows) {
			t.Errorf("%s has columns %s and %d rows", f.Path, columns, p.NumRows())
		}
		if mask, _ := p.Lookup("relabel.loss_mask"); mask != "rolled-1" {
			t.Errorf("%s: relabel.loss_mask %q", f.Path, mask)
		}
	}
	if want := []string{"packed/00007.idx.parquet 2 10 6", "packed/00008.idx.parquet 0 0 0", "packed/00009.idx.parquet 1 5 3"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

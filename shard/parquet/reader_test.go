package parquet

import (
	"bytes"
	"errors"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"
)

type listedRow struct {
	Name   string    `parquet:"name"`
	Word   *string   `parquet:"word,optional,dict"`
	IDs    []int32   `parquet:"ids,list"`
	Small  []int8    `parquet:"small,list"`
	Deltas []int32   `parquet:"deltas,list" parquet-element:",delta"`
	Dict   []int32   `parquet:"dict,list" parquet-element:",dict"`
	Floats []float32 `parquet:"floats,list"`
	Parts  []part    `parquet:"parts,list"`
}

type part struct {
	Text   string   `parquet:"text,dict"`
	Number int32    `parquet:"number"`
	Weight *float32 `parquet:"weight,optional"`
}

// drawRow draws a row with empty lists, nulls and long lists.
func drawRow(r *rand.Rand) (row listedRow) {
	words := []string{"", "one", "two\x00", "größe"}
	ints := func(most int32) []int32 {
		out := make([]int32, r.Intn(2)*r.Intn(5000))
		for i := range out {
			out[i] = r.Int31n(most) - most/2
		}
		return out
	}
	row.Name, row.IDs, row.Deltas, row.Dict = words[r.Intn(4)], ints(1<<30), ints(9), ints(9)
	if r.Intn(2) == 0 {
		row.Word = &words[r.Intn(4)]
	}
	for _, n := range ints(200) {
		row.Small, row.Floats = append(row.Small, int8(n)), append(row.Floats, float32(n)/7)
	}
	for range r.Intn(4) {
		p := part{Text: words[r.Intn(4)], Number: r.Int31()}
		if r.Intn(2) == 0 {
			w := r.Float32()
			p.Weight = &w
		}
		row.Parts = append(row.Parts, p)
	}
	return row
}

// cursors are those of all leaves of a listedRow.
type cursors struct{ name, word, ids, small, deltas, dict, floats, text, number, weight *Cursor }

func newCursors(r *Reader) cursors {
	return cursors{r.Cursor("name"), r.Cursor("word"), r.Cursor("ids"), r.Cursor("small"), r.Cursor("deltas"), r.Cursor("dict"),
		r.Cursor("floats"), r.Cursor("parts", "text"), r.Cursor("parts", "number"), r.Cursor("parts", "weight")}
}

func (c cursors) all() []*Cursor {
	return []*Cursor{c.name, c.word, c.ids, c.small, c.deltas, c.dict, c.floats, c.text, c.number, c.weight}
}

// next reads a row through all cursors.
func (c cursors) next(t rapid.TB) (row listedRow) {
	for _, one := range c.all() {
		if err := one.Next(); err != nil {
			t.Fatal(err)
		}
	}
	row.Name, row.IDs, row.Deltas, row.Dict, row.Floats = c.name.Texts[0], slices.Clone(c.ids.Ints), slices.Clone(c.deltas.Ints), slices.Clone(c.dict.Ints), slices.Clone(c.floats.Floats)
	if c.word.Null == nil {
		word := c.word.Texts[0]
		row.Word = &word
	}
	for _, n := range c.small.Ints {
		row.Small = append(row.Small, int8(n))
	}
	for i, text := range c.text.Texts {
		p := part{Text: text, Number: c.number.Ints[i]}
		if c.weight.Null == nil || !c.weight.Null[i] {
			w := c.weight.Floats[i]
			p.Weight = &w
		}
		row.Parts = append(row.Parts, p)
	}
	return row
}

// sameRows compares without regard to whether an empty list is nil.
func sameRows(a, b listedRow) bool {
	for _, r := range []*listedRow{&a, &b} {
		r.IDs, r.Small, r.Deltas, r.Dict = append([]int32{}, r.IDs...), append([]int8{}, r.Small...), append([]int32{}, r.Deltas...), append([]int32{}, r.Dict...)
		r.Floats, r.Parts = append([]float32{}, r.Floats...), append([]part{}, r.Parts...)
	}
	return reflect.DeepEqual(a, b)
}

func TestCursorsReadWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		var file bytes.Buffer
		w := parquet.NewGenericWriter[listedRow](&file, parquet.PageBufferSize(rapid.IntRange(100, 20_000).Draw(t, "page")), parquet.Compression(&parquet.Zstd),
			parquet.DataPageVersion(rapid.IntRange(1, 2).Draw(t, "version")))
		var rows []listedRow
		for range rapid.IntRange(0, 3).Draw(t, "groups") {
			for range rapid.IntRange(0, 12).Draw(t, "rows") {
				rows = append(rows, drawRow(random))
				if _, err := w.Write(rows[len(rows)-1:]); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			t.Fatal(err)
		}
		c := newCursors(r)
		for i, want := range rows {
			if got := c.next(t); !sameRows(got, want) {
				t.Fatalf("row %d is %+v, want %+v", i, got, want)
			}
		}
		for _, one := range c.all() {
			if err := one.Next(); !errors.Is(err, io.EOF) {
				t.Fatalf("after the last row: %v", err)
			}
		}
		for range min(3, len(rows)) {
			i := random.Intn(len(rows))
			for _, one := range c.all() {
				if err := one.SeekRow(int64(i)); err != nil {
					t.Fatal(err)
				}
			}
			if got := c.next(t); !sameRows(got, rows[i]) {
				t.Fatalf("after seeking, row %d is %+v, want %+v", i, got, rows[i])
			}
		}
	})
}

func TestTypesAreNamedAsPyarrowNamesThem(t *testing.T) {
	var file bytes.Buffer
	w := parquet.NewGenericWriter[listedRow](&file, parquet.Compression(&parquet.Snappy))
	if _, err := w.Write([]listedRow{{Name: "a"}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	want := []Field{{"name", "string"}, {"word", "string"}, {"ids", "list<int32>"}, {"small", "list<int8>"}, {"deltas", "list<int32>"}, {"dict", "list<int32>"},
		{"floats", "list<float32>"}, {"parts", "list<struct<text: string, number: int32, weight: float32>>"}}
	if got := r.Fields(); !slices.Equal(got, want) {
		t.Errorf("fields %v", got)
	}
	if got := r.Limits(); got == "" || r.Cursor("absent") != nil || r.Cursor("parts") != nil {
		t.Errorf("a file that is not zstd: %q", got)
	}
}

// TestADamagedFileIsAnError changes one byte after the other: no change may panic or hang.
func TestADamagedFileIsAnError(t *testing.T) {
	root := t.TempDir()
	f := write(t, root, shardLimits, []testRow{{"a", "text", "k"}, {"b", "more text", "k"}})[0]
	whole, err := os.ReadFile(filepath.Join(root, f.Path))
	if err != nil {
		t.Fatal(err)
	}
	read := func(data []byte) error {
		r, err := OpenReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return err
		}
		for _, name := range []string{"id", "text", "kind"} {
			c := r.Cursor(name)
			if c == nil {
				return io.ErrUnexpectedEOF
			}
			for err = c.Next(); err == nil; err = c.Next() {
			}
			if !errors.Is(err, io.EOF) {
				return err
			}
		}
		return nil
	}
	if err := read(whole); err != nil {
		t.Fatal(err)
	}
	errs := 0
	for i := range whole {
		damagedFile := slices.Clone(whole)
		damagedFile[i] ^= 1 << (i % 8)
		if read(damagedFile) != nil {
			errs++
		}
		if read(whole[:i]) == nil {
			t.Errorf("the first %d of %d bytes are read as a file", i, len(whole))
		}
	}
	if errs < len(whole)/4 {
		t.Errorf("%d of %d damaged bytes were noticed", errs, len(whole))
	}
}

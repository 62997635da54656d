package parquet

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"relabel/shard/outfile"
)

type testRow struct {
	ID   string `parquet:"id"`
	Text string `parquet:"text"`
	Kind string `parquet:"kind,dict"`
}

func (r testRow) size() int64 { return int64(len(r.ID) + len(r.Text) + len(r.Kind)) }

// write writes rows under the limits given and returns the files with their folder.
func write(t rapid.TB, root string, l limits, rows []testRow) []outfile.File {
	w := newWriter[testRow](root, Layout{View: "view", LossMask: "none"}, "test", l)
	defer w.Abort()
	for _, r := range rows {
		if err := w.Write(r, outfile.Size{Bytes: r.size()}); err != nil {
			t.Fatal(err)
		}
	}
	files, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestRowGroupsAndFilesStayWithinTheirLimits writes rows that compress well and badly,
// short and long, under small limits, and reads everything back.
func TestRowGroupsAndFilesStayWithinTheirLimits(t *testing.T) {
	l := limits{group: 64 << 10, groupRaw: 256 << 10, file: 200 << 10, page: 16 << 10}
	rapid.Check(t, func(t *rapid.T) {
		root, err := os.MkdirTemp("", "shard")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(root)
		random := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		var rows []testRow
		for i, n := range rapid.SliceOfN(rapid.IntRange(0, 40<<10), 0, 60).Draw(t, "lengths") {
			text := make([]byte, n)
			if rapid.Bool().Draw(t, "random") {
				random.Read(text)
			}
			rows = append(rows, testRow{fmt.Sprint(i), string(text), "k"})
		}
		var got []testRow
		for i, f := range write(t, root, l, rows) {
			if want := fmt.Sprintf("view/%05d.parquet", i); f.Path != want {
				t.Fatalf("file %s, want %s", f.Path, want)
			}
			part := readBack(t, root, f, l)
			got = append(got, part...)
		}
		if len(got) != len(rows) {
			t.Fatalf("%d rows came back of %d", len(got), len(rows))
		}
		for i := range rows {
			if got[i] != rows[i] {
				t.Fatalf("row %d differs", i)
			}
		}
	})
}

// readBack reads a file's rows and checks the file against f and the limits.
func readBack(t rapid.TB, root string, f outfile.File, l limits) []testRow {
	name := filepath.Join(root, f.Path)
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != f.SHA256 || int64(len(raw)) != f.Bytes || f.Bytes > l.file {
		t.Fatalf("%s has %d bytes and not the hash or size that %+v says, or is over %d", name, len(raw), f, l.file)
	}
	rows, err := parquet.ReadFile[testRow](name)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	p, err := parquet.OpenFile(file, f.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range p.Metadata().RowGroups {
		var size int64
		for _, c := range g.Columns {
			size += c.MetaData.TotalCompressedSize
		}
		if size > l.group+1<<10 { // page headers
			t.Fatalf("row group %d has %d bytes, over %d", i, size, l.group)
		}
	}
	if len(rows) != f.Rows {
		t.Fatalf("%d rows, said %d", len(rows), f.Rows)
	}
	return rows
}

func TestTheLimitsOfShardsHoldForTheLargestRowsThatDoNotCompress(t *testing.T) {
	root := t.TempDir()
	random := rand.New(rand.NewSource(1))
	var rows []testRow
	for i := range 4 {
		text := make([]byte, outfile.MaxRow-10)
		random.Read(text)
		rows = append(rows, testRow{fmt.Sprint(i), string(text), "k"})
	}
	for _, f := range write(t, root, shardLimits, rows) {
		readBack(t, root, f, shardLimits)
	}
	w := NewWriter[testRow](root, Layout{View: "other"}, "test")
	if err := w.Write(testRow{}, outfile.Size{Bytes: outfile.MaxRow + 1}); err == nil {
		t.Error("a row over MaxRow was taken")
	}
	if _, err := os.Stat(filepath.Join(root, "other")); err == nil {
		t.Error("a folder was made for no row")
	}
}

func TestAWriterOverwritesNothing(t *testing.T) {
	root := t.TempDir()
	write(t, root, shardLimits, []testRow{{"1", "a", "k"}})
	w := NewWriter[testRow](root, Layout{View: "view", LossMask: "none"}, "test")
	defer w.Abort()
	if err := w.Write(testRow{}, outfile.Size{}); !os.IsExist(err) {
		t.Errorf("got %v", err)
	}
}

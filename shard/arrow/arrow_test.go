package arrow

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"relabel/shard/outfile"
)

// sequence returns a row of n tokens.
func sequence(n, from int) Row {
	r := Row{make([]int32, n), make([]int8, n), make([]int32, n)}
	for i := range n {
		id := int32(from*7 + i*65537)
		r.InputIDs[i], r.AttentionMask[i], r.Labels[i] = id, 1, -100
		if i%2 == 1 {
			r.Labels[i] = id
		}
	}
	return r
}

// sequences returns n rows of lengths below most.
func sequences(n, most int) (all []Row) {
	for i := range n {
		all = append(all, sequence(i%most, i))
	}
	return all
}

// uneven are rows whose lists differ in length.
func uneven() []Row {
	odd := sequence(3, 1)
	odd.Labels, odd.AttentionMask = odd.Labels[1:], odd.AttentionMask[:1]
	return []Row{odd, sequence(2, 2)}
}

// golden are the files of testdata with the rows that they have. The Arrow library of Apache for Go wrote them, with
// which earlier versions of relabel wrote their exports.
var golden = map[string][]Row{
	"none":    nil,
	"one":     {sequence(5, 1)},
	"several": sequences(6, 4),
	"empty":   sequences(2, 1),
	"batches": sequences(2001, 3),
	"uneven":  uneven(),
}

// write returns a file of rows.
func write(t *testing.T, rows []Row) []byte {
	t.Helper()
	dir := t.TempDir()
	w := NewWriter(dir, "arrow", 0, 1)
	for _, r := range rows {
		if err := w.Write(r, outfile.Size{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.EndFile(); err != nil {
		t.Fatal(err)
	}
	return read(t, filepath.Join(dir, "arrow", "00000.arrow"))
}

// read returns a file.
func read(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// rowsOf reads a stream to its end.
func rowsOf(text []byte) (all []Row, err error) {
	r, err := NewReader(bytes.NewReader(text))
	for err == nil {
		var row Row
		if row, err = r.Next(); err == nil {
			all = append(all, Row{slices.Clone(row.InputIDs), slices.Clone(row.AttentionMask), slices.Clone(row.Labels)})
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return all, err
}

func TestFilesAreThoseOfEarlierVersions(t *testing.T) {
	for name, rows := range golden {
		if want := read(t, "testdata/"+name+".arrow"); !bytes.Equal(write(t, rows), want) {
			t.Errorf("%s: other bytes than in %s.arrow", name, name)
		}
	}
	large := sha256.Sum256(write(t, []Row{sequence(400_000, 1), sequence(400_001, 2), sequence(400_003, 3), sequence(7, 4)}))
	if hex.EncodeToString(large[:]) != "e5193069d5b575ed370f26e8636d63a26ba1c06c285842976d47eea8fcf85fc2" {
		t.Error("two batches, the first of them over the limit of bytes: other bytes than in earlier versions")
	}
}

func TestFilesOfEarlierVersionsAreRead(t *testing.T) {
	for name, want := range golden {
		got, err := rowsOf(read(t, "testdata/"+name+".arrow"))
		if err != nil || !slices.EqualFunc(got, want, equal) {
			t.Errorf("%s: read %d rows, not the %d that were written: %v", name, len(got), len(want), err)
		}
	}
}

func equal(a, b Row) bool {
	return slices.Equal(a.InputIDs, b.InputIDs) && slices.Equal(a.AttentionMask, b.AttentionMask) && slices.Equal(a.Labels, b.Labels)
}

func TestTheSchemaHasTheFeaturesOfTheFolder(t *testing.T) {
	info, err := json.Marshal(map[string]any{"info": map[string]any{"features": features}})
	if err != nil || !bytes.Contains(opening, info) {
		t.Errorf("the schema lacks %s: %v", info, err)
	}
}

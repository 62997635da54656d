package arrow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"relabel/shard/outfile"
)

// rowsOf reads a stream to its end.
func rowsOf(text []byte) (n int, err error) {
	r, err := NewReader(bytes.NewReader(text))
	for err == nil {
		if _, err = r.Next(); err == nil {
			n++
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// written returns a file of one row.
func written(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	w := NewWriter(dir, "arrow", 0, 1)
	if err := w.Write(Row{[]int32{1, 2}, []int8{1, 1}, []int32{-100, 2}}, outfile.Size{Bytes: 18, Tokens: 2}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "arrow", "00000.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// No length in a file makes the reader allocate more than a file of relabel needs, which would end the process.
func TestLengthsOfDamagedStreamsAreNotTrusted(t *testing.T) {
	text := written(t)
	if n, err := rowsOf(text); n != 1 || err != nil {
		t.Fatalf("%d rows, %v", n, err)
	}
	refused := 0
	for at := 0; at+8 <= len(text); at += 2 {
		for _, length := range []uint64{1 << 31, 1<<31 - 1, 1 << 36, 1 << 42, 1<<63 - 1} {
			damaged := bytes.Clone(text)
			binary.LittleEndian.PutUint64(damaged[at:], length)
			if _, err := rowsOf(damaged); err != nil {
				refused++
			}
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
}

func TestCompressedStreamsAreRefused(t *testing.T) {
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(schema()), ipc.WithZstd())
	b := array.NewRecordBuilder(memory.NewGoAllocator(), schema())
	add(b.Field(0), func(v *array.Int32Builder) { v.AppendValues(make([]int32, 1<<20), nil) })
	add(b.Field(1), func(v *array.Int8Builder) { v.AppendValues(make([]int8, 1<<20), nil) })
	add(b.Field(2), func(v *array.Int32Builder) { v.AppendValues(make([]int32, 1<<20), nil) })
	if err := errors.Join(w.Write(b.NewRecordBatch()), w.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := rowsOf(out.Bytes()); err == nil || !strings.Contains(err.Error(), "compressed") {
		t.Errorf("read: %v", err)
	}
}

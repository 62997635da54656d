package arrow

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"strings"
	"testing"
)

// No length in a file makes the reader allocate more than a file of relabel needs, which would end the process.
func TestLengthsOfDamagedStreamsAreNotTrusted(t *testing.T) {
	text := write(t, []Row{{[]int32{1, 2}, []int8{1, 1}, []int32{-100, 2}}})
	if rows, err := rowsOf(text); len(rows) != 1 || err != nil {
		t.Fatalf("%d rows, %v", len(rows), err)
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

func TestStreamsThatRelabelDoesNotWriteAreRefused(t *testing.T) {
	for name, want := range map[string]string{
		"compressed":   "has compressed batches, which relabel does not write",
		"metadata":     "has a batch with metadata of its own",
		"null_list":    "attention_mask contains a null",
		"null_value":   "labels contains a null",
		"other_schema": "does not begin with the schema that relabel writes: lists named [input_ids attention_mask labels]",
		"dictionary":   "does not begin with the schema that relabel writes",
	} {
		if _, err := rowsOf(read(t, "testdata/"+name+".arrow")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: read: %v", name, err)
		}
	}
}

func TestDamagedMessagesAreRefused(t *testing.T) {
	one := write(t, []Row{{[]int32{1, 2}, []int8{1, 1}, []int32{-100, 2}}})
	for name, c := range map[string]struct {
		at    int // after the opening
		value uint64
		bytes int
		want  string
	}{
		"no message":             {0, 1, 4, "has no message where one begins"},
		"long metadata":          {4, mostMetadata + 1, 4, "has a message with 1048577 bytes of metadata"},
		"a root outside":         {8, 1 << 30, 4, "points outside of itself"},
		"a dictionary":           {8 + 39, 2, 1, "has a message that is not a batch of rows"},
		"a schema":               {8 + 39, 1, 1, "has a message that is not a batch of rows"},
		"a long body":            {8 + 24, mostBody + 1, 8, "has a batch of 67108865 bytes, more than 67108864"},
		"a negative body":        {8 + 24, 1<<64 - 1, 8, "has a batch of -1 bytes, more than 67108864"},
		"a body beyond the file": {8 + 24, mostBody, 8, "it ends within a message"},
		"other rows":             {8 + 64, 2, 8, "the lengths of input_ids do not agree"},
		"negative rows":          {8 + 64, 1<<64 - 1, 8, "the lengths of input_ids do not agree"},
		"fewer buffers":          {8 + 76, 11, 4, "points outside of itself"},
		"a buffer outside":       {8 + 80 + 16 + 8, 1 << 40, 8, "points outside of itself"},
		"more values":            {8 + 280 + 16, 3, 8, "the lengths of input_ids do not agree"},
		"offsets that fall":      {384, 3, 4, "a list of input_ids lies outside of its values"},
		"an offset outside":      {384 + 4, 3, 4, "a list of input_ids lies outside of its values"},
		"a negative offset":      {384, 1<<32 - 1, 4, "a list of input_ids lies outside of its values"},
	} {
		damaged := bytes.Clone(one)
		raw := binary.LittleEndian.AppendUint64(nil, c.value)
		copy(damaged[len(opening)+c.at:], raw[:c.bytes])
		if _, err := rowsOf(damaged); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: read: %v", name, err)
		}
	}
}

// A stream may end after any message, but not within one.
func TestStreamsThatAreCutOffAreRefused(t *testing.T) {
	text := write(t, []Row{{[]int32{1, 2}, []int8{1, 1}, []int32{-100, 2}}})
	for n := range text {
		rows, err := rowsOf(text[:n])
		switch whole := n == len(opening) || n == len(text)-len(ending); {
		case whole && err != nil:
			t.Errorf("%d bytes: %v", n, err)
		case !whole && err == nil:
			t.Errorf("%d bytes: read %d rows", n, len(rows))
		}
	}
}

// FuzzReader reads any bytes as messages after the schema. What it reads is no more than what the stream holds.
func FuzzReader(f *testing.F) {
	names, err := filepath.Glob("testdata/[^b]*.arrow") // without the large one
	if err != nil || len(names) == 0 {
		f.Fatalf("no files to begin with: %v", err)
	}
	for _, name := range names {
		if text, is := bytes.CutPrefix(read(f, name), opening); is {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		rows, _ := rowsOf(append(bytes.Clone(opening), text...))
		size := 4 * len(rows)
		for _, r := range rows {
			size += 4*len(r.InputIDs) + len(r.AttentionMask) + 4*len(r.Labels)
		}
		if size > 4*len(text) { // the buffers of a batch may overlap
			t.Errorf("%d bytes of rows out of %d", size, len(text))
		}
	})
}

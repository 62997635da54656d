package tasks

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"relabel"
)

// parquetWith makes a Parquet file without pages, with a structure of Thrift as its metadata.
func parquetWith(metadata []byte) []byte {
	file := append([]byte("PAR1"), metadata...)
	file = binary.LittleEndian.AppendUint32(file, uint32(len(metadata)))
	return append(file, "PAR1"...)
}

// listOf begins metadata with a schema that claims to have that many columns.
func listOf(columns int) []byte {
	return binary.AppendUvarint([]byte{0x15, 2, 0x19, 0xFC}, uint64(columns))
}

func TestForgedMetadataOfParquetFilesIsRefusedBeforeItTakesMemory(t *testing.T) {
	group := []byte{0x35, 0, 0x18, 1, 'a', 0x15, 2, 0} // with one child
	for name, c := range map[string]struct {
		metadata []byte
		want     string
	}{
		"a list that claims to be long":    {listOf(1<<31 - 1), "its lists have more than"},
		"a list that is cut off":           {listOf(1 << 19), "unexpected EOF"},
		"groups in each other":             {append(append(listOf(100), bytes.Repeat(group, 100)...), 0), "nested too deeply"},
		"many columns":                     {append(append(listOf(20_000), bytes.Repeat([]byte{0}, 20_000)...), 0), "20000 columns"},
		"unknown structures in each other": {bytes.Repeat([]byte{0x1C}, 1<<20), "nested more than"},
		"unknown lists in each other":      {bytes.Repeat([]byte{0x19}, 1<<20), "nested more than"},
		"a long text":                      {binary.AppendUvarint([]byte{0x15, 2, 0x19, 0x1C, 0x48}, 1<<31-1), "unexpected EOF"},
	} {
		_, err := Read(bytes.NewReader(parquetWith(c.metadata)), FormatAuto)
		if relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAPageHeaderWithStructuresInEachOtherIsRefused(t *testing.T) {
	if err := checkThrift(bytes.NewReader(bytes.Repeat([]byte{0x1C}, 1<<20)), maxPageHeader); err == nil || !strings.Contains(err.Error(), "nested") {
		t.Error(err)
	}
}

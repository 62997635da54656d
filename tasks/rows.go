package tasks

import (
	"bufio"
	"fmt"
	"io"
)

// readRows passes each row of a file to yield, which returns false to end it.
func readRows(m Member, yield func(*taskLine) bool) error {
	start, err := firstBytes(m)
	if err != nil {
		return unreadable(m.Name, err)
	}
	what, err := recognise(start)
	if err == nil {
		err = readKind(m, what, yield)
	}
	if err != nil {
		return unreadable(m.Name, err)
	}
	return nil
}

// readKind reads a file of a kind.
func readKind(m Member, what kind, yield func(*taskLine) bool) error {
	var text io.Reader = bufio.NewReaderSize(io.NewSectionReader(m, 0, m.Size()), 1<<18)
	switch what {
	case parquetFile:
		return readParquet(m, m.Name, yield)
	case tarFile:
		return fmt.Errorf("is an archive within an archive: unpack it first")
	case gzipFile, zstdFile:
		var err error
		if text, what, err = unpacked(m, what); err != nil {
			return err
		}
	}
	if what == jsonArray {
		return readArray(text, m.Name, yield)
	}
	return readLines(text, m.Name, yield)
}

package repository

import (
	"context"

	"relabel/codeindex"
)

// Parsers are the languages of the index and their parsers. They are safe for concurrent use.
type Parsers interface {
	// Language returns the language of a source file by its path; false if it is none. The language of
	// a .h file is decided by the other files of its commit if this is C.
	Language(path string) (codeindex.Language, bool)
	// Version changes with the records that the parser of a language returns for the same source.
	Version(language codeindex.Language) int
	// Parse returns the records of a file.
	Parse(language codeindex.Language, path string, source []byte) codeindex.Records
}

// Store keeps encoded records beyond the life of this process.
type Store interface {
	// FindCodeRecords returns the records of those keys that are stored.
	FindCodeRecords(ctx context.Context, keys []codeindex.Key) (map[codeindex.Key][]byte, error)
	// SaveCodeRecords stores records, in the place of others with the same key.
	SaveCodeRecords(ctx context.Context, records map[codeindex.Key][]byte) error
}

package repository

import (
	"context"

	"relabel/codeindex"
)

// Parsers are the parsers of the languages of the index. They are safe for concurrent use.
type Parsers interface {
	// Parser returns the parser of a language, nil if it is not installed.
	Parser(language codeindex.Language) codeindex.Parser
	// Version changes with the records that the parser of a language returns for the same source in a file
	// of this path.
	Version(language codeindex.Language, path string) int
}

// Store keeps encoded records beyond the life of this process.
type Store interface {
	// FindCodeRecords returns the records of those keys that are stored.
	FindCodeRecords(ctx context.Context, keys []codeindex.Key) (map[codeindex.Key][]byte, error)
	// SaveCodeRecords stores records, in the place of others with the same key.
	SaveCodeRecords(ctx context.Context, records map[codeindex.Key][]byte) error
}

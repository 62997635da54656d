package storetest

import (
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"strings"
	"testing"
)

// dumps are texts of pg_dump, one per schema version: version 3 of a demo, the last one whose
// trajectories and verdicts call both a passing patch and a submitted passing patch resolved
// (two of its trajectories pass and were not submitted); version 21, the last one with the
// names that migration 22 changes.
//
//go:embed testdata/schema_*.sql.gz
var dumps embed.FS

// dumpedSchema is the schema's name in all dumps.
const dumpedSchema = "relabel_dumped"

// Dumped creates a schema with the tables and rows of an earlier version (3 or 21), not
// migrated, and returns the URL that names it.
func Dumped(t testing.TB, version int) string {
	t.Helper()
	address, schema := newSchema(t)
	file, err := dumps.Open(fmt.Sprintf("testdata/schema_%03d.sql.gz", version))
	must(t, err)
	unpacked, err := gzip.NewReader(file)
	must(t, err)
	text, err := io.ReadAll(unpacked)
	must(t, err)
	must(t, execSQL(address, strings.ReplaceAll(string(text), dumpedSchema, schema)))
	return address
}

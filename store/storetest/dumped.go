package storetest

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"io"
	"strings"
	"testing"
)

// dumped is pg_dump's text of a demo's database at schema version 3, the last one whose
// trajectories and verdicts call both a passing patch and a submitted passing patch
// resolved. Two of its trajectories pass and were not submitted.
//
//go:embed testdata/schema_003.sql.gz
var dumped []byte

// dumpedSchema is the schema's name in the dump.
const dumpedSchema = "relabel_dumped"

// Dumped makes a schema with the tables and rows of an earlier version, not migrated, and
// returns the URL that names it.
func Dumped(t testing.TB) string {
	t.Helper()
	address := Schema(t)
	unpacked, err := gzip.NewReader(bytes.NewReader(dumped))
	must(t, err)
	text, err := io.ReadAll(unpacked)
	must(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	must(t, restore(ctx, address, strings.ReplaceAll(string(text), dumpedSchema, schemaOf(address))))
	return address
}

package languages_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"relabel/codeindex"
	"relabel/codeindex/languages/languagestest"
)

const (
	benchFiles = 1000
	benchBytes = 8 << 20
)

// sourceFile is a file to parse.
type sourceFile struct {
	path   string
	source []byte
}

// benchSources returns files of each language: those below RELABEL_TEST_SOURCES, or repeated samples.
func benchSources(b *testing.B) map[codeindex.Language][]sourceFile {
	b.Helper()
	files, size := map[codeindex.Language][]sourceFile{}, map[codeindex.Language]int{}
	root, times := os.Getenv(referenceSources), 1
	if root == "" {
		root, times = "testdata/samples", 40
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		l := languageHere(path)
		if err != nil || !d.Type().IsRegular() || l == "" || len(files[l]) >= benchFiles || size[l] >= benchBytes {
			return err
		}
		source, err := os.ReadFile(path)
		if len(source) < 1<<20 {
			files[l] = append(files[l], sourceFile{path, bytes.Repeat(source, times)})
			size[l] += len(source) * times
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return files
}

func BenchmarkParse(b *testing.B) {
	parsers := languagestest.Parsers(b)
	files := benchSources(b)
	for _, l := range inChildren {
		b.Run(string(l), func(b *testing.B) {
			var size int64
			for _, f := range files[l] {
				size += int64(len(f.source))
			}
			if size == 0 {
				b.Skip("no sources")
			}
			b.SetBytes(size)
			for b.Loop() {
				for _, f := range files[l] {
					parsers.Parser(l).Parse(f.path, f.source)
				}
			}
			b.ReportMetric(float64(len(files[l])), "files")
		})
	}
}

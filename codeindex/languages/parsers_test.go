package languages_test

import (
	"testing"

	"relabel/codeindex"
	"relabel/codeindex/languages/languagestest"
)

// The records of one source are stored once for each version.
func TestTSXHasVersionsOfItsOwn(t *testing.T) {
	parsers := languagestest.Parsers(t)
	source := []byte("const f = <T>(x: T) => x\nfunction g() {}\n")
	p := parsers.Parser(codeindex.TypeScript)
	if a, b := text(p.Parse("a.ts", source)), text(p.Parse("a.tsx", source)); a == b {
		t.Errorf("both have %q", a)
	}
	versions := map[int]bool{}
	for _, name := range []string{"a.ts", "b.mts", "a.tsx", "b.TSX"} {
		versions[parsers.Version(codeindex.TypeScript, name)] = true
	}
	if len(versions) != 2 {
		t.Errorf("versions %v", versions)
	}
}

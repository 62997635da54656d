package repository

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/codeindex"
)

func TestAPartIsThatOfTheWholeIndex(t *testing.T) {
	ctx := context.Background()
	w := newTree(t)
	w.write("a.h", "one\ntwo")
	w.write("b.cc", "three")
	w.write("c.cc", "four")
	w.write("README.md", "")
	w.write("huge.py", strings.Repeat("x\n", 1<<20))
	must(t, os.Symlink("a.h", filepath.Join(w.dir, "link.py")))
	id := w.commit()
	x := indexer(t, w.mirrored(), &lineParser{}, nil)
	part, missing, err := x.Part(ctx, "owner/name", id, []string{"huge.py", "a.h", "link.py", "README.md", "gone.py"})
	must(t, err)
	whole, err := x.Index(ctx, "owner/name", id)
	must(t, err)
	if !slices.Equal(missing, []string{"gone.py"}) || len(part.Files()) != 2 {
		t.Errorf("%d files, absent %q", len(part.Files()), missing)
	}
	for _, f := range part.Files() {
		if !reflect.DeepEqual(f, whole.File(f.Path)) {
			t.Errorf("%+v is not %+v", f, whole.File(f.Path))
		}
	}
	_, _, err = x.Part(ctx, "owner/name", absent, nil)
	wantCode(t, err, relabel.CodeNotFound, "no commit")
}

func TestATextIsParsedAsAFile(t *testing.T) {
	x := indexer(t, mirrors(t, t.TempDir()), &lineParser{}, nil)
	for text, want := range map[string]codeindex.Problem{"one\ntwo": "", "panic": codeindex.ParseFail, strings.Repeat("x", 1<<20+1): codeindex.TooLarge} {
		r := x.Parse(codeindex.Python, "a.py", []byte(text))
		if r.Problem != want || want == "" && len(r.Definitions) != 2 {
			t.Errorf("%.10q: %+v", text, r)
		}
	}
}

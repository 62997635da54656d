package codeindex_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"relabel/codeindex"
)

func definition(kind codeindex.Kind, name string, start, end int) codeindex.Definition {
	return codeindex.Definition{Kind: kind, Name: name, Span: codeindex.Span{Start: start, End: end}}
}

func index(paths ...string) *codeindex.Index {
	var files []*codeindex.File
	for _, p := range paths {
		files = append(files, &codeindex.File{Path: p, Language: codeindex.Python, Records: &codeindex.Records{}})
	}
	return codeindex.NewIndex(files, nil)
}

func TestFilesAreFoundByPathAndCounted(t *testing.T) {
	broken := &codeindex.Records{Problem: codeindex.Syntax}
	x := codeindex.NewIndex([]*codeindex.File{
		{Path: "b.go", Language: codeindex.Go, Records: &codeindex.Records{}},
		{Path: "a/ü \n.py", Language: codeindex.Python, Records: broken},
		{Path: "a.py", Language: codeindex.Python, Records: broken},
	}, map[codeindex.Skipped]int{codeindex.Symlink: 2})
	if f := x.File("a/ü \n.py"); f == nil || f.Language != codeindex.Python {
		t.Errorf("found %v", f)
	}
	for _, path := range []string{"", "a", "a/", "b.g", "b.go/", "c"} {
		if f := x.File(path); f != nil {
			t.Errorf("%q is %v", path, f)
		}
	}
	if x.Languages()[codeindex.Python] != 2 || x.Languages()[codeindex.Go] != 1 || x.Problems()[codeindex.Syntax] != 2 || x.Skipped()[codeindex.Symlink] != 2 {
		t.Errorf("%v %v %v", x.Languages(), x.Problems(), x.Skipped())
	}
	if x.Files()[0].Path != "a.py" {
		t.Errorf("the first file is %s", x.Files()[0].Path)
	}
}

func TestDefinitionsAreFoundByQualifiedNameElseByItsEnd(t *testing.T) {
	f := &codeindex.File{Records: &codeindex.Records{Definitions: []codeindex.Definition{
		definition(codeindex.Class, "A", 1, 9),
		definition(codeindex.Method, "A.run", 2, 3),
		definition(codeindex.Method, "A.run", 4, 5), // an overload
		definition(codeindex.Function, "run", 10, 11),
		definition(codeindex.Function, "outer.inner", 13, 14),
		definition(codeindex.Method, "B.A.run", 20, 21),
	}}}
	for _, c := range []struct {
		name   string
		kinds  []codeindex.Kind
		starts []int
	}{
		{"A", nil, []int{1}},
		{"A.run", nil, []int{2, 4}},
		{"run", nil, []int{10}},
		{"run", []codeindex.Kind{codeindex.Method}, []int{2, 4, 20}},
		{"inner", nil, []int{13}},
		{"nner", nil, nil},
		{".inner", nil, nil},
		{"", nil, nil},
		{"A", []codeindex.Kind{codeindex.Function}, nil},
	} {
		var starts []int
		for _, d := range f.Find(c.name, c.kinds...) {
			starts = append(starts, d.Start)
		}
		if !slices.Equal(starts, c.starts) {
			t.Errorf("%q %v begins at %v, not at %v", c.name, c.kinds, starts, c.starts)
		}
	}
}

func TestSimilarNamesAreBestFirstAndAtMostThree(t *testing.T) {
	x := index("django/db/models.py", "django/db/model_utils.py", "docs/conf.py", "models.py", "tests/models.py", "tests/models2.py", "README.py")
	for path, want := range map[string][]string{
		"django/db/model.py":  {"django/db/models.py", "tests/models.py", "models.py"},
		"modells.py":          {"models.py", "tests/models.py", "tests/models2.py"},
		"readme.py":           {"README.py"},
		"quite/different.txt": {},
		"":                    {},
	} {
		if got := x.Similar(path); !slices.Equal(got, want) {
			t.Errorf("%q: %q, not %q", path, got, want)
		}
	}
	f := &codeindex.File{Records: &codeindex.Records{Definitions: []codeindex.Definition{
		definition(codeindex.Method, "Query.get_count", 1, 2), definition(codeindex.Method, "Query.get_count", 3, 4),
		definition(codeindex.Function, "get_count", 5, 6),
	}}}
	if got := f.Similar("get_counts", codeindex.Method); !slices.Equal(got, []string{"Query.get_count"}) {
		t.Errorf("%q", got)
	}
}

func TestSimilarNamesMayBeLongAndAnyBytes(t *testing.T) {
	long := strings.Repeat("Ⱥİ\xff", 1000)
	x := index(long+"a", long+"b", "short")
	if got := x.Similar(long + "c"); !slices.Equal(got, []string{long + "a", long + "b"}) {
		t.Errorf("%d", len(got))
	}
	if got := x.Similar(strings.Repeat("\xff", 256) + "/short"); len(got) != 1 {
		t.Errorf("%d", len(got))
	}
}

func TestTheTreeHasAllFiles(t *testing.T) {
	root := index("a.py", "a/b/c/x.py", "a/b/y.py", "a/z.py", "b/b/b.py").Root()
	want := &codeindex.Folder{Count: 5, Files: []string{"a.py"}, Folders: []*codeindex.Folder{
		{Name: "a", Count: 3, Files: []string{"z.py"}, Folders: []*codeindex.Folder{
			{Name: "b", Count: 2, Files: []string{"y.py"}, Folders: []*codeindex.Folder{{Name: "c", Count: 1, Files: []string{"x.py"}}}},
		}},
		{Name: "b", Count: 1, Folders: []*codeindex.Folder{{Name: "b", Count: 1, Files: []string{"b.py"}}}},
	}}
	if !reflect.DeepEqual(root, want) {
		t.Errorf("%+v", root)
	}
	again := index("a/b.py", "a/c/d.py", "a/e.py", "a/c.d/e.py", "f.py", "z/c/x.py").Root() // a file of a folder may follow its folders
	want = &codeindex.Folder{Count: 6, Files: []string{"f.py"}, Folders: []*codeindex.Folder{
		{Name: "a", Count: 4, Files: []string{"b.py", "e.py"}, Folders: []*codeindex.Folder{
			{Name: "c.d", Count: 1, Files: []string{"e.py"}}, {Name: "c", Count: 1, Files: []string{"d.py"}}}},
		{Name: "z", Count: 1, Folders: []*codeindex.Folder{{Name: "c", Count: 1, Files: []string{"x.py"}}}},
	}}
	if !reflect.DeepEqual(again, want) {
		t.Errorf("%+v", again)
	}
	if empty := index().Root(); empty.Count != 0 || empty.Files != nil {
		t.Errorf("%+v", empty)
	}
}

package codeindex

import (
	"slices"
	"strings"
)

// File is a source file of a commit. It does not change and may belong to many indexes.
type File struct {
	Path     string // relative to the root, with /
	Language Language
	Blob     string   // the id of its content in git
	Records  *Records // shared by all files with this content
}

// Skipped says why an entry of a commit is no file of its index.
type Skipped string

// The reasons.
const (
	Submodule Skipped = "submodule"
	Symlink   Skipped = "symlink"    // never followed
	BadPath   Skipped = "bad_path"   // it is not UTF-8 or has control characters, so that no answer can name it
	NotSource Skipped = "not_source" // it is in no language of the index
)

// Index is what the source files of a commit define. It does not change.
type Index struct {
	files     []*File
	skipped   map[Skipped]int
	languages map[Language]int
	problems  map[Problem]int
}

// NewIndex makes an index of files with different paths. It keeps and sorts the slice.
func NewIndex(files []*File, skipped map[Skipped]int) *Index {
	byPath := func(a, b *File) int { return strings.Compare(a.Path, b.Path) }
	if !slices.IsSortedFunc(files, byPath) {
		slices.SortFunc(files, byPath)
	}
	x := &Index{files: files, skipped: skipped, languages: map[Language]int{}, problems: map[Problem]int{}}
	for _, f := range files {
		x.languages[f.Language]++
		if f.Records.Problem != "" {
			x.problems[f.Records.Problem]++
		}
	}
	return x
}

// Files returns all files in the order of their paths. The caller must not change the slice.
func (x *Index) Files() []*File { return x.files }

// File returns the file with a path, nil if there is none.
func (x *Index) File(path string) *File {
	i, ok := slices.BinarySearchFunc(x.files, path, func(f *File, path string) int { return strings.Compare(f.Path, path) })
	if !ok {
		return nil
	}
	return x.files[i]
}

// Languages counts the files by language. The caller must not change the map; so for the other counts.
func (x *Index) Languages() map[Language]int { return x.languages }

// Problems counts the files with a problem by problem.
func (x *Index) Problems() map[Problem]int { return x.problems }

// Skipped counts the entries of the commit that are no file of the index by reason.
func (x *Index) Skipped() map[Skipped]int { return x.skipped }

// Find returns the definitions with a qualified name, in the order of the file; if there are none, those
// whose name ends with it: Class.method and method find outer.Class.method. Without kinds, of every kind.
func (f *File) Find(name string, kinds ...Kind) []Definition {
	equal := f.filter(kinds, func(n string) bool { return n == name })
	if len(equal) > 0 || name == "" {
		return equal
	}
	return f.filter(kinds, func(n string) bool {
		return len(n) > len(name) && strings.HasSuffix(n, name) && n[len(n)-len(name)-1] == '.'
	})
}

// Similar returns at most three names of definitions of the kinds that a misspelt name may mean, best first.
func (f *File) Similar(name string, kinds ...Kind) []string {
	found := f.filter(kinds, func(string) bool { return true })
	names := make([]string, len(found))
	for i, d := range found {
		names[i] = d.Name
	}
	return similar(name, names, '.')
}

func (f *File) filter(kinds []Kind, named func(string) bool) (found []Definition) {
	for _, d := range f.Records.Definitions {
		if named(d.Name) && (len(kinds) == 0 || slices.Contains(kinds, d.Kind)) {
			found = append(found, d)
		}
	}
	return found
}

// Similar returns at most three paths of files that a misspelt path may mean, best first.
func (x *Index) Similar(path string) []string {
	paths := make([]string, len(x.files))
	for i, f := range x.files {
		paths[i] = f.Path
	}
	return similar(path, paths, '/')
}

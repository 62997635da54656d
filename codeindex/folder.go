package codeindex

import "strings"

// Folder is a folder with source files, below it or in it.
type Folder struct {
	Name    string    // its last part; "" for the root
	Folders []*Folder // in the order of paths, so for Files
	Files   []string  // names without folders
	Count   int       // of all files below it
}

// Root returns the tree of all files of the index.
func (x *Index) Root() *Folder {
	root := &Folder{}
	open := []*Folder{root} // the folders of the last file, outermost first
	dir := ""               // their path
	for _, f := range x.files {
		end := strings.LastIndexByte(f.Path, '/')
		if next := f.Path[:max(end, 0)]; next != dir {
			open = enter(open, next)
			dir = next
		}
		last := open[len(open)-1]
		last.Files = append(last.Files, f.Path[end+1:])
	}
	root.count()
	return root
}

// enter returns the folders of a path. It keeps those that are open, and adds the others to the tree.
func enter(open []*Folder, path string) []*Folder {
	depth := 1
	for name := range strings.SplitSeq(path, "/") {
		if depth < len(open) && open[depth].Name == name {
			depth++
			continue
		}
		open = open[:depth]
		if path != "" {
			next := &Folder{Name: name}
			parent := open[depth-1]
			parent.Folders = append(parent.Folders, next)
			open = append(open, next)
			depth++
		}
	}
	return open[:depth]
}

// count sets Count of the folder and of all below it.
func (f *Folder) count() int {
	f.Count = len(f.Files)
	for _, below := range f.Folders {
		f.Count += below.count()
	}
	return f.Count
}

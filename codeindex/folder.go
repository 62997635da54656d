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
	var names []string      // their names, without the root's
	for _, f := range x.files {
		parts := strings.Split(f.Path, "/")
		folders := parts[:len(parts)-1]
		same := 0
		for same < min(len(folders), len(names)) && folders[same] == names[same] {
			same++
		}
		open = open[:same+1]
		for _, name := range folders[same:] {
			next := &Folder{Name: name}
			parent := open[len(open)-1]
			parent.Folders = append(parent.Folders, next)
			open = append(open, next)
		}
		names = folders
		for _, folder := range open {
			folder.Count++
		}
		last := open[len(open)-1]
		last.Files = append(last.Files, parts[len(parts)-1])
	}
	return root
}

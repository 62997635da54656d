package reposearcher

import (
	"fmt"
	"strings"

	"relabel/codeindex"
)

// structure draws the tree of files, with two spaces for each folder that an entry is in. If that takes
// more than limit bytes, folders are folded from the deepest on, each with its number of files; if even
// the root takes more, it is cut in the middle. The text says so in both cases.
func structure(root *codeindex.Folder, limit int) string {
	if root.Count == 0 {
		return "(no source files)\n"
	}
	if size(root, 0, -1) <= limit {
		return draw(root, -1)
	}
	depth := depthOf(root)
	for depth > 1 && size(root, 0, depth-1) > limit {
		depth--
	}
	note := fmt.Sprintf("(folders below depth %d are folded; each has its number of files)\n", depth-1)
	return note + cutMiddle(draw(root, depth-1), limit)
}

// size is the number of bytes that draw needs for a folder's entries, which are below depth folders.
func size(f *codeindex.Folder, depth, fold int) (bytes int) {
	for _, sub := range f.Folders {
		bytes += 2*depth + len(folderLine(sub, depth == fold))
		if depth != fold {
			bytes += size(sub, depth+1, fold)
		}
	}
	for _, name := range f.Files {
		bytes += 2*depth + len(name) + 1
	}
	return bytes
}

// depthOf is the number of folders in which the deepest folder is.
func depthOf(f *codeindex.Folder) (depth int) {
	for _, sub := range f.Folders {
		depth = max(depth, depthOf(sub)+1)
	}
	return depth
}

// draw draws a tree; folders that are in fold folders are folded, none if fold is negative.
func draw(root *codeindex.Folder, fold int) string {
	var b strings.Builder
	drawInto(&b, root, 0, fold)
	return b.String()
}

func drawInto(b *strings.Builder, f *codeindex.Folder, depth, fold int) {
	indent := strings.Repeat("  ", depth)
	for _, sub := range f.Folders {
		b.WriteString(indent + folderLine(sub, depth == fold))
		if depth != fold {
			drawInto(b, sub, depth+1, fold)
		}
	}
	for _, name := range f.Files {
		b.WriteString(indent + name + "\n")
	}
}

func folderLine(f *codeindex.Folder, folded bool) string {
	switch {
	case !folded:
		return f.Name + "/\n"
	case f.Count == 1:
		return f.Name + "/ (1 file)\n"
	}
	return fmt.Sprintf("%s/ (%d files)\n", f.Name, f.Count)
}

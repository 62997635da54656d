// Package tree reads the changes of a patch from git, after the patch was applied to an index.
package tree

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// Change is a path that differs between the base tree and the index with the patch.
type Change struct {
	Path             string // relative to the repository
	OldMode, NewMode string // six octal digits; NoMode if there is no such file
	OldID, NewID     string // the objects at the base and with the patch; zeros if there is none
	Link             string // the target if the path becomes a symlink
	Ignored          bool   // the patch adds it, and git ignores it at the base commit
	Hidden           bool   // the patch adds it, and the image has an ignored file there
}

// Modes of git's trees.
const (
	NoMode      = "000000"
	LinkMode    = "120000"
	gitlinkMode = "160000"
)

// Added reports whether the patch adds the file.
func (c Change) Added() bool { return c.OldMode == NoMode }

// Deleted reports whether the patch removes the file.
func (c Change) Deleted() bool { return c.NewMode == NoMode }

// Reading describes a repository after the patch was applied to an index, not to the working tree.
type Reading struct {
	Tree    string   // the repository before the patch, as a git tree
	Base    PathSet  // its files
	Changes []Change // of the patch
	Facts   Facts    // about the image
}

// ParseReading reads the output of the verifier's script for an applied patch. ok is false if it is
// broken.
func ParseReading(output []byte) (r Reading, ok bool) {
	lists := strings.SplitN(string(output), "\x00\x00", 2)
	if len(lists) != 2 || strings.Contains(lists[0], "\x00") {
		return Reading{}, false
	}
	r = Reading{Tree: lists[0]}
	var sections [5][]string
	rest := lists[1]
	for i := range sections {
		if sections[i], rest, ok = cutList(rest); !ok {
			return Reading{}, false
		}
	}
	r.Base = NewPathSet(sections[0])
	r.Changes = parseRaw(sections[1])
	ignored, hidden, links := Set(sections[2]), Set(sections[3]), map[string]string{}
	for i := 0; i+1 < len(sections[4]); i += 2 {
		links[sections[4][i]] = strings.TrimPrefix(sections[4][i+1], "=")
	}
	for i := range r.Changes {
		c := &r.Changes[i]
		c.Ignored, c.Hidden, c.Link = ignored["./"+c.Path], hidden[c.Path], links[c.Path]
	}
	r.Facts = ParseFacts(rest)
	return r, true
}

// cutList cuts a list of fields that end with NUL from s, up to an empty field.
func cutList(s string) (fields []string, rest string, ok bool) {
	for {
		field, after, ok := strings.Cut(s, "\x00")
		if !ok {
			return nil, "", false
		}
		if field == "" {
			return fields, after, true
		}
		fields, s = append(fields, field), after
	}
}

// Set returns the set of the names.
func Set(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	return set
}

// parseRaw reads git's raw format: ":old-mode new-mode old-id new-id status", then the path.
func parseRaw(fields []string) []Change {
	var changes []Change
	for i := 0; i+1 < len(fields); i += 2 {
		words := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(words) == 5 {
			changes = append(changes, Change{Path: fields[i+1], OldMode: words[0], NewMode: words[1], OldID: words[2], NewID: words[3]})
		}
	}
	return changes
}

// Entry is the line for git update-index --index-info that restores the path of the base.
func (c Change) Entry() string { return c.OldMode + " " + c.OldID + "\t" + c.Path + "\x00" }

// MaxChanges is how many files a submission may change.
const MaxChanges = 50_000

// Unsafe names a change that leaves the repository, is in .git, becomes a symlink out of the
// repository or becomes a submodule; "" if there is none.
func Unsafe(changes []Change) string {
	if len(changes) > MaxChanges {
		return fmt.Sprintf("it changes %d files; the limit is %d", len(changes), MaxChanges)
	}
	for _, c := range changes {
		switch {
		case UnsafePath(c.Path):
			return fmt.Sprintf("%q is outside the repository or in .git", c.Path)
		case c.NewMode == gitlinkMode:
			return fmt.Sprintf("%q becomes a submodule", c.Path)
		case c.NewMode == LinkMode && escapes(c.Path, c.Link):
			return fmt.Sprintf("%q becomes a link to %q, outside the repository", c.Path, c.Link)
		}
	}
	return ""
}

// gitFolder matches names that some file system treats as .git: in any case, with trailing dots or
// spaces, with a stream's name, or its short name.
var gitFolder = regexp.MustCompile(`(?i)^(\.git|git~[0-9]+)[. ]*(:.*)?$`)

// UnsafePath reports whether a path leaves the repository or is in a .git folder.
func UnsafePath(name string) bool {
	if name == "" || strings.ContainsAny(name, "\x00") {
		return true
	}
	for _, part := range strings.Split(name, "/") {
		if part == "" || part == "." || part == ".." || gitFolder.MatchString(strings.Map(visible, part)) {
			return true
		}
	}
	return false
}

// visible removes the characters that HFS+ ignores in names.
func visible(r rune) rune {
	if r >= 0x200C && r <= 0x200F || r >= 0x202A && r <= 0x202E || r >= 0x206A && r <= 0x206F || r == 0xFEFF {
		return -1
	}
	return r
}

// escapes reports whether a symlink leads outside the repository or into .git, or may do so through
// another link because it climbs after it has descended.
func escapes(name, target string) bool {
	if path.IsAbs(target) || target == "" {
		return true
	}
	descended := false
	for _, part := range strings.Split(target, "/") {
		if part == ".." && descended {
			return true
		}
		descended = descended || (part != ".." && part != "." && part != "")
	}
	joined := path.Join(path.Dir(name), target)
	return joined != "." && UnsafePath(joined)
}

// PathSet holds the files and folders of a tree.
type PathSet struct {
	Files   map[string]bool // by path
	Folders map[string]bool // by path, with "."
	Python  map[string]bool // folders that directly contain Python files
}

// NewPathSet returns the set of the files and of the folders above them.
func NewPathSet(files []string) PathSet {
	s := PathSet{Files: Set(files), Folders: map[string]bool{".": true}, Python: map[string]bool{}}
	for _, file := range files {
		if strings.HasSuffix(file, ".py") {
			s.Python[path.Dir(file)] = true
		}
		for dir := path.Dir(file); !s.Folders[dir]; dir = path.Dir(dir) {
			s.Folders[dir] = true
		}
	}
	return s
}

// Has reports whether there is a file or folder of this name.
func (s PathSet) Has(name string) bool { return s.Files[name] || s.Folders[name] }

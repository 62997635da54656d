// Package tree reads what a patch changes in a repository, from git after the patch was applied to
// an index.
package tree

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// Change is one path that differs between the base tree and the index that the patch was
// applied to, as git has it.
type Change struct {
	Path             string // relative to the repository
	OldMode, NewMode string // six octal digits; NoMode where there is no such file
	OldID, NewID     string // the objects at the base and with the patch; zeros where none exists
	Link             string // the target, where the path becomes a symlink
	Ignored          bool   // the patch adds it, and git ignores it at the base commit
	Hidden           bool   // the patch adds it, and the image has an ignored file there
}

// Modes of git's trees.
const (
	NoMode      = "000000"
	LinkMode    = "120000"
	gitlinkMode = "160000"
)

// Added reports whether the base has no such file.
func (c Change) Added() bool { return c.OldMode == NoMode }

// Deleted reports whether the patch removes the file.
func (c Change) Deleted() bool { return c.NewMode == NoMode }

// Reading is what is known after the patch was applied to an index, with none of it in
// the working tree.
type Reading struct {
	Tree    string   // the repository before the patch, as a git tree
	Base    PathSet  // its files
	Changes []Change // what the patch changes
	Facts   Facts    // what the image has installed
}

// ParseReading reads what the verifier's script prints of an applied patch; ok is false where it
// is broken.
func ParseReading(output []byte) (r Reading, ok bool) {
	lists := strings.SplitN(string(output), "\x00\x00", 2)
	if len(lists) != 2 || strings.Contains(lists[0], "\x00") {
		return Reading{}, false
	}
	r = Reading{Tree: lists[0]}
	var sections [5][]string
	rest := lists[1]
	for i := range sections {
		var ok bool
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

// cutList takes a list of fields that end with NUL off s, up to an empty field.
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
	set := map[string]bool{}
	for _, n := range names {
		set[n] = true
	}
	return set
}

// parseRaw reads git's raw difference: ":old-mode new-mode old-id new-id status", then the
// path.
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

// Entry is the line of git update-index --index-info that puts the path back to what it is
// at the base.
func (c Change) Entry() string { return c.OldMode + " " + c.OldID + "\t" + c.Path + "\x00" }

// MaxChanges is how many files a submission may change.
const MaxChanges = 50_000

// Unsafe says which change leaves the repository, lies in .git, becomes a symlink that
// leads out of the repository, or a submodule; "" where none does.
func Unsafe(changes []Change) string {
	if len(changes) > MaxChanges {
		return fmt.Sprintf("it changes %d files, and %d may be", len(changes), MaxChanges)
	}
	for _, c := range changes {
		switch {
		case UnsafePath(c.Path):
			return fmt.Sprintf("%q leaves the repository or lies in .git", c.Path)
		case c.NewMode == gitlinkMode:
			return fmt.Sprintf("%q becomes a submodule", c.Path)
		case c.NewMode == LinkMode && escapes(c.Path, c.Link):
			return fmt.Sprintf("%q becomes a link to %q, out of the repository", c.Path, c.Link)
		}
	}
	return ""
}

// gitFolder matches a part of a path that some file system takes for .git: in any case,
// with dots or spaces behind it, with a stream's name, or by its short name.
var gitFolder = regexp.MustCompile(`(?i)^(\.git|git~[0-9]+)[. ]*(:.*)?$`)

// UnsafePath reports whether a path leaves the repository or lies in a .git folder.
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

// visible leaves out the characters that HFS+ does not see in a name.
func visible(r rune) rune {
	if r >= 0x200C && r <= 0x200F || r >= 0x202A && r <= 0x202E || r >= 0x206A && r <= 0x206F || r == 0xFEFF {
		return -1
	}
	return r
}

// escapes reports whether a symlink at name with this target points out of the repository
// or into .git, or may do so by way of another link: it climbs after it has descended.
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

// PathSet holds the files of a tree and the folders that they lie in.
type PathSet struct {
	Files   map[string]bool // by path
	Folders map[string]bool // by path; "." too
	Python  map[string]bool // folders with Python files right in them
}

// NewPathSet returns the set of the files and of the folders above them.
func NewPathSet(files []string) PathSet {
	s := PathSet{Files: make(map[string]bool, len(files)), Folders: map[string]bool{".": true}, Python: map[string]bool{}}
	for _, f := range files {
		s.add(f)
	}
	return s
}

func (s PathSet) add(file string) {
	s.Files[file] = true
	if strings.HasSuffix(file, ".py") {
		s.Python[path.Dir(file)] = true
	}
	for dir := path.Dir(file); !s.Folders[dir]; dir = path.Dir(dir) {
		s.Folders[dir] = true
	}
}

// Has reports whether there is a file or folder of this name.
func (s PathSet) Has(name string) bool { return s.Files[name] || s.Folders[name] }

package verify

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// change is one path that differs between the base tree and the index that the patch was
// applied to, as git has it.
type change struct {
	path             string
	oldMode, newMode string // six octal digits; noMode where there is no such file
	oldID, newID     string // the objects at the base and with the patch; zeros where there is none
	link             string // the target, where the path becomes a symlink
	ignored          bool   // the patch adds it, and git ignores it at the base commit
	hidden           bool   // the patch adds it, and the image has an ignored file there
}

// Modes of git's trees.
const (
	noMode      = "000000"
	linkMode    = "120000"
	gitlinkMode = "160000"
)

func (c change) added() bool   { return c.oldMode == noMode }
func (c change) deleted() bool { return c.newMode == noMode }

// reading is what is known after the patch was applied to an index, with none of it in
// the working tree.
type reading struct {
	tree    string  // the repository before the patch, as a git tree
	base    pathSet // its files
	changes []change
	facts   facts
}

// parseReading reads what readScript prints.
func parseReading(output []byte) (reading, bool) {
	lists := strings.SplitN(string(output), "\x00\x00", 2)
	if len(lists) != 2 || strings.Contains(lists[0], "\x00") {
		return reading{}, false
	}
	r := reading{tree: lists[0]}
	var sections [5][]string
	rest := lists[1]
	for i := range sections {
		var ok bool
		if sections[i], rest, ok = cutList(rest); !ok {
			return reading{}, false
		}
	}
	r.base = newPathSet(sections[0])
	r.changes = parseRaw(sections[1])
	ignored, hidden, links := listed(sections[2]), listed(sections[3]), map[string]string{}
	for i := 0; i+1 < len(sections[4]); i += 2 {
		links[sections[4][i]] = strings.TrimPrefix(sections[4][i+1], "=")
	}
	for i := range r.changes {
		c := &r.changes[i]
		c.ignored, c.hidden, c.link = ignored["./"+c.path], hidden[c.path], links[c.path]
	}
	r.facts = parseFacts(rest)
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

func listed(names []string) map[string]bool {
	set := map[string]bool{}
	for _, n := range names {
		set[n] = true
	}
	return set
}

// parseRaw reads git's raw difference: ":old-mode new-mode old-id new-id status", then the
// path.
func parseRaw(fields []string) []change {
	var changes []change
	for i := 0; i+1 < len(fields); i += 2 {
		words := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(words) == 5 {
			changes = append(changes, change{path: fields[i+1], oldMode: words[0], newMode: words[1], oldID: words[2], newID: words[3]})
		}
	}
	return changes
}

// entry is the line of git update-index --index-info that puts the path back to what it is
// at the base.
func (c change) entry() string { return c.oldMode + " " + c.oldID + "\t" + c.path + "\x00" }

// maxChanges is how many files a submission may change.
const maxChanges = 50_000

// unsafe says which change leaves the repository, lies in .git, becomes a symlink that
// leads out of the repository, or a submodule; "" where none does.
func unsafe(changes []change) string {
	if len(changes) > maxChanges {
		return fmt.Sprintf("it changes %d files, and %d may be", len(changes), maxChanges)
	}
	for _, c := range changes {
		switch {
		case unsafePath(c.path):
			return fmt.Sprintf("%q leaves the repository or lies in .git", c.path)
		case c.newMode == gitlinkMode:
			return fmt.Sprintf("%q becomes a submodule", c.path)
		case c.newMode == linkMode && escapes(c.path, c.link):
			return fmt.Sprintf("%q becomes a link to %q, out of the repository", c.path, c.link)
		}
	}
	return ""
}

// gitFolder matches a part of a path that some file system takes for .git: in any case,
// with dots or spaces behind it, with a stream's name, or by its short name.
var gitFolder = regexp.MustCompile(`(?i)^(\.git|git~[0-9]+)[. ]*(:.*)?$`)

// unsafePath reports whether a path leaves the repository or lies in a .git folder.
func unsafePath(name string) bool {
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
	return joined != "." && unsafePath(joined)
}

// pathSet holds the files of a tree and the folders that they lie in.
type pathSet struct {
	files   map[string]bool
	folders map[string]bool
	python  map[string]bool // folders with Python files right in them
}

func newPathSet(files []string) pathSet {
	s := pathSet{files: make(map[string]bool, len(files)), folders: map[string]bool{".": true}, python: map[string]bool{}}
	for _, f := range files {
		s.add(f)
	}
	return s
}

func (s pathSet) add(file string) {
	s.files[file] = true
	if strings.HasSuffix(file, ".py") {
		s.python[path.Dir(file)] = true
	}
	for dir := path.Dir(file); !s.folders[dir]; dir = path.Dir(dir) {
		s.folders[dir] = true
	}
}

// has reports whether there is a file or folder of this name.
func (s pathSet) has(name string) bool { return s.files[name] || s.folders[name] }

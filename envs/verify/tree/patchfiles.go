package tree

import (
	"regexp"
	"strconv"
	"strings"
)

// patchFile is a path that a patch of a task's own touches. What a submission touches is
// read from git after it was applied: see Reading.
type patchFile struct {
	Path    string // relative to the repository
	Deleted bool   // the patch removes it
}

// hunkHeader gives the lengths of a hunk's two sides; 1 where none is written.
var hunkHeader = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// PatchFiles lists the paths that a task's own patch touches, both sides of a rename, each
// once and in order.
func PatchFiles(patch string) []patchFile {
	r := patchReader{seen: map[string]int{}}
	for _, line := range strings.Split(patch, "\n") {
		r.line(line)
	}
	return r.files
}

// PatchPaths lists the paths of PatchFiles.
func PatchPaths(patch string) []string {
	var paths []string
	for _, f := range PatchFiles(patch) {
		paths = append(paths, f.Path)
	}
	return paths
}

// patchReader goes through a patch line by line.
type patchReader struct {
	files    []patchFile
	seen     map[string]int // path → its place in files
	current  string         // the path after the patch
	old, new int            // lines of the current hunk still to come
}

func (r *patchReader) line(line string) {
	if r.old > 0 || r.new > 0 {
		r.body(line)
		return
	}
	if m := hunkHeader.FindStringSubmatch(line); m != nil {
		r.old, r.new = hunkLength(m[1]), hunkLength(m[2])
		return
	}
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "diff":
		r.begin(rest)
	case "---":
		r.touch(Stripped(rest))
	case "+++":
		if name := Stripped(rest); name != "" {
			r.current = name
			r.touch(name)
		}
	case "rename", "copy":
		_, name, _ := strings.Cut(rest, " ")
		r.touch(unquote(name))
	case "new", "deleted", "old":
		r.mode(word, rest)
	}
}

// begin starts the next file. Its line is the only place that names a file without
// content: both names are the same then.
func (r *patchReader) begin(rest string) {
	r.current = ""
	names, ok := strings.CutPrefix(rest, "--git ")
	if !ok {
		return
	}
	if strings.HasPrefix(names, `"`) {
		if end := quotedEnd(names); end > 0 {
			r.current = Stripped(names[:end])
		}
	} else if half := len(names) / 2; len(names)%2 == 1 && names[half] == ' ' && Stripped(names[:half]) == Stripped(names[half+1:]) {
		r.current = Stripped(names[:half])
	}
	r.touch(r.current)
}

// mode reads a line such as "new file mode 100644".
func (r *patchReader) mode(word, rest string) {
	at, there := r.seen[r.current]
	if !there || !strings.HasPrefix(rest, "file mode") {
		return
	}
	r.files[at].Deleted = word == "deleted"
}

// body reads a line of a hunk.
func (r *patchReader) body(line string) {
	switch {
	case strings.HasPrefix(line, "+"):
		r.new--
	case strings.HasPrefix(line, "-"):
		r.old--
	case strings.HasPrefix(line, `\`):
	default:
		r.old--
		r.new--
	}
}

// touch notes a path.
func (r *patchReader) touch(name string) {
	if name == "" {
		return
	}
	if _, there := r.seen[name]; !there {
		r.seen[name] = len(r.files)
		r.files = append(r.files, patchFile{Path: name})
	}
}

func hunkLength(s string) int {
	if s == "" {
		return 1
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// Stripped returns a name of a patch without its first folder, as -p1 does, or "" for
// /dev/null.
func Stripped(name string) string {
	if !strings.HasPrefix(name, `"`) {
		name, _, _ = strings.Cut(name, "\t")
	}
	name = unquote(name)
	if name == "/dev/null" {
		return ""
	}
	if _, rest, ok := strings.Cut(name, "/"); ok {
		return rest
	}
	return name
}

// quotedEnd returns the length of the quoted word at the start of s, or 0.
func quotedEnd(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

// unquote reads a name as git quotes it, in the manner of C.
func unquote(name string) string {
	end := 0
	if strings.HasPrefix(name, `"`) {
		end = quotedEnd(name)
	}
	if end == 0 {
		return name
	}
	s, err := strconv.Unquote(name[:end])
	if err != nil {
		return name
	}
	return s
}

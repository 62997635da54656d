// Package gitdiff reads unified diffs, as git and diff -u write them.
package gitdiff

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// File is one file of a diff.
type File struct {
	Old, New         string // its paths before and after; "" if it does not exist
	OldMode, NewMode string // such as 100755; "" if the diff names none
	Copied           bool   // the new file is made of a copy of the old one, which stays
	Binary           bool   // the diff has a binary patch in place of hunks
	Hunks            []Hunk
}

// Hunk is one changed part of a file.
type Hunk struct {
	Start, Length int    // first line in the old file, from 1, and number of lines there
	Heading       string // the enclosing function, as git found it
	Lines         []Line // context, removed and added lines, and their NoNewline marks
}

// Old is the text that the hunk replaces.
func (h Hunk) Old() string { return h.without(Added) }

// New is the text that replaces it.
func (h Hunk) New() string { return h.without(Removed) }

func (h Hunk) without(op byte) string {
	var b strings.Builder
	for i, l := range h.Lines {
		if l.Op == op || l.Op == NoNewline {
			continue
		}
		b.WriteString(l.Text)
		if i+1 == len(h.Lines) || h.Lines[i+1].Op != NoNewline {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// reader collects the files of classified lines.
type reader struct {
	lines    []Line
	at       int
	files    []File
	inHeader bool // all lines since the last "diff --git" belong to its header
	partial  bool // binary files may lack their contents
}

// Parse lists the files that a unified diff changes; paths lose their first folder, as with git
// apply. The hunks must be complete: an error names the first line that does not fit, and the
// files up to there are returned too.
func Parse(text string) ([]File, error) {
	return (&reader{lines: Lines(text)}).read()
}

// Changes is Parse for a diff that is not to be applied as a whole: binary files may lack their contents.
func Changes(text string) ([]File, error) {
	return (&reader{lines: Lines(text), partial: true}).read()
}

func (r *reader) read() ([]File, error) {
	var err error
	for r.at < len(r.lines) && err == nil {
		switch r.lines[r.at].Op {
		case Header:
			err = r.header(r.lines[r.at].Text)
		case HunkHead:
			err = r.hunk()
		default:
			r.skip()
		}
	}
	if err == nil && len(r.files) == 0 {
		err = errors.New("is not a diff: it names no file")
	}
	return r.files, err
}

// skip passes a line between files that git ignores.
func (r *reader) skip() {
	r.inHeader = false
	r.at++
}

func (r *reader) peek(n int) string {
	if r.at+n < len(r.lines) {
		return r.lines[r.at+n].Text
	}
	return ""
}

func (r *reader) bad(problem string) error {
	return fmt.Errorf("is not a complete diff: line %d of it %s", r.at+1, problem)
}

// header reads a line outside of hunks.
func (r *reader) header(line string) (err error) {
	line = strings.TrimSuffix(line, "\r")
	f := &File{} // outside of git's headers, lines such as "rename to" are prose
	if r.inHeader {
		f = &r.files[len(r.files)-1]
	}
	word, rest, _ := strings.Cut(line, " ")
	kind, value, _ := strings.Cut(rest, " ")
	switch word + " " + kind {
	case "diff --git":
		err = r.gitHeader(value)
	case "rename from", "copy from":
		f.Old, err = unquote(value)
		f.Copied = word == "copy"
	case "rename to", "copy to":
		f.New, err = unquote(value)
	case "old mode":
		f.OldMode = value
	case "new mode":
		f.NewMode = value
	case "new file":
		f.Old, f.NewMode = "", strings.TrimPrefix(value, "mode ")
	case "deleted file":
		f.New, f.OldMode = "", strings.TrimPrefix(value, "mode ")
	case "GIT binary":
		f.Binary = true
	case "Binary files":
		f.Binary = true
		if strings.HasSuffix(value, " differ") && !r.partial {
			return fmt.Errorf("lacks the contents of a binary file, so it cannot be applied: %s", line)
		}
	default:
		if word == "---" && strings.HasPrefix(r.peek(1), "+++ ") {
			return r.fileHeader(rest)
		}
		r.inHeader = r.inHeader && word != "diff"
	}
	if err != nil {
		return r.bad(err.Error())
	}
	r.at++
	return nil
}

// gitHeader reads the two paths of "diff --git a/old b/new". Unquoted paths with spaces are
// recognized if they are equal; otherwise the lines that follow have them.
func (r *reader) gitHeader(paths string) error {
	var old, next string
	half := len(paths) / 2
	switch {
	case strings.HasPrefix(paths, `"`) || strings.HasSuffix(paths, `"`):
		var tail string
		var err, err2 error
		old, tail, err = cutPath(paths)
		next, _, err2 = cutPath(strings.TrimPrefix(tail, " "))
		if err != nil || err2 != nil {
			return errPath
		}
	case len(paths)%2 == 1 && paths[half] == ' ' && stripFolder(paths[:half]) == stripFolder(paths[half+1:]):
		old, next = paths[:half], paths[half+1:]
	default:
		var ok bool
		if old, next, ok = strings.Cut(paths, " b/"); !ok {
			return errors.New("does not name two paths")
		}
		next = "b/" + next
	}
	r.files = append(r.files, File{Old: stripFolder(old), New: stripFolder(next)})
	r.inHeader = true
	return nil
}

var errPath = errors.New("has a path that cannot be read")

// cutPath takes the first path off a header, quoted as git does or up to a space.
func cutPath(s string) (first, rest string, err error) {
	if !strings.HasPrefix(s, `"`) {
		first, rest, _ = strings.Cut(s, " ")
		return first, rest, nil
	}
	quoted, err := strconv.QuotedPrefix(s) // git's escapes are Go's: \n, \", \303
	if err != nil {
		return "", "", errPath
	}
	first, err = strconv.Unquote(quoted)
	return first, s[len(quoted):], err
}

// unquote reads a whole path, which may be quoted.
func unquote(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		return s, nil
	}
	s, _, err := cutPath(s)
	return s, err
}

// stripFolder removes the first folder of a path, such as a/ or b/, as git apply does. Paths that
// leave the repository keep it.
func stripFolder(p string) string {
	if first, rest, ok := strings.Cut(p, "/"); ok && first != "" && first != "." && first != ".." {
		return rest
	}
	return p
}

// fileHeader reads "--- old" and "+++ new", the paths that git prefers.
func (r *reader) fileHeader(rest string) error {
	old, err := headerPath(rest)
	next, err2 := headerPath(strings.TrimPrefix(r.peek(1), "+++ "))
	switch {
	case err != nil || err2 != nil:
		return r.bad(errPath.Error())
	case old == "" && next == "":
		return r.bad("names no file")
	}
	if !r.inHeader {
		r.files = append(r.files, File{})
	}
	f := &r.files[len(r.files)-1]
	f.Old, f.New = old, next
	r.inHeader = false
	r.at += 2
	if !strings.HasPrefix(r.peek(0), "@@ ") {
		return r.bad("should begin a hunk")
	}
	return nil
}

// headerPath reads the path of a --- or +++ line; /dev/null is "". A tab ends it.
func headerPath(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		s, _, _ = strings.Cut(strings.TrimSuffix(s, "\r"), "\t")
	}
	s, err := unquote(s)
	if s == "/dev/null" {
		return "", err
	}
	return stripFolder(s), err
}

// hunk reads "@@ -a,b +c,d @@" and the lines that it counts.
func (r *reader) hunk() error {
	m := hunkHead.FindStringSubmatch(r.lines[r.at].Text)
	if !strings.HasPrefix(r.lines[r.at].Text, "@@ ") {
		r.skip()
		return nil
	}
	switch {
	case m == nil:
		return r.bad("is not the head of a hunk")
	case len(r.files) == 0:
		return r.bad("is a hunk before any file")
	}
	start, _ := strconv.Atoi(m[1])
	h := Hunk{Start: start, Length: lineCount(m[2]), Heading: m[5]}
	r.inHeader = false
	head, before, after := r.at, 0, 0
	for r.at++; r.at < len(r.lines) && strings.IndexByte(" -+\\", r.lines[r.at].Op) >= 0; r.at++ {
		switch r.lines[r.at].Op {
		case Context:
			before, after = before+1, after+1
		case Removed:
			before++
		case Added:
			after++
		}
	}
	if before != h.Length || after != lineCount(m[4]) {
		return fmt.Errorf("is not a complete diff: the hunk at line %d has %d old and %d new lines, not %d and %d",
			head+1, before, after, h.Length, lineCount(m[4]))
	}
	h.Lines = r.lines[head+1 : r.at]
	f := &r.files[len(r.files)-1]
	f.Hunks = append(f.Hunks, h)
	return nil
}

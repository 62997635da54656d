// Package gitdiff reads unified diffs, as git and diff -u write them.
package gitdiff

import (
	"fmt"
	"strconv"
	"strings"
)

// Change is one file of a diff: its path before and after, "" where there is none.
type Change struct{ Old, New string }

// reader walks the lines of a unified or git diff.
type reader struct {
	lines   []string
	at      int
	changes []Change
}

// Parse lists the files that a unified diff changes. The hunks must be complete: an error
// tells the line where the diff does not hold what a header counts.
func Parse(text string) ([]Change, error) {
	r := &reader{lines: strings.Split(strings.TrimSuffix(text, "\n"), "\n")}
	for r.at < len(r.lines) {
		line := r.lines[r.at]
		var err error
		switch {
		case strings.HasPrefix(line, "diff --git "):
			err = r.gitHeader()
		case strings.HasPrefix(line, "--- ") && strings.HasPrefix(r.peek(1), "+++ "):
			err = r.fileHeader()
		case strings.HasPrefix(line, "@@ "):
			err = r.hunk()
		case strings.HasPrefix(line, "GIT binary patch"):
			r.binary()
		case strings.HasPrefix(line, "Binary files ") && strings.HasSuffix(strings.TrimSuffix(line, "\r"), " differ"):
			err = fmt.Errorf("does not hold the contents of a binary file, so that nothing can apply it: %s", strings.TrimSuffix(line, "\r"))
		case strings.HasPrefix(line, "rename from ") || strings.HasPrefix(line, "copy from "):
			err = r.renamed(&r.last().Old, line)
		case strings.HasPrefix(line, "rename to ") || strings.HasPrefix(line, "copy to "):
			err = r.renamed(&r.last().New, line)
		case strings.HasPrefix(line, "new file mode "):
			r.last().Old = ""
			r.at++
		case strings.HasPrefix(line, "deleted file mode "):
			r.last().New = ""
			r.at++
		default:
			r.at++ // index lines, modes, words between files
		}
		if err != nil {
			return nil, err
		}
	}
	if len(r.changes) == 0 {
		return nil, fmt.Errorf("is no diff: it names no file")
	}
	return r.changes, nil
}

func (r *reader) peek(n int) string {
	if r.at+n < len(r.lines) {
		return r.lines[r.at+n]
	}
	return ""
}

// last is the file that is being read.
func (r *reader) last() *Change {
	if len(r.changes) == 0 {
		return &Change{}
	}
	return &r.changes[len(r.changes)-1]
}

func (r *reader) bad(format string, args ...any) error {
	return fmt.Errorf("is no whole diff: line %d of it %s", r.at+1, fmt.Sprintf(format, args...))
}

// gitHeader reads "diff --git a/old b/new". Unquoted paths with spaces are found by
// their being the same; where they are not, the lines that follow say them.
func (r *reader) gitHeader() error {
	rest := strings.TrimPrefix(r.lines[r.at], "diff --git ")
	var change Change
	if strings.HasPrefix(rest, `"`) || strings.HasSuffix(rest, `"`) {
		old, tail, err := cutPath(rest)
		if err != nil {
			return r.bad("has a path that cannot be read")
		}
		next, _, err := cutPath(strings.TrimPrefix(tail, " "))
		if err != nil {
			return r.bad("has a path that cannot be read")
		}
		change = Change{stripPrefix(old), stripPrefix(next)}
	} else if half := len(rest) / 2; len(rest)%2 == 1 && rest[half] == ' ' && stripPrefix(rest[:half]) == stripPrefix(rest[half+1:]) {
		change = Change{stripPrefix(rest[:half]), stripPrefix(rest[half+1:])}
	} else if old, next, ok := strings.Cut(rest, " b/"); ok {
		change = Change{stripPrefix(old), next}
	} else {
		return r.bad("names no two paths")
	}
	r.changes = append(r.changes, change)
	r.at++
	return nil
}

// cutPath takes the first path off a header, quoted as git does or up to a space.
func cutPath(s string) (first, rest string, err error) {
	if !strings.HasPrefix(s, `"`) {
		first, rest, _ = strings.Cut(s, " ")
		return first, rest, nil
	}
	quoted, err := strconv.QuotedPrefix(s) // git's escapes are Go's: \n, \", \303
	if err != nil {
		return "", "", err
	}
	first, err = strconv.Unquote(quoted)
	return first, s[len(quoted):], err
}

// stripPrefix takes a/ or b/ off a path.
func stripPrefix(p string) string {
	if strings.HasPrefix(p, "a/") || strings.HasPrefix(p, "b/") {
		return p[2:]
	}
	return p
}

// fileHeader reads "--- old" and "+++ new". They are the paths that git goes by.
func (r *reader) fileHeader() error {
	old, err := headerPath(strings.TrimPrefix(r.lines[r.at], "--- "))
	if err != nil {
		return r.bad("has a path that cannot be read")
	}
	next, err := headerPath(strings.TrimPrefix(r.lines[r.at+1], "+++ "))
	if err != nil {
		return r.bad("is followed by a path that cannot be read")
	}
	if old == "" && next == "" {
		return r.bad("names no file")
	}
	begun := r.at > 0 && len(r.changes) > 0 && r.inGitHeader()
	if begun {
		*r.last() = Change{old, next}
	} else {
		r.changes = append(r.changes, Change{old, next})
	}
	r.at += 2
	if !strings.HasPrefix(r.peek(0), "@@ ") {
		return r.bad("should begin a hunk")
	}
	return nil
}

// inGitHeader reports whether the lines since the last "diff --git" are all its own.
func (r *reader) inGitHeader() bool {
	for i := r.at - 1; i >= 0; i-- {
		switch line := r.lines[i]; {
		case strings.HasPrefix(line, "diff --git "):
			return true
		case strings.HasPrefix(line, "index "), strings.HasPrefix(line, "old mode "), strings.HasPrefix(line, "new mode "),
			strings.HasPrefix(line, "new file mode "), strings.HasPrefix(line, "deleted file mode "), strings.HasPrefix(line, "similarity "),
			strings.HasPrefix(line, "dissimilarity "), strings.HasPrefix(line, "rename "), strings.HasPrefix(line, "copy "):
		default:
			return false
		}
	}
	return false
}

// headerPath reads the path of a --- or +++ line; /dev/null is "". A tab ends it.
func headerPath(s string) (string, error) {
	if strings.HasPrefix(s, `"`) {
		p, _, err := cutPath(s)
		return stripPrefix(p), err
	}
	s, _, _ = strings.Cut(s, "\t")
	if s = strings.TrimSuffix(s, "\r"); s == "/dev/null" {
		return "", nil
	}
	return stripPrefix(s), nil
}

// renamed reads a rename or copy line into path.
func (r *reader) renamed(path *string, line string) error {
	_, name, _ := strings.Cut(line, " ")
	_, name, _ = strings.Cut(name, " ")
	if strings.HasPrefix(name, `"`) {
		p, _, err := cutPath(name)
		if err != nil {
			return r.bad("has a path that cannot be read")
		}
		name = p
	}
	*path = name
	r.at++
	return nil
}

// hunk reads "@@ -a,b +c,d @@" and the lines it counts.
func (r *reader) hunk() error {
	if len(r.changes) == 0 {
		return r.bad("is a hunk before any file")
	}
	parts := strings.Fields(r.lines[r.at])
	if len(parts) < 4 || parts[3] != "@@" {
		return r.bad("is not the head of a hunk")
	}
	before, ok := hunkCount(parts[1], '-')
	after, ok2 := hunkCount(parts[2], '+')
	if !ok || !ok2 {
		return r.bad("is not the head of a hunk")
	}
	r.at++
	for before > 0 || after > 0 {
		if r.at >= len(r.lines) {
			return r.bad("should go on with the hunk")
		}
		switch line := r.lines[r.at]; {
		case line == "" || line == "\r" || line[0] == ' ':
			before, after = before-1, after-1
		case line[0] == '-':
			before--
		case line[0] == '+':
			after--
		case line[0] == '\\':
		default:
			return r.bad("does not belong to a hunk that is not over")
		}
		r.at++
	}
	if before < 0 || after < 0 {
		return r.bad("comes after more lines than the hunk counts")
	}
	return nil
}

// hunkCount reads the count of "-a,b" or "+c,d"; without one it is 1.
func hunkCount(s string, sign byte) (int, bool) {
	if s == "" || s[0] != sign {
		return 0, false
	}
	start, count, ok := strings.Cut(s[1:], ",")
	if !ok {
		count = "1"
	}
	_, err := strconv.ParseUint(start, 10, 31)
	n, err2 := strconv.ParseUint(count, 10, 31)
	return int(n), err == nil && err2 == nil
}

// binary passes over a binary patch, which lasts until the next file.
func (r *reader) binary() {
	for r.at < len(r.lines) && !strings.HasPrefix(r.lines[r.at], "diff --git ") {
		r.at++
	}
}

package gitdiff

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Reverse returns the diff that undoes a diff of git, as git diff -R writes it. It fails as Parse does, and on copies,
// which no diff undoes alike, and binary patches without a reverse part.
func Reverse(text string) (string, error) {
	files, err := Parse(text)
	if err != nil {
		return "", err
	}
	for _, f := range files {
		if f.Copied {
			return "", errors.New("copies a file")
		}
	}
	r := reverser{lines: Lines(text)}
	for r.at < len(r.lines) {
		if err := r.next(); err != nil {
			return "", err
		}
	}
	return r.out.String(), nil
}

// reverser reverses a diff line by line.
type reverser struct {
	lines []Line
	at    int
	out   strings.Builder
}

// next reverses the line, or the lines, that come next. Text outside of diffs is dropped.
func (r *reverser) next() error {
	line := r.lines[r.at]
	switch line.Op {
	case Header:
		return r.header(line.Text)
	case HunkHead:
		return r.hunk(line.Text)
	}
	r.at++
	return nil
}

var gitPaths = regexp.MustCompile(`^diff --git ("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*"|\S+)$`)

// header reverses a line of a header. Lines that describe one side become those of the other.
func (r *reverser) header(line string) error {
	line = strings.TrimSuffix(line, "\r")
	r.at++
	next := ""
	if r.at < len(r.lines) {
		next = strings.TrimSuffix(r.lines[r.at].Text, "\r")
	}
	switch word, rest, _ := strings.Cut(line, " "); {
	case strings.HasPrefix(line, "diff --git "):
		r.write(reversedPaths(line))
	case word == "---" && strings.HasPrefix(next, "+++ "):
		r.at++
		r.write("--- " + swapFolder(next[4:]))
		r.write("+++ " + swapFolder(rest))
	case strings.HasPrefix(line, "new file mode "):
		r.write("deleted file mode " + line[len("new file mode "):])
	case strings.HasPrefix(line, "deleted file mode "):
		r.write("new file mode " + line[len("deleted file mode "):])
	case strings.HasPrefix(line, "old mode ") && strings.HasPrefix(next, "new mode "):
		r.at++
		r.write("old mode " + next[len("new mode "):])
		r.write("new mode " + line[len("old mode "):])
	case strings.HasPrefix(line, "rename from ") && strings.HasPrefix(next, "rename to "):
		r.at++
		r.write("rename from " + next[len("rename to "):])
		r.write("rename to " + line[len("rename from "):])
	case word == "index":
		r.write("index " + reversedIndex(rest))
	case strings.HasPrefix(line, "GIT binary patch"):
		return r.binary()
	default:
		r.write(line)
	}
	return nil
}

func (r *reverser) write(line string) { r.out.WriteString(line + "\n") }

// reversedPaths swaps the two paths of a line "diff --git".
func reversedPaths(line string) string {
	m := gitPaths.FindStringSubmatch(line)
	if m == nil || stripQuoted(m[1]) == stripQuoted(m[2]) {
		return line // the same path, which may contain spaces
	}
	return "diff --git " + swapFolder(m[2]) + " " + swapFolder(m[1])
}

// stripQuoted is a path without quotes and its first folder.
func stripQuoted(p string) string { return stripFolder(strings.Trim(p, `"`)) }

// swapFolder gives a path the first folder of the other side.
func swapFolder(p string) string {
	for _, quote := range []string{"", `"`} {
		switch {
		case strings.HasPrefix(p, quote+"a/"):
			return quote + "b/" + p[len(quote)+2:]
		case strings.HasPrefix(p, quote+"b/"):
			return quote + "a/" + p[len(quote)+2:]
		}
	}
	return p
}

// reversedIndex swaps the hashes of "1111111..2222222 100644".
func reversedIndex(rest string) string {
	hashes, mode, _ := strings.Cut(rest, " ")
	old, next, ok := strings.Cut(hashes, "..")
	if !ok {
		return rest
	}
	return strings.TrimRight(next+".."+old+" "+mode, " ")
}

// hunk reverses a hunk: within each block of changes the added lines come first, as removed ones.
func (r *reverser) hunk(head string) error {
	m := hunkHead.FindStringSubmatch(head)
	if m == nil {
		r.at++
		return nil // not a hunk: Parse has read the others
	}
	length := func(n string) string {
		if n == "" {
			return ""
		}
		return "," + n
	}
	heading := ""
	if m[5] != "" {
		heading = " " + m[5]
	}
	r.write(fmt.Sprintf("@@ -%s%s +%s%s @@%s", m[3], length(m[4]), m[1], length(m[2]), heading))
	var removed, added strings.Builder
	last := &removed
	flush := func() {
		r.out.WriteString(removed.String())
		r.out.WriteString(added.String())
		removed.Reset()
		added.Reset()
	}
	for r.at++; r.at < len(r.lines); r.at++ {
		switch l := r.lines[r.at]; l.Op {
		case Removed:
			last = &added
			added.WriteString("+" + l.Text + "\n")
		case Added:
			last = &removed
			removed.WriteString("-" + l.Text + "\n")
		case Context:
			flush()
			last = &removed
			r.write(" " + l.Text)
		case NoNewline:
			last.WriteString(l.Text + "\n")
		default:
			flush()
			return nil
		}
	}
	flush()
	return nil
}

// binary swaps the two parts of a binary patch, the second of which leads back.
func (r *reverser) binary() error {
	var parts [2]strings.Builder
	for i := range parts {
		for ; r.at < len(r.lines) && r.lines[r.at].Text != ""; r.at++ {
			parts[i].WriteString(r.lines[r.at].Text + "\n")
		}
		if parts[i].Len() == 0 {
			return errors.New("has a binary patch that cannot be undone")
		}
		r.at++
	}
	r.write("GIT binary patch")
	r.out.WriteString(parts[1].String() + "\n" + parts[0].String() + "\n")
	return nil
}

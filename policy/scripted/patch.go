package scripted

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// filePatch is what the gold patch does to one file.
type filePatch struct {
	path  string // in the repository; the new one of a rename, the old one of a removed file
	old   string // before the patch; "" for a new file
	plain bool   // an editor can do it: text that is replaced hunk by hunk, or a new text file
	hunks []hunk
}

// hunk is one part of a text patch.
type hunk struct {
	start    int    // first line in the old file, from 1
	length   int    // lines in the old file
	old, new string // context with removed lines, context with added lines
	added    string // the first line that it adds, with its end; "" for none
	heading  string // the enclosing function, as git found it
}

var (
	gitHeader  = regexp.MustCompile(`(?m)^diff --git .*\n`)
	plainHead  = regexp.MustCompile(`(?m)^--- (?:a/)?(\S+).*\n\+\+\+ (?:b/)?(\S+).*$`)
	hunkHeader = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@ ?(.*)$`)
)

// parsePatch reads a git diff, or one of diff -u. It marks a file that it does not understand as
// not plain: git applies that one.
func parsePatch(diff string) []filePatch {
	if !gitHeader.MatchString(diff) {
		diff = plainHead.ReplaceAllString(diff, "diff --git a/$2 b/$2\n$0")
	}
	headers := gitHeader.FindAllString(diff, -1)
	var files []filePatch
	for i, text := range gitHeader.Split(diff, -1)[min(1, len(headers)):] {
		if len(headers) == 0 {
			break
		}
		if f := parseFile(headers[i], text); f.path != "" {
			files = append(files, f)
		}
	}
	return files
}

func parseFile(header, text string) filePatch {
	name := headerPath(header)
	f := filePatch{path: name, old: name, plain: utf8.ValidString(text)}
	lines := strings.SplitAfter(text, "\n")
	i := 0
	for ; i < len(lines) && !strings.HasPrefix(lines[i], "@@ "); i++ {
		f.header(strings.TrimRight(lines[i], "\n"))
	}
	for i < len(lines) && strings.HasPrefix(lines[i], "@@ ") {
		i = f.addHunk(lines, i)
	}
	created := f.old == ""
	if len(f.hunks) == 0 || created && len(f.hunks) != 1 {
		f.plain = false
	}
	for _, h := range f.hunks {
		f.plain = f.plain && (created || h.old != "")
	}
	return f
}

// header reads one line before the first hunk.
func (f *filePatch) header(line string) {
	word, rest, _ := strings.Cut(line, " ")
	switch {
	case line == "" || word == "index":
	case line == "+++ /dev/null":
		f.plain = false
	case line == "--- /dev/null" || line == "new file mode 100644":
		f.old = ""
	case word == "---":
		_, f.old, _ = strings.Cut(plainName(strings.TrimRight(rest, "\t")), "/")
	case word == "+++":
		_, f.path, _ = strings.Cut(plainName(strings.TrimRight(rest, "\t")), "/")
	case strings.HasPrefix(line, "rename from "), strings.HasPrefix(line, "copy from "):
		f.old, f.plain = plainName(strings.TrimPrefix(rest, "from ")), false
	case strings.HasPrefix(line, "rename to "), strings.HasPrefix(line, "copy to "):
		f.path, f.plain = plainName(strings.TrimPrefix(rest, "to ")), false
	case strings.HasPrefix(line, "new file"):
		f.old, f.plain = "", false
	default: // modes, removals, binary data
		f.plain = false
	}
}

// plainName undoes git's quoting of names that hold more than plain ASCII.
func plainName(s string) string {
	if plain, err := strconv.Unquote(s); err == nil && strings.HasPrefix(s, `"`) {
		return plain
	}
	return s
}

// headerPath reads the path of "diff --git a/x b/x"; "" where both sides differ.
func headerPath(line string) string {
	rest := strings.TrimSuffix(strings.TrimPrefix(line, "diff --git "), "\n")
	half := len(rest) / 2
	if len(rest)%2 == 0 || rest[half] != ' ' {
		return ""
	}
	_, old, _ := strings.Cut(plainName(rest[:half]), "/")
	_, name, _ := strings.Cut(plainName(rest[half+1:]), "/")
	if old != name {
		return ""
	}
	return name
}

// addHunk reads the hunk whose @@ line is lines[i] and returns the index after it.
func (f *filePatch) addHunk(lines []string, i int) int {
	m := hunkHeader.FindStringSubmatch(strings.TrimRight(lines[i], "\r\n"))
	if m == nil {
		f.plain = false
		return len(lines)
	}
	h := hunk{heading: m[3], length: 1}
	h.start, _ = strconv.Atoi(m[1])
	if m[2] != "" {
		h.length, _ = strconv.Atoi(m[2])
	}
	for i++; i < len(lines) && lines[i] != "" && strings.IndexByte(" +-\\\n", lines[i][0]) >= 0; i++ {
		sign, body := lines[i][0], lines[i][1:]
		switch sign {
		case '\\': // "\ No newline at end of file": of the line before
			h.trimNewline(lines[i-1][0])
			continue
		case '\n': // context that lost its leading space
			body = "\n"
		case '+':
			if h.added == "" {
				h.added = body
			}
		}
		if sign != '+' {
			h.old += body
		}
		if sign != '-' {
			h.new += body
		}
	}
	f.hunks = append(f.hunks, h)
	return i
}

// trimNewline removes the newline after the last line, which has this sign.
func (h *hunk) trimNewline(sign byte) {
	if sign != '+' {
		h.old = strings.TrimSuffix(h.old, "\n")
	}
	if sign != '-' {
		h.new = strings.TrimSuffix(h.new, "\n")
	}
}

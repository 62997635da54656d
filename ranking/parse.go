// Package ranking reads the ranked list in the answer of a model that localises an issue, and computes
// the figures of such lists.
package ranking

import (
	"regexp"
	"strings"
)

// MaxEntries bounds the entries of a list.
const MaxEntries = 1000

// fence opens or closes a list.
const fence = "```"

// Parse returns the list in an answer, best entry first, and how many entries after MaxEntries it lacks.
// A list is what stands between two lines that begin with three backticks, the first perhaps with a word
// after them, or between such a line and the end; of several lists the last with an entry counts. Each
// line that is not empty is an entry, see Entry. The list is empty without a fence.
func Parse(answer string) (list []string, more int) {
	var block []string
	open := false
	for line := range strings.SplitSeq(answer, "\n") {
		info, is := fenced(line)
		switch {
		case is && open:
			list = later(list, block)
			block, open = nil, info != "" // with a word it opens the next list
		case is:
			open = true
		case open:
			block = appendEntry(block, line)
		}
	}
	list = later(list, block)
	more = max(0, len(list)-MaxEntries)
	return list[:len(list)-more], more
}

// fenced reports whether a line is a fence, and returns the words after its backticks.
func fenced(line string) (info string, is bool) {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, fence) {
		return "", false
	}
	info = strings.TrimSpace(strings.TrimLeft(line, "`"))
	return info, !strings.Contains(info, "`")
}

// later is the later one of two lists, or the earlier one if the later one is empty.
func later(earlier, list []string) []string {
	if len(list) == 0 {
		return earlier
	}
	return list
}

func appendEntry(list []string, line string) []string {
	if entry := Entry(line); entry != "" {
		list = append(list, entry)
	}
	return list
}

// longestItem bounds a number or bullet with white space after it, of which more is trimmed anyway.
const longestItem = 16

// item is a number or a bullet before an entry.
var item = regexp.MustCompile(`^(?:\d{1,4}[.)]|[-*+•])\s+`)

// Entry is a line of a list as path::Qualified.name, or path alone: without spaces around it, around the
// separator, a number or a bullet before it, backticks around it, and ./ before the path. What else
// stands in the line is part of the entry.
func Entry(line string) string {
	for {
		entry := strings.TrimSpace(line)
		entry = strings.TrimSpace(strings.Trim(withoutItem(entry), "`"))
		entry = strings.TrimPrefix(entry, "./")
		if entry == line {
			return joined(entry)
		}
		line = entry
	}
}

// withoutItem drops a number or a bullet. It reads and copies nothing of the rest, since an answer may begin
// a line with a million bullets.
func withoutItem(line string) string {
	if found := item.FindStringIndex(line[:min(len(line), longestItem)]); found != nil {
		return line[found[1]:]
	}
	return line
}

// joined is an entry without spaces around its separator.
func joined(entry string) string {
	file, name, is := strings.Cut(entry, separator)
	if !is {
		return entry
	}
	return strings.TrimSpace(file) + separator + strings.TrimSpace(name)
}

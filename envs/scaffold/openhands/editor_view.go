package openhands

import (
	"context"
	"fmt"
	"path"
	"strings"

	"relabel"
	"relabel/envs/scaffold/arguments"
)

const (
	// listDepth and maxEntries bound the listing of a folder.
	listDepth  = 2
	maxEntries = 1000
	// aroundEdit is the number of lines that a snippet shows before and after an edit.
	aroundEdit = 4
)

// view shows a file with line numbers, or lists a folder.
func (e *Episode) view(ctx context.Context, name string, args arguments.Arguments) (relabel.Observation, error) {
	span, ranged := args.Spans["view_range"]
	dir, isDir, err := e.folder(ctx, name)
	switch {
	case err != nil:
		return e.refused(ctx, name, err)
	case isDir && ranged:
		return refusal("%s is a folder; view_range is for files. Leave it out to list the folder.", name), nil
	case isDir:
		return e.list(ctx, dir)
	}
	data, no, err := e.open(ctx, name)
	if no != nil {
		return *no, err
	}
	lines := splitLines(data)
	first, last := 1, len(lines)
	if ranged {
		if first, last = span[0], span[1]; last == -1 {
			last = len(lines)
		}
		if problem := checkSpan(span[0], span[1], len(lines)); problem != "" {
			return refusal("view_range %s: %s %s has %d lines.", fmt.Sprint(span), problem, name, len(lines)), nil
		}
		last = min(last, len(lines))
	}
	if len(lines) == 0 {
		return relabel.Observation{Content: fmt.Sprintf("The file %s is empty.", name)}, nil
	}
	head := fmt.Sprintf("Lines %d to %d of the %d of %s%s:\n", first, last, len(lines), name, endsNote(data))
	return relabel.Observation{Content: head + numbered(lines, first, last)}, nil
}

// folder reports whether a path is a folder or a symlink to one, and returns the folder.
func (e *Episode) folder(ctx context.Context, name string) (dir string, is bool, err error) {
	info, err := e.sandbox.Stat(ctx, name)
	if err != nil || info.Symlink == "" {
		return name, err == nil && info.Mode.IsDir(), err
	}
	target := info.Symlink
	if !path.IsAbs(target) {
		target = path.Join(path.Dir(name), target)
	}
	info, err = e.sandbox.Stat(ctx, target)
	return target, err == nil && info.Mode.IsDir(), err
}

// checkSpan describes the problem of a view_range, "" if there is none.
func checkSpan(first, last, lines int) string {
	switch {
	case first < 1 || first > lines:
		return "the first line must exist."
	case last != -1 && last < first:
		return "the last line must not be before the first; -1 stands for the end of the file."
	}
	return ""
}

// endsNote is a note about unusual line ends.
func endsNote(data []byte) string {
	var notes []string
	if lineEnd(data) == "\r\n" {
		notes = append(notes, `lines end in \r\n`)
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		notes = append(notes, "no line end after the last line")
	}
	if notes == nil {
		return ""
	}
	return " (" + strings.Join(notes, ", ") + ")"
}

// numbered writes lines first to last, from 1, as cat -n does, up to maxShown bytes.
func numbered(lines [][]byte, first, last int) string {
	var b []byte
	for n := first; n <= last; n++ {
		line := fmt.Appendf(nil, "%6d\t%s", n, lines[n-1])
		if n > first && len(b)+len(line) > maxShown {
			return shown(b, nil, 0, len(b)*4) +
				fmt.Sprintf("[lines %d to %d are left out; view them with view_range]\n", n, last)
		}
		b = append(b, line...)
	}
	return shown(b, nil, 0, maxShown)
}

// snippet shows lines from, from 1, and those around them.
func snippet(data []byte, from, count int) string {
	lines := splitLines(data)
	first, last := max(1, from-aroundEdit), min(len(lines), from+count-1+aroundEdit)
	if last < first {
		return "It is empty now."
	}
	return fmt.Sprintf("Lines %d to %d are now:\n", first, last) + numbered(lines, first, last)
}

// list lists a folder.
func (e *Episode) list(ctx context.Context, name string) (relabel.Observation, error) {
	entries, more, err := e.sandbox.List(ctx, name, listDepth, maxEntries)
	if err != nil {
		return e.refused(ctx, name, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Files and folders in %s, %d levels deep, without hidden ones:\n", name, listDepth)
	for _, entry := range entries {
		b.WriteString(entry.Path)
		switch {
		case entry.Symlink != "":
			b.WriteString(" -> " + entry.Symlink)
		case entry.Mode.IsDir():
			b.WriteString("/")
		}
		b.WriteString("\n")
	}
	if more {
		fmt.Fprintf(&b, "[only the first %d are shown; view a folder further down]\n", maxEntries)
	}
	return relabel.Observation{Content: shown([]byte(b.String()), nil, 0, maxShown)}, nil
}

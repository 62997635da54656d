package scripted

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// maxFailures is how often git may fail before the teacher stops.
const maxFailures = 3

// teach is the teacher's action at a state: look around, reproduce, edit hunk by hunk, test, review,
// finish. After a change that is not its own it asks git for the state of the tree, and applies the
// whole patch to a clean tree where something differs. The action follows from the conversation
// alone, whoever acted in it.
func teach(e *entry, h history, d *dice) action {
	p := readProgress(e, h)
	switch {
	case p.failures >= maxFailures:
		return say(d, thoughtsStuck, finish("The change could not be put in place."))
	case p.dirty && !p.shown:
		return say(d, thoughtsDoubt, bash(show))
	case p.dirty, p.refused, len(p.litter) > 0:
		return say(d, thoughtsReset, e.apply(p.litter))
	case !p.complete():
		if a, ok := e.explore(h, d); ok {
			return a
		}
		return p.edit(d)
	case !p.tested && e.tests != "":
		return say(d, thoughtsTest, bash(e.tests))
	case !p.confirmed:
		return say(d, thoughtsReview, bash(show))
	}
	var names []string
	for _, f := range e.files {
		names = append(names, f.path)
	}
	return say(d, thoughtsDone, finish("The issue is resolved in "+strings.Join(names, ", ")+"."))
}

// explore looks at what no action has looked at yet: the repository, the places that
// will change, and the tests as they are.
func (e *entry) explore(h history, d *dice) (action, bool) {
	if !h.listed(e) {
		calls := []call{viewFolder(e.workdir)}
		if d.chance(0.3) {
			calls = append(calls, bash("git log --oneline | head -n 5"))
		}
		return say(d, thoughtsLook, calls...), true
	}
	search := e.search()
	if search != "" && !h.ran(search) && !h.viewed(e, e.files[0].path) {
		return say(d, thoughtsSearch, bash(search)), true
	}
	var views []call
	for _, f := range e.files {
		if f.plain && f.old != "" && !h.viewed(e, f.path) {
			views = append(views, e.look(f))
		}
	}
	if len(views) > 0 {
		return say(d, thoughtsRead, views[:min(len(views), 2)]...), true
	}
	if e.tests != "" && !h.ran(e.tests) {
		return say(d, thoughtsReproduce, bash(e.tests)), true
	}
	return action{}, false
}

// look views the lines around a file's hunks, or around the first where they are far apart.
func (e *entry) look(f filePatch) call {
	first, last := f.hunks[0], f.hunks[len(f.hunks)-1]
	from, to := max(1, first.start-8), last.start+last.length-1
	if to-from > 150 {
		to = first.start + first.length - 1
	}
	return viewLines(e.abs(f.path), from, max(from, to))
}

var searchable = regexp.MustCompile(`(?:def|class|func|function)\s+(?:\([^)]*\)\s*)?(\w{3,})`)

// search is a grep for what encloses the first change; "" where that has no name.
func (e *entry) search() string {
	for _, f := range e.files {
		for _, k := range f.hunks {
			if m := searchable.FindStringSubmatch(k.heading + "\n" + k.old); m != nil {
				return fmt.Sprintf("grep -rn --include='*%s' %s . | head -n 20", path.Ext(f.path), m[1])
			}
		}
	}
	return ""
}

// edit puts the next edits in place: one at a time, or several where there are many.
func (p *progress) edit(d *dice) action {
	edits := p.e.edits
	if edits == nil {
		return say(d, thoughtsApply, p.e.apply(nil))
	}
	batch := (len(edits) + 7) / 8
	if batch == 1 && len(edits) > 3 && d.chance(0.25) {
		batch = 2
	}
	var calls []call
	file := ""
	for i, x := range edits {
		if !p.applied[i] && len(calls) < batch {
			calls, file = append(calls, x.call), x.path
		}
	}
	return say(d, thoughtsEdit(file), calls...)
}

// listed reports whether the repository's files were listed.
func (h history) listed(e *entry) bool {
	for _, s := range h.steps {
		if s.name == toolEditor && s.args.Command == "view" && path.Clean(s.args.Path) == e.workdir ||
			s.name == toolBash && (strings.HasPrefix(s.args.Command, "ls") || strings.HasPrefix(s.args.Command, "find")) {
			return true
		}
	}
	return false
}

// ran reports whether a command was run.
func (h history) ran(command string) bool {
	for _, s := range h.steps {
		if s.name == toolBash && s.args.Command == command {
			return true
		}
	}
	return false
}

// viewed reports whether a file's content was looked at.
func (h history) viewed(e *entry, name string) bool {
	for _, s := range h.steps {
		if s.name == toolEditor && s.args.Command == "view" && s.args.Path == e.abs(name) ||
			s.name == toolBash && strings.HasPrefix(s.args.Command, "cat ") && strings.Contains(s.args.Command, name) {
			return true
		}
	}
	return false
}

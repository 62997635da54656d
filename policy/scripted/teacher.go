package scripted

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"relabel/gitdiff"
)

// maxFailures is how often git may fail before the teacher stops.
const maxFailures = 3

// teach is the teacher's action at a state: look around, reproduce, edit hunk by hunk, test, review,
// finish. After a change that is not part of the patch it restores the commit and applies the whole
// patch. The action depends on the conversation alone, whoever acted in it.
func teach(e *entry, h history, d *dice) action {
	p := readProgress(e, h)
	switch {
	case p.failures >= maxFailures:
		return say(d, thoughts["stuck"], finish("The change could not be made."))
	case p.dirty || len(p.litter) > 0:
		return say(d, thoughts["reset"], e.apply(p.litter))
	case !p.complete():
		if a, ok := e.explore(h, d); ok {
			return a
		}
		return p.edit(d)
	case !p.tested && e.tests != "":
		return say(d, thoughts["test"], bash(e.tests))
	case !p.confirmed:
		return say(d, thoughts["review"], bash(show))
	}
	var names []string
	for _, f := range e.files {
		names = append(names, name(f))
	}
	return say(d, thoughts["done"], finish("The issue is resolved in "+strings.Join(names, ", ")+"."))
}

// explore looks at what no action has looked at yet: the repository, the places that change, and
// the tests before the change.
func (e *entry) explore(h history, d *dice) (action, bool) {
	if !h.viewed(e.workdir) {
		return say(d, thoughts["look"], edit("view", e.workdir)), true
	}
	if search := e.search(); search != "" && !h.ran(search) {
		return say(d, thoughts["search"], bash(search)), true
	}
	var views []call
	for _, f := range e.files {
		if plain(f) && f.Old != "" && !h.viewed(e.abs(f)) {
			from := f.Hunks[0].Start
			views = append(views, edit("view", e.abs(f), "view_range", [2]int{max(1, from-8), max(1, from+f.Hunks[0].Length-1)}))
		}
	}
	if len(views) > 0 {
		return say(d, thoughts["read"], views[:min(len(views), 2)]...), true
	}
	return say(d, thoughts["reproduce"], bash(e.tests)), e.tests != "" && !h.ran(e.tests)
}

var searchable = regexp.MustCompile(`(?:def|class|func|function)\s+(?:\([^)]*\)\s*)?(\w{3,})`)

// search is a grep for the function around the first change; "" if it has no name.
func (e *entry) search() string {
	for _, f := range e.files {
		for _, k := range f.Hunks {
			if m := searchable.FindStringSubmatch(k.Heading + "\n" + k.Old()); m != nil {
				return fmt.Sprintf("grep -rn --include='*%s' %s . | head -n 20", path.Ext(name(f)), m[1])
			}
		}
	}
	return ""
}

// progress is the state of the working tree according to the conversation.
type progress struct {
	e         *entry
	applied   map[int]bool // edits in place
	whole     bool         // git applied the whole patch
	dirty     bool         // the tree may have other changes, or lacks an edit that the editor refused
	litter    []string     // untracked files that calls created
	tested    bool         // the tests ran with the patch in place
	confirmed bool         // git showed the tree with the patch in place
	failures  int          // times that git could not show the tree or apply the patch
}

// readProgress follows the tree through the conversation. It starts clean. Unknown tools, malformed
// calls and finish change nothing.
func readProgress(e *entry, h history) *progress {
	p := &progress{e: e, applied: map[int]bool{}}
	for _, s := range h.steps {
		command := s.args.Command
		applies := strings.HasPrefix(command, e.reset())
		switch {
		case s.name == toolEditor && command != "view":
			p.followEdit(s)
		case s.name != toolBash || command == "":
		case (applies || command == show) && !s.succeeded():
			p.dirty = p.dirty || applies
			p.failures++
		case applies:
			*p = progress{e: e, whole: true, confirmed: true, litter: h.litter(e, s.observed)}
		case command == show:
			p.litter = h.litter(e, s.observed)
			p.confirmed = p.complete()
			p.dirty = p.dirty || p.confirmed && !p.whole && e.missed(s.observed)
		case command == e.tests:
			p.tested = p.tested || !p.dirty && p.complete()
		case !readsOnly(command):
			p.dirty = true
		}
	}
	return p
}

// followEdit recognizes the gold patch's edits.
func (p *progress) followEdit(s step) {
	i := slices.Index(p.e.edits, s.args)
	done := i >= 0 && (p.whole || p.applied[i])
	switch succeeded := s.succeeded(); {
	case succeeded && i >= 0 && !done:
		p.applied[i], p.confirmed, p.tested = true, false, false
	case succeeded || i >= 0 && !done: // another change, or a refused edit
		p.dirty = true
	}
}

// missed reports whether git shows a change that is not the gold patch's: the editor has found the
// text of a hunk at another place.
func (e *entry) missed(observed string) bool {
	shown, _ := gitdiff.Parse(observed) // an error: there is no diff, or its middle is omitted
	gold := changedLines(e.files)
	return slices.ContainsFunc(changedLines(shown), func(line string) bool { return !slices.Contains(gold, line) })
}

// changedLines lists the changed lines of tracked files, with their line in the old file.
func changedLines(files []gitdiff.File) (all []string) {
	for _, f := range files {
		if f.Old == "" {
			continue
		}
		for _, h := range f.Hunks {
			at, last := h.Start, gitdiff.Context
			for _, l := range h.Lines {
				if l.Op != gitdiff.Context && (l.Op != gitdiff.NoNewline || last != gitdiff.Context) {
					all = append(all, fmt.Sprintf("%s:%d:%c%s", f.Old, at, l.Op, l.Text))
				}
				if last = l.Op; last == gitdiff.Context || last == gitdiff.Removed {
					at++
				}
			}
		}
	}
	return all
}

// complete reports whether the whole gold patch is in place.
func (p *progress) complete() bool {
	return p.whole || len(p.e.edits) > 0 && len(p.applied) == len(p.e.edits)
}

// edit makes the next edits: one at a time, or several if there are many.
func (p *progress) edit(d *dice) action {
	edits := p.e.edits
	if edits == nil {
		return say(d, thoughts["apply"], p.e.apply(nil))
	}
	var calls []call
	file := ""
	for i, x := range edits {
		if p.applied[i] || len(calls) > len(edits)/8 {
			continue
		}
		file = path.Base(x.Path)
		if x.Command == "create" {
			calls = append(calls, edit("create", x.Path, "file_text", x.FileText))
		} else {
			calls = append(calls, edit("str_replace", x.Path, "old_str", x.OldStr, "new_str", x.NewStr))
		}
	}
	return say(d, []string{"I make the change in " + file + ".", "The fix belongs in " + file + "; I edit it there."}, calls...)
}

package scripted

import (
	"regexp"
	"slices"
	"strings"
)

// progress is what the conversation tells about the working tree.
type progress struct {
	e         *entry
	applied   map[int]bool // edits that are in place
	whole     bool         // git applied the whole patch
	refused   bool         // the editor refused an edit
	dirty     bool         // the tree may hold other changes
	shown     bool         // git showed the tree since it became dirty
	litter    []string     // untracked files that a call named
	tested    bool         // the tests ran with the patch in place
	confirmed bool         // git showed the tree with the patch in place
	failures  int          // times that git could not show the tree or apply the patch
}

// readProgress follows the tree through the conversation. It starts clean.
func readProgress(e *entry, h history) *progress {
	p := &progress{e: e, applied: map[int]bool{}}
	for _, s := range h.steps {
		p.follow(s, h)
	}
	return p
}

// follow takes one step into account. Unknown tools, malformed calls and finish change nothing.
func (p *progress) follow(s step, h history) {
	command := s.args.Command
	switch {
	case s.name == toolEditor && command != "view":
		p.followEdit(s)
	case s.name != toolBash || command == "":
	case strings.HasPrefix(command, p.e.reset()):
		p.followApply(s, h)
	case command == show:
		p.followShow(s, h)
	case command == p.e.tests:
		p.tested = p.tested || !p.dirty && p.complete()
	case !readsOnly(command):
		p.change()
	}
}

// change records a change other than the gold patch's.
func (p *progress) change() { p.dirty, p.shown, p.tested, p.confirmed = true, false, false, false }

// followEdit recognises the gold patch's edits.
func (p *progress) followEdit(s step) {
	i := slices.IndexFunc(p.e.edits, func(x edit) bool { return x.args == s.args })
	done := i >= 0 && (p.whole || p.applied[i])
	switch {
	case !s.succeeded():
		p.refused = p.refused || i >= 0 && !done
	case i < 0 || done:
		p.change()
	default:
		p.applied[i], p.confirmed, p.tested = true, false, false
	}
}

// followApply reads the outcome of entry.apply.
func (p *progress) followApply(s step, h history) {
	p.change()
	if !s.succeeded() {
		p.failures++
		return
	}
	p.whole, p.refused, p.dirty, p.confirmed, p.failures = true, false, false, true, 0
	p.readStatus(s.output(), h)
}

// followShow reads git's account of the tree.
func (p *progress) followShow(s step, h history) {
	if !s.succeeded() {
		p.failures++
		return
	}
	p.shown = true
	if changed := p.readStatus(s.output(), h); p.dirty && !changed && len(p.litter) == 0 {
		p.applied, p.whole, p.refused, p.dirty = map[int]bool{}, false, false, false
	}
	p.confirmed = !p.dirty && p.complete()
}

var statusLine = regexp.MustCompile(`^([ MTADU?]{2}) (.+)$`)

// readStatus finds litter and reports whether anything else differs from the commit. Untracked
// files that no call named came with the image and stay.
func (p *progress) readStatus(output string, h history) (changed bool) {
	p.litter = nil
	status, _, _ := strings.Cut("\n"+output, "\ndiff --git ")
	for _, line := range strings.Split(status, "\n") {
		m := statusLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name := plainName(m[2])
		switch {
		case p.e.touches(name), m[1] != "??":
			changed = true
		case h.mentions(name):
			p.litter = append(p.litter, name)
		}
	}
	return changed
}

// complete reports whether the whole gold patch is in place.
func (p *progress) complete() bool {
	return p.whole || len(p.e.edits) > 0 && len(p.applied) == len(p.e.edits)
}

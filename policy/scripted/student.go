package scripted

import (
	"cmp"
	"path"
	"strconv"
	"strings"
)

// faults are what the student does instead of the right thing, with their weights.
var faults = []struct {
	weight int
	act    func(*entry, history, *dice) action
}{
	{35, wander},
	{15, repeat},
	{12, breakArguments},
	{20, editWrongly},
	{6, callUnknownTool},
	{8, talk},
	{4, stopEarly},
}

// stumble is the student's action at a state: with probability skill the teacher's,
// else a mistake. The scripted student draws on the same book as the teacher.
func stumble(e *entry, h history, d *dice, skill float64) action {
	if d.chance(skill) {
		return teach(e, h, d)
	}
	total := 0
	for _, f := range faults {
		total += f.weight
	}
	n := d.IntN(total)
	for _, f := range faults {
		if n -= f.weight; n < 0 {
			return f.act(e, h, d)
		}
	}
	return wander(e, h, d)
}

// wander looks at something that does not matter.
func wander(e *entry, _ history, d *dice) action {
	commands := []string{
		"ls -la", "git log --oneline | head -n 10", "find . -name '*.md' | head -n 20",
		"grep -rn TODO . | head -n 10", "cat README* | head -n 40", "wc -l $(ls)", "git status",
		"ls " + quote(path.Dir(e.files[0].path)), "head -n 30 " + quote(e.files[d.IntN(len(e.files))].path),
	}
	if d.chance(0.2) {
		return say(d, thoughtsWander, viewFolder(e.workdir))
	}
	return say(d, thoughtsWander, bash(d.pick(commands)))
}

// repeat does the last action again.
func repeat(e *entry, h history, d *dice) action {
	if len(h.last.calls) == 0 {
		return wander(e, h, d)
	}
	return say(d, thoughtsRepeat, h.last.calls...)
}

// breakArguments writes arguments that are not a JSON object.
func breakArguments(e *entry, h history, d *dice) action {
	a := wander(e, h, d)
	c := &a.calls[0]
	switch d.IntN(3) {
	case 0:
		c.args = c.args[:len(c.args)-2-d.IntN(2)] // not the brace alone: in a text, the brace that ends the call would replace it
	case 1:
		c.args = strings.ReplaceAll(c.args, `"`, `'`)
	default:
		c.args = strings.TrimSuffix(strings.TrimPrefix(c.args, `{"command": "`), `"}`)
	}
	return a
}

// editWrongly changes something that the gold patch does not, or in another way.
func editWrongly(e *entry, _ history, d *dice) action {
	f := e.files[d.IntN(len(e.files))]
	if !f.plain || f.old == "" {
		return say(d, thoughtsGuess, create(e.abs("attempt_"+d.id()[:6]+".txt"), "try this\n"))
	}
	h := f.hunks[d.IntN(len(f.hunks))]
	name := e.abs(f.path)
	line := max(1, h.start-d.IntN(6))
	switch d.IntN(6) {
	case 0: // the right place, half of the change
		cut := h.old[:max(0, strings.LastIndexByte(strings.TrimSuffix(h.old, "\n"), '\n')+1)]
		return say(d, thoughtsGuess, replace(name, h.old, cut))
	case 1: // a line that comes, in the wrong place
		return say(d, thoughtsGuess, insert(name, line, cmp.Or(h.added, "pass\n")))
	case 2:
		return say(d, thoughtsGuess, bash("sed -i "+quote(strconv.Itoa(line)+"d")+" "+quote(f.path)))
	case 3:
		return say(d, thoughtsGuess, bash("sed -i "+quote(strconv.Itoa(line)+"s/$/ # checked/")+" "+quote(f.path)))
	case 4: // a copy beside the file
		return say(d, thoughtsGuess, bash("cp "+quote(f.path)+" "+quote(f.path+".new")))
	default:
		return say(d, thoughtsGuess, create(e.abs("reproduce_"+d.id()[:6]+".py"), "print('it works')\n"))
	}
}

// callUnknownTool calls what is not offered.
func callUnknownTool(_ *entry, _ history, d *dice) action {
	name := d.pick([]string{"search_code", "open_file", "run_tests"})
	return say(d, thoughtsWander, call{name, object("query", "fix")})
}

// talk answers without a call.
func talk(_ *entry, _ history, d *dice) action { return say(d, thoughtsText) }

// stopEarly says that it is done.
func stopEarly(_ *entry, _ history, d *dice) action {
	return say(d, thoughtsEarly, finish("Done."))
}

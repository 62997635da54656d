package scripted

import (
	"cmp"
	"strconv"
	"strings"
)

// mistakes are what the student does instead of the right thing, with their share in percent.
var mistakes = []struct {
	share int
	act   func(*entry, history, *dice) action
}{
	{35, wander},
	{15, repeat},
	{12, breakArguments},
	{20, editWrongly},
	{6, callUnknownTool},
	{8, talk},
	{4, stopEarly},
}

// stumble is a student's mistake at a state.
func stumble(e *entry, h history, d *dice) action {
	n := d.IntN(100)
	for _, m := range mistakes {
		if n -= m.share; n < 0 {
			return m.act(e, h, d)
		}
	}
	return wander(e, h, d)
}

// wander looks at something that does not matter.
func wander(e *entry, _ history, d *dice) action {
	command := d.pick([]string{"ls -la", "git log --oneline | head -n 10", "find . -name '*.md' | head -n 20",
		"grep -rn TODO . | head -n 10", "cat README* | head -n 40", "git status", "head -n 30 " + quote(name(e.files[d.IntN(len(e.files))]))})
	return say(d, thoughts["wander"], bash(command))
}

// repeat repeats the last action.
func repeat(e *entry, h history, d *dice) action {
	if len(h.last) == 0 {
		return wander(e, h, d)
	}
	return say(d, thoughts["repeat"], h.last...)
}

// breakArguments writes arguments that are not a JSON object.
func breakArguments(e *entry, h history, d *dice) action {
	a := wander(e, h, d)
	c := &a.calls[0]
	switch d.IntN(3) {
	case 0:
		c.args = c.args[:len(c.args)-2-d.IntN(2)] // not only the brace: in text, the brace that ends the call would replace it
	case 1:
		c.args = strings.ReplaceAll(c.args, `"`, `'`)
	default:
		c.args = strings.TrimSuffix(strings.TrimPrefix(c.args, `{"command": "`), `"}`)
	}
	return a
}

// editWrongly changes something that the gold patch does not change, or in another way.
func editWrongly(e *entry, _ history, d *dice) action {
	f := e.files[d.IntN(len(e.files))]
	if !plain(f) || f.Old == "" {
		return say(d, thoughts["guess"], edit("create", e.workdir+"/attempt_"+d.id()[:6]+".txt", "file_text", "try this\n"))
	}
	h := f.Hunks[d.IntN(len(f.Hunks))]
	line := max(1, h.Start-d.IntN(6))
	var c call
	switch d.IntN(5) {
	case 0: // the right place, half of the change
		old := h.Old()
		c = edit("str_replace", e.abs(f), "old_str", old, "new_str", old[:strings.LastIndexByte(strings.TrimSuffix(old, "\n"), '\n')+1])
	case 1: // an added line in the wrong place
		added, _, _ := strings.Cut(h.New(), "\n")
		c = edit("insert", e.abs(f), "new_str", cmp.Or(added, "pass")+"\n", "insert_line", line)
	case 2:
		c = bash("sed -i '" + strconv.Itoa(line) + "d' " + quote(f.New))
	case 3: // a copy beside the file
		c = bash("cp " + quote(f.New) + " " + quote(f.New+".new"))
	default:
		c = edit("create", e.workdir+"/reproduce_"+d.id()[:6]+".py", "file_text", "print('it works')\n")
	}
	return say(d, thoughts["guess"], c)
}

// callUnknownTool calls a tool that is not offered.
func callUnknownTool(_ *entry, _ history, d *dice) action {
	name := d.pick([]string{"search_code", "open_file", "run_tests"})
	return say(d, thoughts["wander"], call{name, object("query", "fix")})
}

// talk answers without a call.
func talk(_ *entry, _ history, d *dice) action { return say(d, thoughts["talk"]) }

// stopEarly finishes at once.
func stopEarly(_ *entry, _ history, d *dice) action {
	return say(d, thoughts["early"], finish("Done."))
}

package scripted

import (
	"path"
	"slices"
	"strings"
)

// lose is a student's mistake in a search.
func (f *found) lose(d *dice) action {
	if f.ended {
		return f.answerBadly(d)
	}
	file := "src/main.py"
	if len(f.paths) > 0 {
		file = f.paths[d.IntN(len(f.paths))]
	}
	switch d.IntN(6) {
	case 0:
		return say(d, thoughts["find"], call{toolClass, object("file", strings.TrimSuffix(file, path.Ext(file)), "class", "Handler")})
	case 1:
		return say(d, thoughts["find"], call{toolFunction, object("file", file)})
	case 2:
		return say(d, thoughts["find"], call{"SearchCode", object("query", "TODO")})
	case 3:
		return say(d, thoughts["talk"])
	case 4:
		return say(d, thoughts["exit"], call{toolExit, "{}"})
	}
	return say(d, thoughts["structure"], call{toolImports, object("file", file)})
}

// answerBadly answers with files alone, in any order, or without a list.
func (f *found) answerBadly(d *dice) action {
	if d.chance(0.2) {
		return say(d, thoughts["talk"])
	}
	list := slices.Clone(f.paths[:min(len(f.paths), 2*mostFiles)])
	d.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return action{thought: d.pick(thoughts["answer"]) + "\n\n```\n" + strings.Join(list, "\n") + "\n```"}
}

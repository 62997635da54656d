package protect

import (
	"context"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"relabel/envs/verify/testcmd"
)

// Scripts that the test command names, makefiles and scripts of package.json call further programs
// of the repository. These also write the log, so they are not graded either.

const (
	maxScripts    = 30        // scripts that are read
	maxScriptSize = 256 << 10 // bytes of a script
)

// interpreterName matches programs that run their first argument.
var interpreterName = regexp.MustCompile(`^(python[\d.]*|pypy[\d.]*|node|nodejs|tsx|ts-node|bun|deno|perl|ruby|php|bash|sh|dash|zsh|exec|source|\.|time|env|coverage|run|xvfb-run|\$.*)$`)

// calledPrograms records the programs that the base's scripts call, and those that these call.
func (p protection) calledPrograms(ctx context.Context, repo Container) {
	queue := slices.Sorted(maps.Keys(p.runs))
	queue = append(queue, p.noteCalls(p.npmScripts(ctx, repo), ".")...)
	for read := 0; len(queue) > 0 && read < maxScripts; {
		name := queue[0]
		queue = queue[1:]
		if ext := path.Ext(name); !p.base.Files[name] || ext != "" && !scripts[ext] {
			continue
		}
		read++
		data, err := repo.Read(ctx, name, maxScriptSize)
		if err != nil {
			continue // the other rules and the canaries still apply
		}
		queue = append(queue, p.noteCalls(string(data), path.Dir(name))...)
	}
}

// npmScripts returns the scripts of the base's package.json that the test command reaches.
func (p protection) npmScripts(ctx context.Context, repo Container) string {
	if !p.runner.OnNode() || !p.base.Files["package.json"] {
		return ""
	}
	data, err := repo.Read(ctx, "package.json", maxScriptSize)
	if err != nil {
		return ""
	}
	all, _ := jsonObject(data)["scripts"].(map[string]any)
	texts := ""
	for _, text := range reachedScripts(p.commands, all) {
		texts += text + "\n"
	}
	return texts
}

// noteCalls records the files of the base that a script in a folder calls, and returns new ones.
func (p protection) noteCalls(script, folder string) []string {
	var fresh []string
	dirs, words := []string{".", folder}, testcmd.Words(script)
	for i, w := range words {
		if w.Text == "cd" && i+1 < len(words) {
			dirs = append(dirs, path.Clean(words[i+1].Text), path.Join(folder, words[i+1].Text))
		}
		if !called(words, i) {
			continue
		}
		text := w.Text
		if strings.HasPrefix(text, "$") { // the script's own folder
			_, text, _ = strings.Cut(text, "/")
		}
		for _, dir := range dirs {
			if name := path.Join(dir, text); p.base.Files[name] && !p.runs[name] {
				p.runs[name] = true
				fresh = append(fresh, name)
			}
		}
	}
	return fresh
}

// called reports whether a word is the program of a command or of an interpreter.
func called(words []testcmd.Word, at int) bool {
	for at--; at >= 0 && words[at].Command == words[at+1].Command; at-- {
		switch before := words[at].Text; {
		case before == "-m" || before == "-c":
			return false
		case strings.HasPrefix(before, "-"), strings.Contains(before, "="), before == "@":
		default:
			return interpreterName.MatchString(path.Base(before))
		}
	}
	return true
}

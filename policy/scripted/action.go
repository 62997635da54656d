package scripted

import (
	"encoding/base64"
	"strconv"
	"strings"
	"unicode/utf8"

	"relabel/chat"
)

// The tools of the OpenHands scaffold, which the scripted models can use.
const (
	toolBash   = "execute_bash"
	toolEditor = "str_replace_editor"
	toolFinish = "finish"
)

// action is one answer of a scripted model.
type action struct {
	thought string
	calls   []call
}

// say puts one of several sentences before an action's calls.
func say(d *dice, sentences []string, calls ...call) action {
	return action{thought: d.pick(sentences), calls: calls}
}

// call is one tool call with its arguments as JSON text.
type call struct{ name, args string }

// object writes arguments in the order given: key, value, key, value, … Values are strings, ints
// and pairs of ints.
func object(pairs ...any) string {
	b := []byte{'{'}
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(chat.AppendString(b, pairs[i].(string)), ": "...)
		switch v := pairs[i+1].(type) {
		case string:
			b = chat.AppendString(b, v)
		case int:
			b = strconv.AppendInt(b, int64(v), 10)
		case [2]int:
			b = append(b, "["+strconv.Itoa(v[0])+", "+strconv.Itoa(v[1])+"]"...)
		}
	}
	return string(append(b, '}'))
}

func bash(command string) call { return call{toolBash, object("command", command)} }

func finish(message string) call { return call{toolFinish, object("message", message)} }

// edit is a call of the editor with further arguments.
func edit(command, path string, pairs ...any) call {
	return call{toolEditor, object(append([]any{"command", command, "path", path}, pairs...)...)}
}

// quote makes a shell word.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// gitApply is the shell command that applies a patch.
func gitApply(patch string) string {
	if !utf8.ValidString(patch) {
		return "echo " + base64.StdEncoding.EncodeToString([]byte(patch)) + " | base64 -d | git apply --whitespace=nowarn"
	}
	mark := "PATCH"
	for strings.Contains("\n"+patch, "\n"+mark+"\n") {
		mark += "_"
	}
	return "git apply --whitespace=nowarn <<'" + mark + "'\n" + patch + mark
}

package scripted

import (
	"encoding/base64"
	"strconv"
	"strings"
	"unicode/utf8"

	"relabel/chat"
)

// The tools of the OpenHands-style scaffold, which is what the scripted models can use.
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

// call is one tool call with its arguments as JSON text.
type call struct{ name, args string }

// object writes string arguments in the order given: key, value, key, value, …
func object(pairs ...string) string {
	b := []byte{'{'}
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(chat.AppendString(b, pairs[i]), ": "...)
		b = chat.AppendString(b, pairs[i+1])
	}
	return string(append(b, '}'))
}

func bash(command string) call { return call{toolBash, object("command", command)} }

func viewFolder(path string) call {
	return call{toolEditor, object("command", "view", "path", path)}
}

func viewLines(path string, first, last int) call {
	o := object("command", "view", "path", path)
	return call{toolEditor, o[:len(o)-1] + `, "view_range": [` + strconv.Itoa(first) + ", " + strconv.Itoa(last) + "]}"}
}

func replace(path, old, new string) call {
	return call{toolEditor, object("command", "str_replace", "path", path, "old_str", old, "new_str", new)}
}

func create(path, text string) call {
	return call{toolEditor, object("command", "create", "path", path, "file_text", text)}
}

func insert(path string, line int, text string) call {
	o := object("command", "insert", "path", path, "new_str", text)
	return call{toolEditor, o[:len(o)-1] + `, "insert_line": ` + strconv.Itoa(line) + "}"}
}

func finish(message string) call { return call{toolFinish, object("message", message)} }

// quote makes a shell word.
func quote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+=:@") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

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

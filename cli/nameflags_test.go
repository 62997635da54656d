package cli

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

func TestErrorsNameFlagsButKeepNamesOfFiles(t *testing.T) {
	var commands struct {
		Import TasksImport `cmd:""`
	}
	parser, err := NewParser(&commands, "", t.TempDir(), kong.Bind(ServeLocal(nil)))
	noError(t, err)
	k, err := parser.Parse([]string{"import", "data.jsonl", "--data", t.TempDir()})
	noError(t, err)
	for message, want := range map[string]string{
		"split: is given":                       "--split: is given",
		"held_out: no task is named x":          "--held-out: no task is named x",
		"data.jsonl: line 1: image: is missing": "data.jsonl: line 1: image: is missing",
		"name.json.gz: is damaged":              "name.json.gz: is damaged",
	} {
		if got := nameFlags(k.Selected(), message); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestErrorsOfListsNameTheArgumentOrFlag(t *testing.T) {
	var commands struct {
		Exclude TasksExclude `cmd:""`
		Include TasksInclude `cmd:""`
		Overlap TasksOverlap `cmd:""`
	}
	parser, err := NewParser(&commands, "", t.TempDir(), kong.Bind(ServeLocal(nil)))
	noError(t, err)
	for _, c := range []struct{ line, message, want string }{
		{"exclude s a b --reason r", `tasks[0]: "a" is not in the taskset`, `<instance>[0]: "a" is not in the taskset`},
		{"exclude s a b --reason r", "tasks[0].reason: is too long", "--reason: is too long"},
		{"exclude s a a --reason r", `tasks[1].instance_id: "a" is there twice`, `<instance>[1]: instance_id: "a" is there twice`},
		{"include s a", `instances[0]: "a" is not excluded`, `<instance>[0]: "a" is not excluded`},
		{"overlap s --with a,b --with c", "query.other[1]: there is none", "--with[1]: there is none"},
	} {
		k, err := parser.Parse(strings.Fields(c.line))
		noError(t, err)
		if got := nameFlags(k.Selected(), c.message); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	if got := strings.Join(commands.Overlap.With, " "); got != "a,b c" {
		t.Errorf("--with gives %q", got)
	}
}

func TestCountsHaveTheirNounInSingularOrPlural(t *testing.T) {
	for want, got := range map[string]string{"1 task": counted(1, "task"), "0 tasks": counted(0, "task"), "1 entry": counted(1, "entry"), "2 entries": counted(2, "entry")} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

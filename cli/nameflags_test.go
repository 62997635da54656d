package cli

import (
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

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestErrorsOfAMixNameItsFileAndLine: those that the command finds, and those of the server.
func TestErrorsOfAMixNameItsFileAndLine(t *testing.T) {
	var commands struct {
		Start exportStart `cmd:""`
	}
	parser, err := NewParser(&commands, "", t.TempDir(), kong.Bind(ServeLocal(nil)))
	noError(t, err)
	path := filepath.Join(t.TempDir(), "mix.json")
	parse := func(text string) (*kong.Context, error) {
		noError(t, os.WriteFile(path, []byte(text), 0o600))
		return parser.Parse([]string{"start", "first", "--mix", path})
	}
	for text, want := range map[string]string{
		"{\n\"weight\": 1}": "line 2: weight: is unknown; known are labels_per_task, sampled, sources, unique, weights",
		"{\"sources\": [\n{\"run\": \"a\", \"weights\": {\"weight\": \"2\"}}]}": "line 2: sources[0].weights.weight: cannot be a string",
		"{\n\n\"unique\": tru}":                  "not JSON in line 3: ",
		"{\n\"unique\": true, \"unique\": true}": "line 2: unique: is given twice",
		"":                                       "is empty: it must be a JSON object",
		"[]":                                     "must be a JSON object; it is a JSON array",
	} {
		if _, err := parse(text); err == nil || !strings.Contains(err.Error(), "--mix: "+path+": "+want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	k, err := parse("{\"sources\": [\n{\"run\": \"nobody\"}]}")
	noError(t, err)
	for message, want := range map[string]string{
		"mix.sources[0].run: there is no run nobody":           "--mix: " + path + ": line 2: sources[0].run: there is no run nobody",
		"mix.sources[0].weights.weight: expected number > 0":   "--mix: " + path + ": line 2: sources[0].weights.weight: expected number > 0",
		"mix: has weights other than 1":                        "--mix: " + path + ": has weights other than 1",
		"run: there is no run first":                           "<run>: there is no run first",
		"exclude_flags[0]: no review of this run has the flag": "--exclude-flag[0]: no review of this run has the flag",
	} {
		if got := nameFlags(k.Selected(), message); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

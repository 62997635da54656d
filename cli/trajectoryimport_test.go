package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"relabel"
)

func TestErrorsOfImportedTrajectoriesNameTheirFile(t *testing.T) {
	dir := t.TempDir()
	doc := `{"schema_version": "ATIF-v1.8"}`
	all, one := filepath.Join(dir, "all.jsonl"), filepath.Join(dir, "one.json")
	noError(t, os.WriteFile(all, []byte(doc+"\n\n"+doc+"\n"), 0o600))
	noError(t, os.WriteFile(one, []byte(doc), 0o600))
	docs := &documents{to: new(bytes.Buffer)}
	noError(t, docs.gather([]string{all, one}))
	for field, want := range map[string]string{
		"line 2: agent.name":     all + ": line 3: agent.name: is missing",
		"line 3: steps[0].tools": one + ": steps[0].tools: is missing",
		"line 3":                 one + ": is missing",
		"line 4":                 "line 4: is missing",
		"name":                   "name: is missing",
	} {
		if got := docs.inFile(relabel.Errorf(relabel.CodeInvalid, "%s: is missing", field)); got.Error() != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

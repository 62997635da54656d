package shard

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/secretscan"
	"relabel/shard/hub/hubtest"
)

// Secrets of two forms, and one that only a process knows. They are joined here: none stands in the source.
var (
	githubToken = "ghp_" + "k3Jd82hGq0ZxW7vB" + "n4Tf6YpLs1RcUe9MaoXi"
	awsKey      = "AKIA" + "QX7Z2LMRT5VWN3YB"
)

const ownSecret = "the word of the teacher's endpoint"

// leakyStore is a store with secrets in one trajectory of two: in its second observation, in the label of its
// student's fourth turn, and in its last observation, which no exported state has.
func leakyStore(name, destination string) *fixedStore {
	s := newFixedStore(someTrajectory(1, 0, 5), someTrajectory(1, 2, 3))
	s.newExport(name, relabel.ExportSelection{})
	s.export.Destination = destination
	turns := s.list[0].Turns
	turns[1].Observations = []relabel.Observation{{Content: "export TOKEN=" + githubToken}}
	label := had(call("execute_bash", `{"command": "aws --key \u0041`+awsKey[1:]+`"}`)) // escaped, as a model may write it
	turns[3].Label = &label
	turns[4].Observations = []relabel.Observation{{CallID: relabel.CallID(5, 0), Content: "again " + githubToken}}
	return s
}

func TestTheManifestCountsTheSecretsOfTheExportedText(t *testing.T) {
	s := leakyStore("one", "")
	e := export(t, s, newTestExporter(t, s))
	m := readManifest(t, e.Directory)
	if m.Secrets == nil || m.Secrets.Rules != secretscan.Version || !maps.Equal(m.Secrets.Found, map[string]int{"github-token": 1, "aws-access-key": 1}) || len(m.Secrets.First) != 2 {
		t.Fatalf("it counts %+v", m.Secrets)
	}
	if f := m.Secrets.First[0]; f.Turn != 2 || f.In != relabel.SecretInObservation || f.Trajectory != s.list[0].Trajectory.ID.String() || f.Excerpt != "export TOKEN=ghp_…[40 bytes]" {
		t.Errorf("the first is %+v", f)
	}
	if f := m.Secrets.First[1]; f.Turn != 4 || f.In != relabel.SecretInLabel || f.Rule != "aws-access-key" {
		t.Errorf("the second is %+v", f)
	}
	text, err := os.ReadFile(filepath.Join(e.Directory, manifestName))
	if err != nil || strings.Contains(string(text), githubToken[8:]) || strings.Contains(string(text), awsKey[8:]) {
		t.Errorf("the manifest has a secret: %v", err)
	}
}

func TestStatesWithSecretsAreExcludedOnRequest(t *testing.T) {
	s := leakyStore("one", "")
	s.export.Form.ExcludeSecrets = true
	e := export(t, s, newTestExporter(t, s))
	m := readManifest(t, e.Directory)
	if len(m.Secrets.Found) > 0 || m.Excluded["secret"] != 3 || m.States != 2+3 { // turns 1 and 2 of the first trajectory
		t.Errorf("%d states, excluded %v, secrets %v", m.States, m.Excluded, m.Secrets)
	}
	for name, text := range filesBelow(t, e.Directory) {
		if strings.Contains(text, githubToken) {
			t.Errorf("%s has the token", name)
		}
	}
}

func TestAnExportWithSecretsIsNotPushedUnlessTheirRulesAreAllowed(t *testing.T) {
	server := hubtest.Start(t)
	server.Use(t)
	s := leakyStore("one", "hf://acme/set")
	x := newTestExporter(t, s)
	err := run(context.Background(), s, x)
	for _, part := range []string{"has secrets (1 × aws-access-key, 1 × github-token)", "turn 2 of trajectory " + s.list[0].Trajectory.ID.String() + " (observation), github-token: export TOKEN=ghp_…[40 bytes]",
		"turn 4 of trajectory ", "--exclude-secrets", "--allow-secret aws-access-key --allow-secret github-token"} {
		if relabel.CodeOf(err) != relabel.CodeConflict || !strings.Contains(safeReason(err), part) {
			t.Errorf("it says %v, not %q", err, part)
		}
	}
	if _, commits := server.Head("acme/set", "main"); commits != 1 || len(server.Stored()) > 0 {
		t.Errorf("%d commits and %d objects are on the Hub", commits, len(server.Stored()))
	}
	for _, form := range []relabel.ExportForm{{AllowSecrets: []string{"github-token", "aws-access-key"}}, {ExcludeSecrets: true}, {AllowSecrets: []string{"github-token"}}} {
		s := leakyStore("two", "hf://acme/set")
		form.Views = []relabel.View{relabel.ViewMessages}
		s.export.Form = form
		err := run(context.Background(), s, newTestExporter(t, s))
		if alone := len(form.AllowSecrets) == 1; (err != nil) != alone || alone && !strings.Contains(err.Error(), "secrets (1 × aws-access-key)") {
			t.Errorf("%+v: %v", form, err)
		}
	}
}

func TestSecretsOfTheProcessLeaveNowhere(t *testing.T) {
	s := newFixedStore(someTrajectory(1, 0, 5))
	s.list[0].Turns[0].Observations[0].Content = "it said: " + ownSecret
	x := NewExporter(Config{Store: s, Tokenizers: newTestExporter(t, s).Tokenizers, Root: t.TempDir(), FolderID: "here", OwnSecrets: map[string]string{"TEACHER": ownSecret}})
	err := run(context.Background(), s, x)
	if relabel.CodeOf(err) != relabel.CodeConflict || !strings.Contains(err.Error(), "own:TEACHER: it said: …[34 bytes]; export with --exclude-secrets") || strings.Contains(err.Error(), "--allow-secret") || strings.Contains(err.Error(), ownSecret) {
		t.Error(err)
	}
	s.newExport("two", relabel.ExportSelection{})
	s.export.Form.ExcludeSecrets = true
	if m := readManifest(t, export(t, s, x).Directory); m.States != 1 || m.Excluded["secret"] != 4 {
		t.Errorf("%d states, excluded %v", m.States, m.Excluded)
	}
}

func TestAFinishedExportIsPushedAsOneThatIsBuilt(t *testing.T) {
	server := hubtest.Start(t)
	server.Use(t)
	s := leakyStore("one", "")
	dir := export(t, s, newTestExporter(t, s)).Directory
	push := func(allow ...string) (string, error) {
		return Destinations{}.Push(context.Background(), Push{Dir: dir, Destination: "hf://acme/set", Allow: allow, Agent: "test"})
	}
	if _, err := push(); relabel.CodeOf(err) != relabel.CodeConflict || !strings.Contains(err.Error(), "(1 × aws-access-key, 1 × github-token)") {
		t.Error(err)
	}
	if _, err := push("github"); relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(err.Error(), "github-token") {
		t.Error(err)
	}
	place, err := push("github-token", "aws-access-key")
	head, _ := server.Head("acme/set", "main")
	if err != nil || place != "hf://acme/set@"+head {
		t.Fatalf("%s, %v", place, err)
	}
	same(t, "on the Hub", server.Files("acme/set", head), filesBelow(t, dir))
	fetched, at, err := Destinations{}.Fetch(context.Background(), "test", "hf://acme/set", t.TempDir(), nil)
	if err != nil || at != place {
		t.Fatalf("%s, %v", at, err)
	}
	same(t, "fetched", filesBelow(t, fetched), filesBelow(t, dir))

	var m map[string]any // as an earlier version wrote it
	text, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	delete(m, "secrets")
	if text, errNew := json.Marshal(m); err != nil || errNew != nil || os.WriteFile(filepath.Join(dir, manifestName), text, 0o600) != nil {
		t.Fatal(err, errNew)
	}
	if _, err := push("jwt"); relabel.CodeOf(err) != relabel.CodeConflict || !strings.Contains(err.Error(), "--allow-secret unscanned") {
		t.Error(err)
	}
	if _, err := push("unscanned"); err != nil {
		t.Error(err)
	}
	rows := slices.Collect(maps.Keys(filesBelow(t, dir)))
	i := slices.IndexFunc(rows, func(name string) bool { return strings.HasSuffix(name, ".parquet") })
	if err := os.WriteFile(filepath.Join(dir, rows[i]), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := push("unscanned"); relabel.CodeOf(err) != relabel.CodeConflict || !strings.Contains(err.Error(), "other bytes than manifest.json says") {
		t.Error(err)
	}
}

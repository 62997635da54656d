package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relabel"
	"relabel/shard/hub/hubtest"
	"relabel/shard/shardtest"
	"relabel/store/storetest"
)

// TestExportsOnTheHubAreVerifiedByTheirCommits pushes an export while it is built and another one that is finished, and
// reads both from the Hub.
func TestExportsOnTheHubAreVerifiedByTheirCommits(t *testing.T) {
	t.Parallel()
	server := hubtest.Start(t)
	server.PartBytes = 20_000
	p := place{data: t.TempDir(), database: storetest.Schema(t), env: append(server.Environ(), "XDG_CACHE_HOME="+t.TempDir())}
	s := storetest.Open(t, p.database)
	noError(t, s.Migrate(bounded(t)))
	run := seedRounds(t, s, relabel.DAgger)
	tokenizer := shardtest.Student(t)
	start := []string{"export", "start", run.Name, "--view", "messages,linear,tree", "--tokenizer", tokenizer}
	built := p.must(t, append(start, "--destination", "hf://acme/set@round%2F1")...)
	head, _ := server.Head("acme/set", "round/1")
	at := "hf://acme/set@" + head
	if head == "" || !strings.Contains(built, " in "+at) {
		t.Fatalf("the branch is at %q, and it says %s", head, built)
	}
	id, _, _ := strings.Cut(strings.TrimSpace(built), " ")

	p.must(t, start...) // on this machine
	manifests, err := filepath.Glob(filepath.Join(p.data, "exports", "*", "manifest.json"))
	noError(t, err)
	if len(manifests) != 1 {
		t.Fatalf("%d exports are on this machine", len(manifests))
	}
	local := filepath.Dir(manifests[0])
	pushed := p.must(t, "export", "push", local, "hf://acme/pushed")
	again := p.must(t, "export", "push", filepath.Base(local), "hf://acme/pushed")
	copied, commits := server.Head("acme/pushed", "main")
	if pushed != again || commits != 2 || !strings.Contains(pushed, `load_dataset("acme/pushed", "messages", revision="`+copied+`")`) {
		t.Errorf("%d commits; it says %s, then %s", commits, pushed, again)
	}

	for _, from := range []string{at, id, "hf://acme/pushed@" + copied, "hf://acme/pushed"} {
		var r verified
		said := p.must(t, "export", "verify", from, "--tokenizer", tokenizer, "--json")
		noError(t, json.NewDecoder(strings.NewReader(said[strings.Index(said, "{\n"):])).Decode(&r))
		if !r.Sound || r.Labels == 0 {
			t.Errorf("%s: %s", from, said)
		}
	}
	if said := p.must(t, "export", "show", at); !strings.Contains(said, "labelled states as messages, linear, tree of run "+run.ID.String()) {
		t.Errorf("it shows %s", said)
	}
	if said := p.must(t, "export", "show", at, "--row", "0", "--tokenizer", tokenizer); !strings.Contains(said, "row 0 of ") {
		t.Errorf("the row is %s", said)
	}
	if said, code := p.command(t, "export", "verify", "hf://acme/absent"); code == 0 || !strings.Contains(said, "there is no such data set") {
		t.Errorf("an absent one: %d, %s", code, said)
	}
	if said, code := p.command(t, "export", "delete", id); code == 0 || !strings.Contains(said, "it was pushed to "+at) {
		t.Errorf("its removal: %d, %s", code, said)
	}
	noError(t, os.WriteFile(filepath.Join(local, "README.md"), []byte("changed"), 0o600))
	if said, code := p.command(t, "export", "push", local, at); code == 0 || !strings.Contains(said, "names the commit") {
		t.Errorf("a push to a commit: %d, %s", code, said)
	}
}

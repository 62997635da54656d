package e2e

import (
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
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
	p := place{data: t.TempDir(), database: storetest.Migrated(t), env: append(server.Environ(), "XDG_CACHE_HOME="+t.TempDir())}
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
	if !strings.HasSuffix(again, pushed) || commits != 2 || !strings.Contains(pushed, `load_dataset("acme/pushed", "messages", revision="`+copied+`")`) {
		t.Errorf("%d commits; it says %s, then %s", commits, pushed, again)
	}

	pushedAlike(t, p, server, filepath.Base(local), copied)

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

// pushedAlike pushes an export that a server has by command, over REST and from the page, each to a data set of its own.
// All have the files of the commit of acme/pushed.
func pushedAlike(t *testing.T, p place, hub *hubtest.Server, id, commit string) {
	t.Helper()
	_, rest := p.serve(t)
	want := hub.Files("acme/pushed", commit)
	said := p.must(t, "export", "push", id, "hf://acme/command", "--server", rest.Base)
	var e relabel.Export
	noError(t, rest.post(bounded(t), "/v1/exports/"+id+"/push", map[string]any{"destination": "hf://acme/rest"}, &e))
	eventually(t, "REST's push ends", func() bool {
		noError(t, rest.get(bounded(t), "/v1/exports/"+id, &e))
		return e.Pushes[0].State == relabel.ExportDone
	})
	fromPage(t, rest.Base+"/exports/"+id+"/push", url.Values{"destination": {"hf://acme/page"}})
	eventually(t, "the page's push ends", func() bool {
		noError(t, rest.get(bounded(t), "/v1/exports/"+id, &e))
		return e.Pushes[0].State == relabel.ExportDone
	})
	if len(e.Pushes) != 4 { // one of the command that had no server
		t.Errorf("the export has the pushes %+v", e.Pushes)
	}
	shown := p.must(t, "export", "show", id, "--server", rest.Base)
	for _, way := range []string{"command", "rest", "page"} {
		head, _ := hub.Head("acme/"+way, "main")
		at := "hf://acme/" + way + "@" + head
		if !reflect.DeepEqual(hub.Files("acme/"+way, head), want) || !strings.Contains(shown, "pushed to "+at) {
			t.Errorf("%s: it is at %s, and export show says %s", way, at, shown)
		}
	}
	if head, _ := hub.Head("acme/command", "main"); !strings.Contains(said, `load_dataset("acme/command", "messages", revision="`+head+`")`) {
		t.Errorf("the command says %s", said)
	}
	if said, code := p.command(t, "export", "push", id, "hf://others/set", "--server", rest.Base); code == 0 || !strings.Contains(said, "the push failed: destination: hf://others/set: ") {
		t.Errorf("a refused push: %d, %s", code, said)
	}
}

// fromPage opens a page's form, fills it in and sends it, as a browser does.
func fromPage(t *testing.T, address string, chosen url.Values) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	noError(t, err)
	browser := &http.Client{Jar: jar}
	res, err := browser.Get(address)
	noError(t, err)
	defer res.Body.Close()
	page, err := io.ReadAll(res.Body)
	noError(t, err)
	for _, field := range formInputs.FindAllStringSubmatch(string(page), -1) {
		chosen.Set(field[1], html.UnescapeString(field[2]))
	}
	sent, err := browser.PostForm(address, chosen)
	noError(t, err)
	defer sent.Body.Close()
	if sent.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(sent.Body)
		t.Fatalf("the page answered %s: %s", sent.Status, body)
	}
}

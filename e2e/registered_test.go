package e2e

import (
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"relabel"
	"relabel/policy/scripted"
	"relabel/shard/shardtest"
	"relabel/store/storetest"
)

// TestAnExportsRegisteredTokenizerIsFetchedByItsHash shows and verifies an export beside the
// server that has its tokenizer, beside servers that do not give it, and without any.
func TestAnExportsRegisteredTokenizerIsFetchedByItsHash(t *testing.T) {
	t.Parallel()
	p := place{data: t.TempDir(), database: storetest.Migrated(t)}
	dir := exportedWith(t, p, shardtest.Student(t), "messages,linear")
	id := filepath.Base(dir)
	locked := listenFor(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"code": "unauthorized"}`))
	}))
	expect := func(code int, want string, args ...string) {
		t.Helper()
		said, got := p.command(t, append([]string{"export"}, args...)...)
		ids := strings.Contains(said, "Showing ids, because ")
		if got != code || !strings.Contains(said, want) || ids != (code == 0 && want != "supervised" && want != "PASS") {
			t.Errorf("export %v: %d, %q is wanted: %s", args, got, want, said)
		}
	}
	const nowhere = "http://127.0.0.1:9"
	expect(0, "supervised", "show", id, "--row", "0") // from the database itself
	expect(0, "PASS", "verify", id)
	expect(1, "nonsense is neither a folder on this machine, nor a place on the Hugging Face Hub", "verify", "nonsense")
	expect(2, "is not the id of an export", "cancel", "nonsense")
	expect(0, "no server runs here", "show", dir, "--row", "0")
	expect(0, "no answer from "+nowhere, "show", dir, "--row", "0", "--server", nowhere)
	expect(0, "requires a valid token", "show", dir, "--row", "0", "--server", locked)
	expect(1, "no running server has the registered tokenizer", "verify", dir)
	expect(1, "no answer from "+nowhere, "verify", dir, "--server", nowhere)
	expect(1, "requires a valid token", "verify", dir, "--server", locked)
	server, api := p.serve(t, "--no-work")
	expect(0, "supervised", "show", id, "--row", "0")
	expect(0, "supervised", "show", dir, "--row", "0")
	expect(0, "PASS", "verify", dir)
	expect(0, "PASS", "verify", dir, "--server", api.Base)
	expect(0, "PASS", "verify", id)
	if code := server.signal(syscall.SIGTERM); code != 0 {
		t.Errorf("the server ended with %d", code)
	}
}

// TestDoctorConnectsToWhatServeConnectsTo: an address that serve and worker refuse is refused by
// doctor too, by the same variable.
func TestDoctorConnectsToWhatServeConnectsTo(t *testing.T) {
	t.Parallel()
	p := place{data: t.TempDir(), database: storetest.Migrated(t)}
	url := listenFor(t, scripted.NewServer(scripted.Config{Book: scripted.NewBook(nil)})) + "/v1"
	p.must(t, "policy", "add", "student", "--base-url", url, "--model", scripted.StudentPrefix+"0.5")
	if said, code := p.command(t, "doctor", "--policy", "student"); code != 0 {
		t.Errorf("%d: %s", code, said)
	}
	p.env = []string{"RELABEL_ALLOW_ADDRESS=10.0.0.0/8"}
	if said, code := p.command(t, "doctor", "--policy", "student"); code == 0 || !strings.Contains(said, "is not in a range of --allow-address") {
		t.Errorf("%d: %s", code, said)
	}
}

// A mistyped folder is reported as neither a registered name nor a folder of this machine, and a
// folder without a tokenizer is named.
func TestAnErrorAboutAMissingTokenizerNamesThePathsThatWereTried(t *testing.T) {
	t.Parallel()
	p := place{data: t.TempDir(), database: storetest.Migrated(t)}
	empty := t.TempDir()
	missing := filepath.Join(empty, "modls", "qwen")
	s := storetest.Open(t, p.database)
	noError(t, s.Migrate(bounded(t)))
	run := seedRounds(t, s, relabel.DAgger)
	add := []string{"policy", "add", "student", "--base-url", "http://127.0.0.1:9/v1", "--model", "m"}
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"of a policy":          {append(add, "--tokenizer", missing), 2, "nor is it on this machine: there is no " + missing},
		"of an export":         {[]string{"export", "start", run.Name, "--view", "linear", "--tokenizer", missing}, 2, "nor is it on this machine: there is no " + missing},
		"without a vocabulary": {append(add, "--tokenizer", empty), 1, filepath.Join(empty, "tokenizer.json")},
		"of one version":       {[]string{"tokenizer", "delete", "nothing@2"}, 1, "nothing@2"},
	} {
		if said, code := p.command(t, c.args...); code != c.code || !strings.Contains(said, c.want) {
			t.Errorf("%s: %d, %q is wanted: %s", name, code, c.want, said)
		}
	}
}

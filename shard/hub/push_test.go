package hub_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"relabel"
	"relabel/shard/hub"
	"relabel/shard/hub/hubtest"
)

// set writes files to a folder and describes them, with a manifest that lists those of the views.
func set(t *testing.T, files map[string]string) []hub.File {
	t.Helper()
	dir := t.TempDir()
	var listed []string
	for name := range files {
		if strings.Contains(name, "/") {
			listed = append(listed, fmt.Sprintf(`{"path": %q}`, name))
		}
	}
	slices.Sort(listed)
	files["manifest.json"] = fmt.Sprintf(`{"schema_version": 1, "files": [%s]}`, strings.Join(listed, ", "))
	var all []hub.File
	for _, name := range slices.Sorted(maps.Keys(files)) {
		full := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(files[name]), 0o644)); err != nil {
			t.Fatal(err)
		}
		f, err := hub.Describe(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	return all
}

// round is the files of an export.
func round(n int) map[string]string {
	return map[string]string{
		"linear/00000.parquet": strings.Repeat(fmt.Sprintf("rows of round %d;", n), 40), "linear/00001.parquet": "the same in every round\x00",
		fmt.Sprintf("packed/%05d.parquet", n): strings.Repeat("bins;", 200), "README.md": fmt.Sprintf("---\nround: %d\n---\n", n), "excluded.jsonl": "",
	}
}

func client(s *hubtest.Server) *hub.Client {
	return &hub.Client{Endpoint: s.URL, Token: hubtest.Token, Agent: "relabel/test", Pause: time.Millisecond, Patience: time.Second}
}

func place(t *testing.T, raw string) hub.Place {
	t.Helper()
	p, err := hub.ParsePlace(raw)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// push pushes files and returns the commit, which the branch must have then.
func push(t *testing.T, s *hubtest.Server, raw string, files []hub.File) string {
	t.Helper()
	commit, err := client(s).Push(context.Background(), place(t, raw), files, "an export", func(int64) {})
	if err != nil {
		t.Fatal(err)
	}
	return commit
}

func sameFiles(t *testing.T, got, want map[string]string) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("there are %v, want %v, or they have other bytes", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
}

func TestAPushCreatesAPrivateRepositoryAndOneCommit(t *testing.T) {
	s := hubtest.Start(t)
	want := round(1)
	commit := push(t, s, "hf://acme/set", set(t, want))
	sameFiles(t, s.Files("acme/set", commit), want)
	if head, commits := s.Head("acme/set", "main"); head != commit || commits != 2 || !s.Private("acme/set") {
		t.Errorf("main is at %s, not %s, after %d commits; private: %v", head, commit, commits, s.Private("acme/set"))
	}
	push(t, s, "hf://acme/open?private=false", set(t, round(1)))
	if s.Private("acme/open") {
		t.Error("a repository that was to be public is private")
	}
}

func TestTheNextExportReplacesTheFilesOfTheEarlierOneAndKeepsOthers(t *testing.T) {
	s := hubtest.Start(t)
	first := push(t, s, "hf://acme/set", set(t, round(1)))
	s.Write("acme/set", "main", "notes.txt", "ours")
	s.Write("acme/set", "main", "linear/mine.parquet", "ours too")
	sent := int64(0)
	second, err := client(s).Push(context.Background(), place(t, "hf://acme/set"), set(t, round(2)), "again", func(n int64) { atomic.AddInt64(&sent, n) })
	if err != nil {
		t.Fatal(err)
	}
	want := round(2)
	files := set(t, want) // adds the manifest
	want["notes.txt"], want["linear/mine.parquet"] = "ours", "ours too"
	sameFiles(t, s.Files("acme/set", "main"), want)
	if sent != int64(len(want["linear/00000.parquet"])) { // packed/00002 has the bytes of packed/00001
		t.Errorf("%d bytes were sent", sent)
	}
	before := round(1)
	set(t, before)
	sameFiles(t, s.Files("acme/set", first), before)
	if again := push(t, s, "hf://acme/set", files); again != second {
		t.Errorf("the same export is commit %s after %s", again, second)
	}
}

func TestBranchesAndFoldersAreSeparate(t *testing.T) {
	s := hubtest.Start(t)
	s.CreateRepo("acme/set", false)
	s.Write("acme/set", "main", "README.md", "somebody's")
	want := round(1)
	files := set(t, want)
	push(t, s, "hf://acme/set@round-1/a/b", files)
	got := s.Files("acme/set", "round-1")
	for name, text := range want {
		if got["a/b/"+name] != text {
			t.Errorf("a/b/%s is %q", name, got["a/b/"+name])
		}
	}
	if got["README.md"] != "somebody's" || len(s.Files("acme/set", "main")) != 1 {
		t.Errorf("others' files are %v", s.Files("acme/set", "main"))
	}
}

func TestLargeFilesAreSentInParts(t *testing.T) {
	s := hubtest.Start(t)
	s.PartBytes = 100
	want := round(1)
	commit := push(t, s, "hf://acme/set", set(t, want))
	sameFiles(t, s.Files("acme/set", commit), want)
	if parts := len(s.Requests("PUT /parts/")); parts != 7+10 {
		t.Errorf("%d parts were sent", parts)
	}
}

// TestAPushContinuesAfterADeathAtAnyRequest kills the pusher at its n-th request, for every n. What the Hub has
// is not sent again.
func TestAPushContinuesAfterADeathAtAnyRequest(t *testing.T) {
	for n := int64(1); ; n++ {
		s := hubtest.Start(t)
		s.PartBytes = 300
		want := round(1)
		files := set(t, want)
		ctx, die := context.WithCancel(context.Background())
		var count atomic.Int64
		var stored sync.Map
		s.Before = func(_ http.ResponseWriter, r *http.Request) bool {
			if r.UserAgent() == "relabel/test" && count.Add(1) == n {
				die()
			}
			if r.UserAgent() == "again" && r.Method == http.MethodPut && hasAny(&stored, r.URL.Path) {
				t.Errorf("after a death at request %d, %s is sent again", n, r.URL.Path)
			}
			return false
		}
		_, err := client(s).Push(ctx, place(t, "hf://acme/set"), files, "an export", func(int64) {})
		died := ctx.Err() != nil
		die()
		_, made := s.Head("acme/set", "main")
		for _, object := range s.Stored() {
			stored.Store(object, true)
		}
		again := client(s)
		again.Agent = "again"
		commit, errAgain := again.Push(context.Background(), place(t, "hf://acme/set"), files, "an export", func(int64) {})
		if errAgain != nil || err != nil && !died || err == nil && made != 2 { // a death at the last request may come too late
			t.Fatalf("a death at request %d: %v, then %v", n, err, errAgain)
		}
		sameFiles(t, s.Files("acme/set", commit), want)
		if _, commits := s.Head("acme/set", "main"); commits != 2 {
			t.Errorf("after a death at request %d there are %d commits", n, commits)
		}
		if !died {
			if n < 15 {
				t.Errorf("a push had %d requests only", n)
			}
			return
		}
	}
}

// hasAny reports whether a path names one of the objects.
func hasAny(objects *sync.Map, path string) (has bool) {
	objects.Range(func(object, _ any) bool {
		has = has || strings.Contains(path, object.(string))
		return true
	})
	return has
}

// TestAPushOutlivesAServerThatFailsNowAndThen: each request fails once, by a status or a dropped connection in the middle
// of the upload.
func TestAPushOutlivesAServerThatFailsNowAndThen(t *testing.T) {
	s := hubtest.Start(t)
	s.PartBytes = 300
	var mu sync.Mutex
	seen := map[string]int{}
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		key := r.Method + r.URL.Path
		seen[key]++
		n := seen[key]
		mu.Unlock()
		switch {
		case n > 3:
			return false
		case n == 1:
			w.WriteHeader(http.StatusServiceUnavailable)
		case n == 2:
			w.Header().Set("RateLimit", `"api";r=0;t=0`)
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			_, _ = io.CopyN(io.Discard, r.Body, 100) // the client sees a broken line
			panic(http.ErrAbortHandler)
		}
		return true
	}
	want := round(1)
	commit := push(t, s, "hf://acme/set", set(t, want))
	sameFiles(t, s.Files("acme/set", commit), want)
	if _, commits := s.Head("acme/set", "main"); commits != 2 {
		t.Errorf("there are %d commits", commits)
	}
}

func TestACommitWhoseAnswerWasLostIsNotRepeated(t *testing.T) {
	s := hubtest.Start(t)
	lost := make(chan struct{}, 1)
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/commit/") || len(lost) > 0 {
			return false
		}
		lost <- struct{}{}
		again, err := http.NewRequest(r.Method, s.URL+r.URL.Path, r.Body)
		if err != nil {
			panic(err)
		}
		again.Header = r.Header
		answer, err := http.DefaultClient.Do(again)
		if err != nil {
			panic(err)
		}
		_ = answer.Body.Close() // the answer does not arrive
		panic(http.ErrAbortHandler)
	}
	want := round(1)
	commit := push(t, s, "hf://acme/set", set(t, want))
	sameFiles(t, s.Files("acme/set", commit), want)
	if _, commits := s.Head("acme/set", "main"); commits != 2 || len(lost) != 1 {
		t.Errorf("there are %d commits", commits)
	}
}

func TestAServerThatHasOtherBytesThanItSaysIsFoundOut(t *testing.T) {
	s := hubtest.Start(t)
	s.Alter = func(text []byte) []byte { return []byte(strings.ToUpper(string(text))) }
	commit := push(t, s, "hf://acme/set", set(t, round(1))) // the hashes of its listing are right
	err := client(s).Fetch(context.Background(), place(t, "hf://acme/set@"+commit), t.TempDir(), func(string) bool { return true })
	if err == nil || !strings.Contains(err.Error(), "are not those that the commit says") {
		t.Errorf("other bytes are taken: %v", err)
	}
	s = hubtest.Start(t)
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/commit/") {
			s.Write("acme/set", "main", "README.md", "another card") // instead of what it was given
			head, _ := s.Head("acme/set", "main")
			fmt.Fprintf(w, `{"success": true, "commitOid": %q}`, head)
			return true
		}
		return false
	}
	_, err = client(s).Push(context.Background(), place(t, "hf://acme/set"), set(t, round(1)), "an export", func(int64) {})
	if err == nil || !strings.Contains(err.Error(), "has other bytes than were sent") {
		t.Errorf("another commit is taken: %v", err)
	}
}

func TestARefusalSaysWhatToDo(t *testing.T) {
	for _, c := range []struct {
		name, token, place string
		status             int
		header             map[string]string
		says               string
	}{
		{name: "no token", place: "hf://acme/set", says: "there is no token: set HF_TOKEN"},
		{name: "an unknown token", token: "hf_wrong", place: "hf://acme/set", says: "the token was rejected: Invalid credentials"},
		{name: "a token that reads", token: hubtest.ReadToken, place: "hf://acme/set", says: "HF_TOKEN must be a token with write access"},
		{name: "another's name", token: hubtest.Token, place: "hf://others/set", says: "You don't have the rights to create a dataset under the namespace"},
		{name: "a quota", token: hubtest.Token, place: "hf://acme/set", status: 403, header: map[string]string{"X-Error-Message": "Private repository storage limit reached"}, says: "the Hub forbids it: Private repository storage limit reached"},
		{name: "too large", token: hubtest.Token, place: "hf://acme/set", status: 413, says: "the request is too large for it"},
		{name: "too many", token: hubtest.Token, place: "hf://acme/set", status: 429, header: map[string]string{"Retry-After": "90"}, says: "it asks to wait 1m30s"},
	} {
		s := hubtest.Start(t)
		s.CreateRepo("acme/set", true)
		s.Before = func(w http.ResponseWriter, _ *http.Request) bool {
			for name, value := range c.header {
				w.Header().Set(name, value)
			}
			if c.status != 0 {
				w.WriteHeader(c.status)
			}
			return c.status != 0
		}
		h := client(s)
		h.Token = c.token
		err := h.Check(context.Background(), place(t, c.place))
		var refused *hub.Error
		if !errors.As(err, &refused) || !strings.Contains(refused.Words(), c.says) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if refused.Refused() != (c.status != 429) {
			t.Errorf("%s: refused is %v", c.name, refused.Refused())
		}
		if text := err.Error() + refused.Words(); c.token != "" && strings.Contains(text, c.token) || strings.Contains(text, "Signature=") {
			t.Errorf("%s: a secret is shown: %s", c.name, text)
		}
	}
}

func TestAFileThatChangedAfterItsExportIsNotSent(t *testing.T) {
	s := hubtest.Start(t)
	files := set(t, round(1))
	i := slices.IndexFunc(files, func(f hub.File) bool { return f.Name == "linear/00000.parquet" })
	if err := os.WriteFile(files[i].Local, []byte("changed"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := client(s).Push(context.Background(), place(t, "hf://acme/set"), files, "an export", func(int64) {})
	if relabel.CodeOf(err) != relabel.CodeConflict || !strings.Contains(err.Error(), "linear/00000.parquet") {
		t.Error(err)
	}
	if _, commits := s.Head("acme/set", "main"); commits != 1 {
		t.Errorf("there are %d commits", commits)
	}
}

func TestAHeaderThatTheHubRefusesIsReportedBeforeAnUpload(t *testing.T) {
	s := hubtest.Start(t)
	files := round(1)
	files["README.md"] = "---\nlicense: other\nlicense_link: nowhere\n---\n"
	_, err := client(s).Push(context.Background(), place(t, "hf://acme/set"), set(t, files), "an export", func(int64) {})
	if relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(err.Error(), `refuses the header of README.md: "license_link" must be`) || len(s.Stored()) > 0 {
		t.Error(err)
	}
	push(t, s, "hf://acme/set/folder", set(t, files)) // where nobody reads it
}

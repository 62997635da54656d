package repository

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"relabel"
	"relabel/codeindex"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantCode fails the test unless err has the code and its message the words.
func wantCode(t testing.TB, err error, code relabel.Code, words string) {
	t.Helper()
	if relabel.CodeOf(err) != code || !strings.Contains(err.Error(), words) {
		t.Errorf("the error is %v (%s), not %s with %q", err, relabel.CodeOf(err), code, words)
	}
}

// tree is a git repository of a test, with the mirror made of it.
type tree struct {
	t   testing.TB
	dir string
}

func newTree(t testing.TB) *tree {
	w := &tree{t, t.TempDir()}
	w.git("init", "-q", "-b", "main")
	return w
}

// git runs git in the work tree and returns what it writes.
func (w *tree) git(args ...string) string {
	w.t.Helper()
	return git(w.t, w.dir, args...)
}

func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always", "-c", "gc.auto=0"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_DATE=2020-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2020-01-01T00:00:00Z")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (w *tree) write(path, content string) {
	w.t.Helper()
	path = filepath.Join(w.dir, path)
	must(w.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(w.t, os.WriteFile(path, []byte(content), 0o644))
}

// commit commits everything and returns the commit's id.
func (w *tree) commit() string {
	w.t.Helper()
	w.git("add", "-A")
	w.git("commit", "-q", "--allow-empty", "-m", "x")
	return w.git("rev-parse", "HEAD")
}

// mirror clones the tree to a folder of mirrors as owner/name.
func (w *tree) mirror(dir string) {
	w.t.Helper()
	w.git("clone", "-q", "--mirror", "--no-local", w.dir, filepath.Join(dir, "owner__name.git"))
}

// mirrors returns a folder's mirrors, which the test closes.
func mirrors(t testing.TB, dir string) *Mirrors {
	t.Helper()
	m, err := Open(dir)
	must(t, err)
	t.Cleanup(m.Close)
	return m
}

// mirrored is mirrors of the tree alone.
func (w *tree) mirrored() *Mirrors {
	w.t.Helper()
	dir := w.t.TempDir()
	w.mirror(dir)
	return mirrors(w.t, dir)
}

// lineParser says that each line is a function, and counts what it parses.
type lineParser struct {
	parsed  atomic.Int64
	version int
	wait    chan struct{} // if set, each Parse waits until it is closed
}

func (p *lineParser) Parser(language codeindex.Language) codeindex.Parser {
	if language == codeindex.Ruby {
		return nil
	}
	return p
}

func (p *lineParser) Version(_ codeindex.Language, path string) int {
	if filepath.Ext(path) == ".tsx" {
		return -1
	}
	return p.version
}

func (p *lineParser) Parse(_ string, source []byte) (r codeindex.Records) {
	p.parsed.Add(1)
	if p.wait != nil {
		<-p.wait
	}
	if bytes.HasPrefix(source, []byte("panic")) {
		panic("a bug")
	}
	for i, line := range strings.Split(strings.TrimSpace(string(source)), "\n") {
		r.Definitions = append(r.Definitions, codeindex.Definition{Kind: codeindex.Function, Name: line, Span: codeindex.Span{Start: i + 1, End: i + 1}})
	}
	return r
}

// memoryStore is a Store of a test.
type memoryStore struct{ records map[codeindex.Key][]byte }

func (s *memoryStore) FindCodeRecords(_ context.Context, keys []codeindex.Key) (map[codeindex.Key][]byte, error) {
	found := map[codeindex.Key][]byte{}
	for _, k := range keys {
		if r, ok := s.records[k]; ok {
			found[k] = r
		}
	}
	return found, nil
}

func (s *memoryStore) SaveCodeRecords(_ context.Context, records map[codeindex.Key][]byte) error {
	for k, r := range records {
		if bytes.Equal(s.records[k], r) {
			return fmt.Errorf("%v is stored already", k)
		}
		s.records[k] = r
	}
	return nil
}

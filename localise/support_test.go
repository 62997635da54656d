package localise

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"relabel/codeindex"
	"relabel/codeindex/golang"
	"relabel/codeindex/python"
	"relabel/envs/repository"
	"relabel/tasks"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// parsers are those of Python and Go.
type parsers struct{}

func (parsers) Parser(l codeindex.Language) codeindex.Parser {
	switch l {
	case codeindex.Python:
		return python.Parser{}
	case codeindex.Go:
		return golang.Parser{}
	}
	return nil
}

func (parsers) Version(codeindex.Language, string) int { return 1 }

// world is a repository of a test with its mirror, owner/name.
type world struct {
	t       testing.TB
	tree    string
	mirrors string
	*repository.Mirrors
	*repository.Indexer
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, tree: t.TempDir(), mirrors: t.TempDir()}
	w.git("init", "-q", "-b", "main")
	mirrors, err := repository.Open(w.mirrors)
	must(t, err)
	w.Mirrors = mirrors
	w.Indexer = repository.NewIndexer(repository.IndexerConfig{Mirrors: mirrors, Parsers: parsers{}})
	t.Cleanup(func() { w.Indexer.Close(); mirrors.Close() })
	return w
}

func (w *world) git(args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "gc.auto=0", "-c", "core.autocrlf=false", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = w.tree
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		errors.As(err, &exit)
		w.t.Fatalf("git %s: %v", args, err)
	}
	return string(out)
}

// commit replaces all files and returns the commit. It updates the mirror.
func (w *world) commit(files map[string]string) string {
	w.t.Helper()
	w.git("rm", "-rq", "--ignore-unmatch", ".")
	for name, content := range files {
		name = filepath.Join(w.tree, name)
		must(w.t, os.MkdirAll(filepath.Dir(name), 0o755))
		must(w.t, os.WriteFile(name, []byte(content), 0o644))
	}
	w.git("add", "-A")
	return w.commitIndex()
}

func (w *world) commitIndex() string {
	w.t.Helper()
	w.git("commit", "-q", "--allow-empty", "-m", "x")
	w.git("push", "-q", "--mirror", w.bare())
	return strings.TrimSpace(w.git("rev-parse", "HEAD"))
}

// bare returns the mirror, which it makes if needed.
func (w *world) bare() string {
	dir := filepath.Join(w.mirrors, "owner__name.git")
	if _, err := os.Stat(dir); err != nil {
		w.git("init", "-q", "--bare", dir)
	}
	return dir
}

var longIssue = strings.Repeat("A long text. ", 10)

// pair is the change between two commits.
func pair(base, head string) tasks.Pair {
	return tasks.Pair{Repository: "owner/name", BaseCommit: base, HeadCommit: head, Issue: longIssue}
}

// build builds pairs.
func (w *world) build(pairs ...tasks.Pair) Result {
	w.t.Helper()
	b := Builder{Repositories: w, Exclude: &Exclusions{}}
	r, err := b.Build(context.Background(), Candidates(pairs))
	must(w.t, err)
	return r
}

// goldOf returns the gold of a change of one file as its functions, and ! if the file itself is none.
func goldOf(t testing.TB, language codeindex.Language, base, head string) string {
	t.Helper()
	parser := parsers{}.Parser(language)
	b, h := newText(base), newText(head)
	c := change{language: language, base: b, head: h, edits: edits(t, base, head),
		baseIndex: parser.Parse("a", []byte(base)), headIndex: parser.Parse("a", []byte(head))}
	g := c.gold()
	if !g.code {
		return "!"
	}
	var names []string
	for _, d := range c.baseIndex.Definitions {
		if g.names[d.Name] {
			names = append(names, d.Name)
			delete(g.names, d.Name)
		}
	}
	if len(g.names) > 0 {
		t.Errorf("the base has no %v", g.names)
	}
	return strings.Join(names, " ")
}

// diff returns git's diff of two texts, as of a file named a.
func diff(t testing.TB, base, head string, options ...string) string {
	t.Helper()
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "x"), 0o755))
	must(t, os.MkdirAll(filepath.Join(dir, "y"), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "x/a"), []byte(base), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "y/a"), []byte(head), 0o644))
	cmd := exec.Command("git", append([]string{"-c", "core.autocrlf=false", "diff", "--no-index", "--no-color", "--text", "--no-prefix"}, append(options, "x/a", "y/a")...)...)
	cmd.Dir = dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() > 1) {
		t.Fatal(err)
	}
	return string(out)
}

// object is the id of a commit that does not exist.
func object(n byte) string { return hex.EncodeToString(fmt.Appendf(nil, "%020d", n)) }

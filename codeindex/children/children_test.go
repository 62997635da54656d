package children

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"relabel/codeindex"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 1 && filepath.Base(os.Args[0]) == "serve" {
		if err := Serve(os.Stdin, os.Stdout, time.Second, Answers{Records: named, Parts: lengthOf}); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// named is a parser of files that hold a name; some names end the child or keep it.
func named(_ byte, source []byte) codeindex.Records {
	switch name := string(source); name {
	case "crash":
		os.Exit(3)
	case "hang":
		time.Sleep(time.Hour) // the pool kills the program at its time limit
	case "nameless":
		return codeindex.Records{Definitions: []codeindex.Definition{{Kind: codeindex.Class}}}
	case "much":
		return codeindex.Records{Definitions: []codeindex.Definition{{Kind: codeindex.Class, Name: strings.Repeat("x", maxRecords)}}}
	case "syntax":
		return codeindex.Records{Problem: codeindex.Syntax, Imports: []codeindex.Import{{Span: codeindex.Span{Start: 1, End: 2}}}}
	}
	return codeindex.Records{Definitions: []codeindex.Definition{{Kind: codeindex.Function, Name: string(source), Span: codeindex.Span{Start: 3, End: 70000}}}}
}

// lengthOf is a parser of parts whose tree names the language and the length of the source.
func lengthOf(language byte, source []byte) codeindex.Parts {
	if string(source) == "crash" {
		os.Exit(3)
	}
	return codeindex.Parts{Tree: fmt.Sprint(language, " ", len(source))}
}

// pool returns a pool whose program is this test, under another name.
func pool(t *testing.T) *Pool {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "serve")
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	p := New(path)
	t.Cleanup(p.Close)
	return p
}

func (p *Pool) nameOf(source string) string {
	r := p.Parse(0, []byte(source))
	if len(r.Definitions) == 0 {
		return string(r.Problem)
	}
	return r.Definitions[0].Name
}

func TestAFileCostsItsChildAtMost(t *testing.T) {
	p := pool(t)
	for range 3 {
		for source, want := range map[string]codeindex.Problem{
			"crash": codeindex.ParseFail, "nameless": codeindex.ParseFail, "much": codeindex.TooLarge, "syntax": codeindex.Syntax,
			"a\x00b": codeindex.NotText, strings.Repeat("x", MaxBytes+1): codeindex.TooLarge,
		} {
			if r := p.Parse(0, []byte(source)); r.Problem != want || len(r.Definitions) > 0 {
				t.Errorf("%.10q is %q with %d definitions, not %q", source, r.Problem, len(r.Definitions), want)
			}
			if got := p.nameOf("good"); got != "good" {
				t.Errorf("after %.10q: %q", source, got)
			}
		}
	}
	r := p.Parse(0, []byte("syntax"))
	if !slices.Equal(r.Imports, []codeindex.Import{{Span: codeindex.Span{Start: 1, End: 2}}}) {
		t.Errorf("imports beside errors: %v", r.Imports)
	}
}

func TestPartsComeFromTheSameChildren(t *testing.T) {
	p := pool(t)
	if got := p.Parts(2, []byte("good")); got.Tree != "2 4" || got.Problem != "" {
		t.Errorf("tree %q, problem %q", got.Tree, got.Problem)
	}
	if got := p.nameOf("good"); got != "good" {
		t.Errorf("records after parts: %q", got)
	}
	if got := p.Parts(0, []byte("crash")).Problem; got != codeindex.ParseFail {
		t.Errorf("a crash is %q", got)
	}
	if got := p.Parts(0, []byte("a\x00b")).Problem; got != codeindex.NotText {
		t.Errorf("a file that is no text is %q", got)
	}
}

func TestASlowFileIsStopped(t *testing.T) {
	p := pool(t)
	p.limit = 100 * time.Millisecond
	if got := p.Parse(0, []byte("hang")).Problem; got != codeindex.TooSlow {
		t.Errorf("a file that hangs is %q", got)
	}
	p.limit = timeLimit
	if got := p.nameOf("good"); got != "good" {
		t.Errorf("after it: %q", got)
	}
}

func TestADeadChildCostsNoFile(t *testing.T) {
	p := pool(t)
	for range 3 * cap(p.slots) {
		if got := p.nameOf("good"); got != "good" {
			t.Errorf("a good file is %q", got)
		}
		c := <-p.slots
		if c != nil {
			_ = c.cmd.Process.Kill()
		}
		p.slots <- c
	}
}

func TestParseConcurrently(t *testing.T) {
	p := pool(t)
	var group sync.WaitGroup
	for i := range 40 {
		source := []string{"good", "other", "crash", "syntax"}[i%4]
		group.Go(func() {
			if got := p.nameOf(source); i%4 < 2 && got != source {
				t.Errorf("%s is %q", source, got)
			}
		})
	}
	group.Wait()
}

func TestAClosedPoolHasNoParser(t *testing.T) {
	p := pool(t)
	p.nameOf("good")
	p.Close()
	p.Close()
	for _, p := range []*Pool{p, New("")} {
		if got := p.Parse(0, nil).Problem; got != codeindex.NoParser {
			t.Errorf("a file has the problem %q", got)
		}
	}
	missing := New("/nothing/there")
	defer missing.Close()
	if got := missing.Parse(0, nil).Problem; got != codeindex.ParseFail {
		t.Errorf("a file for a missing program has the problem %q", got)
	}
}

// TestAChildEndsWithItsInput is what ends children when relabel is killed.
func TestAChildEndsWithItsInput(t *testing.T) {
	p := pool(t)
	c, err := start(p.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.in.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(c.out); err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestAnAbandonedChildEndsInASlowFile is what ends a child that hangs when relabel is killed.
func TestAnAbandonedChildEndsInASlowFile(t *testing.T) {
	c, err := start(pool(t).path)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.ask(0, []byte("hang"), time.Hour); err == nil {
		t.Error("a file that hangs has an answer")
	}
	if err := c.cmd.Wait(); err == nil || c.cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("the child ended with %v", err)
	}
}

func TestAProgramIsFoundByItsFolderAndMark(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "parsers"), []byte("…mark/1…"), 0o700); err != nil {
		t.Fatal(err)
	}
	if path, err := Find(dir, "parsers", "mark/1"); err != nil || path != filepath.Join(dir, "parsers") {
		t.Errorf("%q, %v", path, err)
	}
	t.Setenv("RELABEL_PARSERS", dir)
	if _, err := Find("", "parsers", "mark/1"); err != nil {
		t.Error(err)
	}
	for name, wrong := range map[string]string{"parsers": "mark/2", "missing": "mark/1"} {
		if _, err := Find("", name, wrong); err == nil || !strings.Contains(err.Error(), "RELABEL_PARSERS") {
			t.Errorf("%s with %s: %v", name, wrong, err)
		}
	}
}

func TestDamagedAnswersAreErrors(t *testing.T) {
	_, good := encode(named(0, []byte("name")))
	if r, err := decode(0, good); err != nil || r.Definitions[0].Name != "name" || r.Definitions[0].End != 70000 {
		t.Errorf("%v, %v", r, err)
	}
	for n := 1; n < len(good); n++ {
		if _, err := decode(0, good[:n]); err == nil {
			t.Errorf("%d bytes of %d are read", n, len(good))
		}
	}
	if _, err := decode(9, good); err == nil {
		t.Error("outcome 9 is read")
	}
}

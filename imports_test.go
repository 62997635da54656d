package relabel_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "relabel"

// rootImports are what the words of the paper may be written with, beside the standard
// library without technology; rootTestImports come on top for their tests.
var (
	rootImports     = []string{"github.com/google/uuid"}
	rootTestImports = []string{"pgregory.net/rapid", "go.uber.org/goleak", "os", "os/exec"}
	technology      = []string{"net", "net/http", "os", "os/exec", "database/sql", "html/template", "syscall", "plugin", "unsafe", "C"}
)

// leaves are folders that import the root and the leaves in arrows at most; any folder that is not a
// leaf may import them.
var leaves = []string{"api", "atif", "chat", "codeindex", "conversations", "evaluation", "failuremode", "gitdiff", "jinja", "judge", "labelrule", "lease", "localise", "modelfiles", "overlap", "ranking", "safetext", "secretscan", "stats", "tasks", "tasks/harbor", "testlog", "tokenizer", "trainers"}

// arrows are the imports between folders that are wanted, besides the root package,
// which any may import, and cmd, which may import any. A * stands for one folder.
var arrows = []struct{ from, to string }{
	{"store", "migrations"},
	{"store/*", "store"},
	{"store/storetest", "store/localpg"},
	{"store/storetest", "migrations"}, // what its template is made of
	{"api/*", "api"},
	{"cli", "api/client"},
	{"web", "web/*"},
	{"tasks", "gitdiff"},
	{"tasks", "ranking"},
	{"tasks", "testlog"},
	{"tasks/harbor", "tasks"},
	{"codeindex/*", "codeindex/children"}, // parsers in other programs
	{"codeindex/languages", "codeindex/*"},
	{"failuremode", "chat"},
	{"failuremode", "gitdiff"},
	{"failuremode", "evaluation"},
	{"failuremode", "stats"},
	{"codeindex/*", "codeindex"},
	{"evaluation", "codeindex"},
	{"evaluation", "ranking"},
	{"evaluation", "stats"},
	{"labelrule", "evaluation"},
	{"atif", "chat"},
	{"conversations", "chat"},
	{"judge", "chat"},
	{"localise", "codeindex"},
	{"localise", "gitdiff"},
	{"localise", "tasks"},
	{"overlap", "gitdiff"},
	{"envs/*", "envs"},
	{"envs/*/*", "envs"},
	{"envs/*", "envs/wire"},   // the frames that both ends speak
	{"envs/*", "envs/remote"}, // the host's end, whatever the stream
	{"envs/faketest", "envs/inside"},
	{"envs/inside", "envs/inside/*"},
	{"envs/inside/*", "envs/wire"},
	{"envs/inside/worktree", "envs/inside/process"},
	{"envs/verify", "envs/verify/*"},
	{"envs/verify", "envs/verify/canary/*"},
	{"envs/verify/*", "envs/verify/tree"},
	{"envs/verify/*", "envs/verify/testcmd"},
	{"envs/verify/canary", "envs/verify/results"},
	{"envs/verify/canary/*", "envs/verify/*"}, // what they are made of and how they are run
	{"envs/scaffold", "envs/scaffold/*"},
	{"envs/scaffold/bare", "envs/scaffold/openhands"}, // the same tools
	{"envs/scaffold/terminal", "envs/scaffold/openhands"},
	{"envs/scaffold/terminal", "envs/reward"}, // its rollouts end with the tests
	{"envs/scaffold/*", "envs/scaffold/arguments"},
	{"codeindex/languages/*", "codeindex/languages"},
	{"envs/docker/dockertest", "envs/docker"},
	{"examples/train/learn/loop", "api/client"},
	{"examples/train/learn/loop", "examples/train/learn/repair"},
	{"mixer", "mixer/schedule"},
	{"taskbuild/*", "taskbuild"}, // sources of candidates, recipes
	{"policy/*", "policy"},
	{"policy", "policy/texttools"},   // calls in text, which the client reads
	{"policy/*", "policy/texttools"}, // and the scripted models write
	{"shard", "shard/*"},
	{"shard", "examples/train"}, // the programs that the README of an export shows
	{"shard/tokenizers", "shard/render"},
	{"shard/shardtest", "shard/tokenizers"},
	{"shard/rows", "shard/parquet"},
	{"shard/*", "shard/outfile"}, // files and their sizes
	{"shard/rows", "shard/arrow"},
	{"shard/rows", "shard/jsonl"},
	{"shard/rows", "shard/dialect"},   // what lines contain
	{"shard/verify", "shard/dialect"}, // what they should contain
	{"shard/verify", "shard/rows"},    // what stands in a file
	{"shard/verify", "shard/parquet"}, // its columns
	{"shard/verify", "shard/render"},  // what should stand there
}

// vagueNames are package names that say nothing of what is inside.
var vagueNames = []string{"util", "utils", "helper", "helpers", "common", "misc", "manager", "base", "shared", "lib"}

// maxLines is the length of a file that one can still read in a sitting.
const maxLines = 400

// listed is what the go command says of a package.
type listed struct {
	ImportPath, Name, Dir              string
	GoFiles                            []string
	Imports, TestImports, XTestImports []string
}

// listPackages lists the packages of the module in dir, of those too that do not compile.
func listPackages(t *testing.T, dir string) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Name,Dir,GoFiles,Imports,TestImports,XTestImports", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var all []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// wrongImports returns what p imports against the arrows, one sentence each. Tests may
// wire folders together; those of the root may not.
func wrongImports(p listed) []string {
	var wrong []string
	for _, to := range p.Imports {
		if !mayImport(p.ImportPath, to) {
			wrong = append(wrong, fmt.Sprintf("%s imports %s", p.ImportPath, to))
		}
	}
	if p.ImportPath != module {
		return wrong
	}
	for _, to := range slices.Concat(p.TestImports, p.XTestImports) {
		if to != module && !mayImport(module, to) && !slices.Contains(rootTestImports, to) {
			wrong = append(wrong, fmt.Sprintf("a test of %s imports %s", module, to))
		}
	}
	return wrong
}

// mayImport reports whether the arrows allow a package to import another.
func mayImport(from, to string) bool {
	first, _, _ := strings.Cut(to, "/")
	if from == module {
		standard := first != module && !strings.Contains(first, ".")
		return standard && !slices.Contains(technology, to) || slices.Contains(rootImports, to)
	}
	if first != module {
		return true // the standard library and other modules are each folder's own affair
	}
	if strings.HasSuffix(to, "test") {
		return strings.HasSuffix(from, "test") // fakes and suites are for tests alone
	}
	from, to = strings.TrimPrefix(from, module+"/"), strings.TrimPrefix(to, module+"/")
	if to == module {
		return true
	}
	if strings.HasPrefix(from, "cmd/") {
		return !strings.HasPrefix(to, "cmd/")
	}
	if slices.Contains(leaves, to) && !slices.Contains(leaves, from) {
		return true
	}
	for _, a := range arrows {
		if matches(a.from, from) && matches(a.to, to) {
			return true
		}
	}
	return false
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// vagueName returns the part of p's path or name that says nothing, or "".
func vagueName(p listed) string {
	for _, part := range append(strings.Split(p.ImportPath, "/"), p.Name) {
		if slices.Contains(vagueNames, part) {
			return part
		}
	}
	return ""
}

// countLines returns how many lines a file has.
func countLines(t *testing.T, name string) int {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := 0
	r := bufio.NewReader(f)
	for {
		_, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return lines
		}
		if err != nil {
			t.Fatal(err)
		}
		lines++
	}
}

func TestFoldersImportOnlyAlongTheArrows(t *testing.T) {
	for _, p := range listPackages(t, ".") {
		for _, w := range wrongImports(p) {
			t.Errorf("%s: see the arrows in docs/architecture.md", w)
		}
	}
}

func TestPackageNamesSayWhatIsInside(t *testing.T) {
	for _, p := range listPackages(t, ".") {
		if v := vagueName(p); v != "" {
			t.Errorf("%s: %q says nothing of what is inside", p.ImportPath, v)
		}
	}
}

func TestFilesAreShortEnoughToRead(t *testing.T) {
	for _, p := range listPackages(t, ".") {
		for _, f := range p.GoFiles {
			name := filepath.Join(p.Dir, f)
			if n := countLines(t, name); n > maxLines {
				t.Errorf("%s has %d lines, more than %d: split it by what it is about", name, n, maxLines)
			}
		}
	}
}

// TestForbiddenImportsAreFound proves that the check above can fail.
func TestForbiddenImportsAreFound(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module relabel\n\ngo 1.26\n")
	write("words.go", "package relabel\n\nimport _ \"net/http\"\nimport _ \"relabel/web\"\n")
	write("words_test.go", "package relabel_test\n\nimport _ \"relabel\"\nimport _ \"relabel/envs\"\n")
	for from, to := range map[string]string{
		"server": "store", "store": "mixer", "mixer": "envs", "mixer/schedule": "policy", "envs/docker": "store",
		"shard": "store", "policy": "store/storetest", "web": "server", "envs/verify": "envs/docker", "cmd/sandboxd": "cmd/relabel",
		"jinja": "tasks",
	} {
		write(from+"/a.go", fmt.Sprintf("package %s\n\nimport _ \"relabel\"\nimport _ \"relabel/%s\"\n", path.Base(from), to))
	}
	write("tasks/a.go", "package tasks\n\nimport _ \"relabel/gitdiff\"\n")
	write("gitdiff/a.go", "package gitdiff\n")
	write("envs/a.go", "package envs\n\nimport _ \"relabel\"\n")
	write("shard/pack/a.go", "package pack\n")
	write("shard/b.go", "package shard\n\nimport _ \"relabel/shard/pack\"\n")
	write("store/storetest/a.go", "package storetest\n\nimport _ \"relabel/store\"\n")
	write("cmd/relabel/a.go", "package main\n\nimport _ \"relabel/store\"\nimport _ \"relabel/server\"\n")
	write("mixer/utils/a.go", "package utils\n")

	var wrong, vague []string
	for _, p := range listPackages(t, dir) {
		wrong = append(wrong, wrongImports(p)...)
		if v := vagueName(p); v != "" {
			vague = append(vague, p.ImportPath)
		}
	}
	want := []string{
		"relabel imports net/http",
		"relabel imports relabel/web",
		"a test of relabel imports relabel/envs",
		"relabel/cmd/sandboxd imports relabel/cmd/relabel",
		"relabel/envs/docker imports relabel/store",
		"relabel/envs/verify imports relabel/envs/docker",
		"relabel/jinja imports relabel/tasks",
		"relabel/mixer imports relabel/envs",
		"relabel/mixer/schedule imports relabel/policy",
		"relabel/policy imports relabel/store/storetest",
		"relabel/server imports relabel/store",
		"relabel/shard imports relabel/store",
		"relabel/store imports relabel/mixer",
		"relabel/web imports relabel/server",
	}
	slices.Sort(wrong)
	slices.Sort(want)
	if !slices.Equal(wrong, want) {
		t.Errorf("found:\n%s\nwant:\n%s", strings.Join(wrong, "\n"), strings.Join(want, "\n"))
	}
	if !slices.Equal(vague, []string{"relabel/mixer/utils"}) {
		t.Errorf("vague names: %q", vague)
	}
}

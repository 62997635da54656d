package repository

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"relabel/codeindex"
	"relabel/codeindex/python"
	"relabel/store/storetest"
)

// pythonAlone are the parsers of the benchmark.
type pythonAlone struct{}

func (pythonAlone) Parser(language codeindex.Language) codeindex.Parser {
	if language == codeindex.Python {
		return python.Parser{}
	}
	return nil
}

func (pythonAlone) Version(codeindex.Language, string) int { return 1 }

// largeRepository returns the mirrors of scripts/large-repository.sh and its commits, the oldest first.
func largeRepository(b *testing.B) (*Mirrors, []string) {
	b.Helper()
	cmd := exec.Command("../../scripts/large-repository.sh")
	var said complaint
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		b.Fatal(said.because(err))
	}
	dir := strings.TrimSpace(string(out))
	return mirrors(b, dir), strings.Fields(git(b, filepath.Join(dir, "large.git"), "rev-list", "--reverse", "HEAD"))
}

// BenchmarkIndex indexes the releases of a large repository with a real store. Wanted on two cores: the
// first in at most 10 s, the next one in at most 0.5 s. The baseline is to read all source files.
func BenchmarkIndex(b *testing.B) {
	ctx := context.Background()
	m, commits := largeRepository(b)
	var reading, first, next, stored []time.Duration
	var files, parsed, size float64
	for b.Loop() {
		s := storetest.New(b)
		reading = append(reading, timed(func() { readAll(b, m, commits[0]) }))
		x := indexer(b, m, pythonAlone{}, s)
		for i, commit := range commits {
			took := timed(func() {
				index, err := x.Index(ctx, "large", commit)
				must(b, err)
				files = float64(len(index.Files()))
			})
			if i == 0 {
				first = append(first, took)
			} else {
				next = append(next, took)
			}
		}
		parsed = float64(len(x.cache.sources))
		must(b, s.Pool().QueryRow(ctx, "SELECT pg_total_relation_size('code_records')").Scan(&size))
		again := indexer(b, m, pythonAlone{}, s)
		stored = append(stored, timed(func() {
			_, err := again.Index(ctx, "large", commits[0])
			must(b, err)
		}))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(files, "files")
	b.ReportMetric(parsed, "contents")
	b.ReportMetric(size/(1<<20), "store-MiB")
	b.ReportMetric(seconds(reading), "read-s")
	b.ReportMetric(seconds(first), "first-s")
	b.ReportMetric(seconds(next), "next-s")
	b.ReportMetric(seconds(stored), "from-store-s")
}

func timed(do func()) time.Duration {
	began := time.Now()
	do()
	return time.Since(began)
}

// seconds is the median.
func seconds(all []time.Duration) float64 {
	slices.Sort(all)
	return all[len(all)/2].Seconds()
}

// readAll reads the Python files of a commit.
func readAll(b *testing.B, m *Mirrors, commit string) {
	entries, err := m.Tree(context.Background(), "large", commit)
	must(b, err)
	for _, e := range entries {
		if strings.HasSuffix(e.Path, ".py") {
			_, _, err := m.Read(context.Background(), "large", e.Blob, maxParsed)
			must(b, err)
		}
	}
}

// BenchmarkLookup times what tools ask of an index in memory. Wanted: at most 1 ms at the median.
func BenchmarkLookup(b *testing.B) {
	ctx := context.Background()
	m, commits := largeRepository(b)
	x := indexer(b, m, pythonAlone{}, nil)
	index, err := x.Index(ctx, "large", commits[0])
	must(b, err)
	files := index.Files()
	var times [5][]time.Duration
	for b.Loop() {
		f := files[rand.IntN(len(files))]
		name := "async_setup"
		if d := f.Records.Definitions; len(d) > 0 {
			name = d[rand.IntN(len(d))].Name
		}
		for i, do := range []func(){
			func() { _, _ = x.Index(ctx, "large", commits[0]) },
			func() { index.File(f.Path).Find(name) },
			func() { f.Similar(name + "x") },
			func() { index.Root() },
			func() { index.Similar(f.Path + "x") },
		} {
			times[i] = append(times[i], timed(do))
		}
	}
	b.ReportMetric(0, "ns/op")
	for i, unit := range []string{"index-ms", "find-ms", "similar-name-ms", "tree-ms", "similar-path-ms"} {
		b.ReportMetric(1000*seconds(times[i]), unit)
	}
}

// BenchmarkMemory holds the indexes of 200 commits, each with ten changed files.
func BenchmarkMemory(b *testing.B) {
	ctx := context.Background()
	large, commits := largeRepository(b)
	dir := b.TempDir()
	git(b, dir, "clone", "-q", "--mirror", filepath.Join(large.dir, "large.git"), "large.git")
	m := mirrors(b, dir)
	head := commits[len(commits)-1]
	changed := addChanges(b, m, head, 200)
	for b.Loop() {
		x := indexer(b, m, pythonAlone{}, nil)
		before := heap()
		_, err := x.Index(ctx, "large", head)
		must(b, err)
		one := heap()
		for _, commit := range changed {
			_, err := x.Index(ctx, "large", commit)
			must(b, err)
		}
		b.ReportMetric((one-before)/(1<<20), "first-MiB")
		b.ReportMetric((heap()-one)/float64(len(changed))/(1<<10), "next-KiB")
		b.ReportMetric(float64(x.cache.bytes)/(heap()-before), "counted/held")
		runtime.KeepAlive(x)
	}
	b.ReportMetric(0, "ns/op")
}

func heap() float64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return float64(s.HeapAlloc)
}

// addChanges commits n times to a mirror, each time with ten Python files of the commit before that get
// one function more, and returns the commits.
func addChanges(b *testing.B, m *Mirrors, head string, n int) []string {
	b.Helper()
	entries, err := m.Tree(context.Background(), "large", head)
	must(b, err)
	entries = slices.DeleteFunc(entries, func(e Entry) bool { return !strings.HasSuffix(e.Path, ".py") })
	var stream bytes.Buffer
	for i := range n {
		fmt.Fprintf(&stream, "commit refs/heads/changes\ncommitter a <a@b> %d +0000\ndata 0\n", 1_700_000_000+i)
		if i == 0 {
			fmt.Fprintf(&stream, "from %s\n", head)
		}
		for j := range 10 {
			e := entries[(10*i+j)*7%len(entries)]
			content, _, err := m.Read(context.Background(), "large", e.Blob, maxParsed)
			must(b, err)
			content = fmt.Appendf(content, "\ndef added_%d():\n    pass\n", i)
			fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", e.Path, len(content), content)
		}
	}
	dir := filepath.Join(m.dir, "large.git")
	cmd := exec.Command("git", "--git-dir="+dir, "fast-import", "--quiet")
	cmd.Stdin = &stream
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return strings.Fields(git(b, dir, "rev-list", "--reverse", head+"..changes"))
}

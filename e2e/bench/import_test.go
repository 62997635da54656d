package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel/e2e/e2etest"
)

// importedRows are rows of about 5 kB, 500 MB together.
const importedRows = 100_000

// BenchmarkImport imports rows of 5 kB as JSONL through a server into Postgres, and measures its peak memory. The
// baseline is a COPY of the same lines into a table of one column.
func BenchmarkImport(b *testing.B) {
	url := databaseURL(b)
	rows := writeRows(b, importedRows)
	server, base := startServer(b, url)
	for n := 0; b.Loop(); n++ {
		copied := copyRows(b, url, rows)
		start := time.Now()
		importRows(b, fmt.Sprintf("%s/v1/tasksets?name=rows-%d", base, n), rows)
		took := time.Since(start).Seconds()
		b.ReportMetric(took, "s")
		b.ReportMetric(copied, "s-copy")
		b.ReportMetric(took/copied, "x-copy")
		b.ReportMetric(statusKiB(b, server.Process.Pid, "VmHWM")/1024, "MiB-peak")
	}
}

// writeRows writes a task file and returns its path.
func writeRows(b *testing.B, n int) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "rows.jsonl")
	file, err := os.Create(path)
	must(b, err)
	out := bufio.NewWriter(file)
	random := rand.New(rand.NewPCG(1, 1))
	for i := range n {
		var text strings.Builder
		for text.Len() < 4600 {
			fmt.Fprintf(&text, "word%d ", random.IntN(10_000))
		}
		line, err := json.Marshal(map[string]any{"instance_id": fmt.Sprint("a__b-", i), "image": "a/b:1", "workdir": "/testbed", "problem_statement": text.String(),
			"patch": "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "test_cmd": "pytest -rA", "log_parser": "pytest",
			"FAIL_TO_PASS": []string{"tests/test_x.py::test_a"}, "PASS_TO_PASS": []string{"tests/test_x.py::test_b"}})
		must(b, err)
		_, _ = out.Write(append(line, '\n')) // Flush has the error
	}
	must(b, out.Flush())
	must(b, file.Close())
	return path
}

// startServer starts bin/relabel, which `make bench` builds, and returns its address.
func startServer(b *testing.B, url string) (server *exec.Cmd, base string) {
	b.Helper()
	data := b.TempDir()
	server = exec.Command("../../bin/relabel", "serve", "--no-work", "--listen", "127.0.0.1:0", "--data", data)
	server.Env, server.Stderr = append(os.Environ(), "DATABASE_URL="+url), os.Stderr
	must(b, server.Start())
	b.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
	})
	e2etest.Eventually(b, "the server answers", func() bool {
		text, err := os.ReadFile(filepath.Join(data, "server.url"))
		if base = strings.TrimSpace(string(text)); err != nil || base == "" {
			return false
		}
		answer, err := http.Get(base + "/readyz")
		if err == nil {
			must(b, answer.Body.Close())
		}
		return err == nil
	})
	return server, base
}

// importRows sends a task file.
func importRows(b *testing.B, address, path string) {
	b.Helper()
	file, err := os.Open(path)
	must(b, err)
	answer, err := http.Post(address, "application/x-ndjson", file)
	must(b, err)
	text, err := io.ReadAll(answer.Body)
	must(b, err)
	if answer.StatusCode != http.StatusCreated {
		b.Fatalf("%d: %s", answer.StatusCode, text)
	}
	must(b, answer.Body.Close())
}

// copyRows copies the lines of a file into a table, and returns the seconds.
func copyRows(b *testing.B, url, path string) float64 {
	b.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	must(b, err)
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, "DROP TABLE IF EXISTS copied; CREATE TABLE copied (line bytea)")
	must(b, err)
	file, err := os.Open(path)
	must(b, err)
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	start := time.Now()
	_, err = conn.CopyFrom(ctx, pgx.Identifier{"copied"}, []string{"line"}, pgx.CopyFromFunc(func() ([]any, error) {
		if !lines.Scan() {
			return nil, lines.Err()
		}
		return []any{lines.Bytes()}, nil
	}))
	must(b, err)
	return time.Since(start).Seconds()
}

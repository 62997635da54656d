package web_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"relabel"
	"relabel/server"
	"relabel/shard"
	"relabel/web/webtest"
)

// TestTheCommandOfAnExportsPageFetchesAllOfIt runs the line as it stands there, in a shell
// that finds nothing but curl, with a token and without.
func TestTheCommandOfAnExportsPageFetchesAllOfIt(t *testing.T) {
	t.Parallel()
	for name, needsToken := range map[string]bool{"open": false, "with a token": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, token := t.TempDir(), ""
			s := start(t, func(c *server.Config) {
				c.Exports, c.RequireToken = shard.NewExporter(shard.Config{Root: root, FolderID: "here"}), needsToken
			})
			if needsToken {
				var err error
				token, err = s.store.CreateToken(t.Context(), "trainer", relabel.ReadAccess)
				s.must(err)
			}
			s.outcomes()
			files := map[string]string{}
			var described []relabel.ExportFile
			for _, path := range []string{"README.md", "excluded.jsonl", "manifest.json", "linear/00000.parquet", "packed/00000.idx.parquet", "packed/00001.idx.parquet", "packed/00009.idx.parquet",
				"tree/00098.parquet", "tree/00099.parquet", "tree/00100.parquet", "tree/100000.parquet"} {
				files[path] = "what " + path + " holds"
				sum := sha256.Sum256([]byte(files[path]))
				described = append(described, relabel.ExportFile{Path: path, SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(files[path]))})
			}
			e := s.exported(described...)
			for path, content := range files {
				file := filepath.Join(root, e.ID.String(), path)
				s.must(os.MkdirAll(filepath.Dir(file), 0o755))
				s.must(os.WriteFile(file, []byte(content), 0o644))
			}
			into := t.TempDir()
			run(t, into, token, s.command(e, token))
			for _, f := range described {
				got, err := os.ReadFile(filepath.Join(into, e.ID.String(), f.Path))
				s.must(err)
				if sum := sha256.Sum256(got); hex.EncodeToString(sum[:]) != f.SHA256 {
					t.Errorf("%s came with another hash: %q", f.Path, got)
				}
			}
			s.must(os.Remove(filepath.Join(root, e.ID.String(), "tree/00099.parquet")))
			if _, err := shell(t, t.TempDir(), token, s.command(e, token)); err == nil {
				t.Error("a file that is gone is not told")
			}
		})
	}
}

// command is the line on an export's page.
func (s *site) command(e relabel.Export, token string) string {
	s.t.Helper()
	req, err := http.NewRequest(http.MethodGet, s.URL+"/exports/"+e.ID.String(), nil)
	s.must(err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	s.must(err)
	page := s.read(res.Body)
	s.must(res.Body.Close())
	m := regexp.MustCompile(`(?s)id="fetch"[^>]*>(.*?)</pre>`).FindStringSubmatch(page)
	if m == nil {
		s.t.Fatalf("%s: no command: %s", res.Status, page)
	}
	if strings.Contains(m[1], "<") {
		s.t.Errorf("it cannot be copied as it is: %s", m[1])
	}
	return html.UnescapeString(m[1])
}

// shell runs a line if there is no program but curl.
func shell(t *testing.T, dir, token, line string) (said string, err error) {
	t.Helper()
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(curl, filepath.Join(bin, "curl")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", line)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + bin, "RELABEL_TOKEN=" + token}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func run(t *testing.T, dir, token, line string) {
	t.Helper()
	if out, err := shell(t, dir, token, line); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, line)
	}
}

// TestTheCommandIsCopiedFromAnExportsPage looks at it in a browser.
func TestTheCommandIsCopiedFromAnExportsPage(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.outcomes()
	var files []relabel.ExportFile
	for n := range 60 {
		files = append(files, relabel.ExportFile{Path: fmt.Sprintf("tree/%05d.parquet", n), SHA256: strings.Repeat("ab", 32), Bytes: 1, Rows: 1})
	}
	p := webtest.Open(t, s.URL+"/exports/"+s.exported(files...).ID.String())
	if text := p.Text("#fetch"); !strings.Contains(text, "/tree/[00000-00059].parquet'") || len(text) > 400 {
		t.Errorf("the command: %s", text)
	}
	contains(t, p.Text("main"), "1 label_missing", "Download all files with curl")
	p.Look("export-fetch")
}

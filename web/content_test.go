package web_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"relabel/web"
)

// folder is a copy of the templates and static files, and the pages that are made of it.
type folder struct {
	t     *testing.T
	path  string
	pages http.Handler
}

func openFolder(t *testing.T) folder {
	t.Helper()
	f := folder{t, t.TempDir(), nil}
	for _, name := range []string{"templates", "static"} {
		if err := os.CopyFS(filepath.Join(f.path, name), os.DirFS(name)); err != nil {
			t.Fatal(err)
		}
	}
	f.pages = web.New(web.Config{Files: os.DirFS(f.path)})
	return f
}

// get requests an address, "/nowhere" for a page that needs no data.
func (f folder) get(address string) (status int, body string) {
	answer := httptest.NewRecorder()
	f.pages.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, address, nil))
	return answer.Code, answer.Body.String()
}

// change replaces a text in a file, once.
func (f folder) change(name, from, to string) {
	f.t.Helper()
	name = filepath.Join(f.path, name)
	text, err := os.ReadFile(name)
	if err != nil || !strings.Contains(string(text), from) {
		f.t.Fatalf("%s lacks %q: %v", name, from, err)
	}
	if err := os.WriteFile(name, []byte(strings.Replace(string(text), from, to, 1)), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// wants fails if an address has another status or lacks a text.
func (f folder) wants(address string, status int, text string) (body string) {
	f.t.Helper()
	code, body := f.get(address)
	if code != status || !strings.Contains(html.UnescapeString(body), text) {
		f.t.Errorf("%s: status %d, want %d with %q:\n%s", address, code, status, text, body)
	}
	return body
}

func TestPagesOfAFolderFollowItsTemplates(t *testing.T) {
	t.Parallel()
	f := openFolder(t)
	f.wants("/nowhere", http.StatusNotFound, "<h1>Not found</h1>")
	f.change("templates/error.html", "<h1>", "<h1>Changed: ")
	f.wants("/nowhere", http.StatusNotFound, "<h1>Changed: Not found</h1>")
}

func TestPagesOfAFolderFollowItsStaticFiles(t *testing.T) {
	t.Parallel()
	f := openFolder(t)
	style := regexp.MustCompile(`/static/\w+/style\.css`)
	before := style.FindString(f.wants("/nowhere", http.StatusNotFound, "style.css"))
	f.change("static/css/1-variables.css", "{", "{ --changed: 1;")
	after := style.FindString(f.wants("/nowhere", http.StatusNotFound, "style.css"))
	if before == after {
		t.Errorf("the address of the style stays %s, so browsers keep the earlier one", before)
	}
	f.wants(after, http.StatusOK, "--changed: 1;")
}

// A fault in a template is on the page, and the next request finds the mended template.
func TestPagesOfAFolderShowFaultsOfTemplates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, from, to, want string }{
		"the page of errors itself": {"templates/error.html", "<h1>", "<h1>{{if}}", "template: error.html:2: missing value for if"},
		"a page that is not shown":  {"templates/run.html", `{{define "content"}}`, "{{define \"content\"}}\n{{nothing}}", `template: run.html:2: function "nothing" not defined`},
		"an unknown field":          {"templates/error.html", "{{.Title}}", "{{.Titel}}", "can't evaluate field Titel"},
		"a lost static file":        {"templates/shared/layout.html", `asset "icon.svg"`, `asset "gone.svg"`, "no static file gone.svg"},
	} {
		f := openFolder(t)
		f.change(c.file, c.from, c.to)
		f.wants("/nowhere", http.StatusInternalServerError, c.want)
		f.change(c.file, c.to, c.from)
		if f.wants("/nowhere", http.StatusNotFound, "Not found"); t.Failed() {
			t.Fatal(name)
		}
	}
}

package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"strings"

	"relabel"
)

//go:embed templates
var sources embed.FS

// templates are those of the pages by name, each with the layout and the shared parts.
var templates = loadTemplates()

func loadTemplates() map[string]*template.Template {
	shared := template.Must(template.New("").Funcs(functions).ParseFS(sources, "templates/shared/*.html"))
	entries, err := sources.ReadDir("templates")
	if err != nil {
		panic(err) // embedded
	}
	all := map[string]*template.Template{}
	for _, e := range entries {
		if !e.IsDir() {
			own := template.Must(template.Must(shared.Clone()).ParseFS(sources, "templates/"+e.Name()))
			all[strings.TrimSuffix(e.Name(), path.Ext(e.Name()))] = own
		}
	}
	return all
}

// page is a page with what its frame needs.
type page struct {
	Template string     // its file in templates, without .html
	Title    string     // of the window; made safe when shown
	Section  string     // the entry of the navigation that it belongs to, "" for none
	Crumbs   []crumb    // what lies above it, from the top
	Keys     []shortcut // that work here, beside those that work everywhere
	Scripts  []string   // static files, beside those that every page has
	// Follow is the address of the events after which its live parts are fetched again; ""
	// where nothing of it changes by itself.
	Follow string
	View   any // what the templates "content" and "part-…" are given
	Status int // 0: 200
}

// crumb is a step of the way to a page.
type crumb struct {
	Text string // made safe when shown
	Link string
}

// shortcut is a key that does something, or several of them: "j k".
type shortcut struct{ Keys, Does string }

// Each lists the keys.
func (s shortcut) Each() []string { return strings.Fields(s.Keys) }

// sections are the entries of the navigation.
var sections = []crumb{
	{"Home", "/"}, {"Trajectories", "/trajectories"}, {"Tasks", "/tasks"}, {"Policies", "/policies"}, {"Exports", "/exports"}, {"Reviews", "/reviews"}, {"Audit", "/audit"},
}

// commonScripts are run by every page, in this order.
var commonScripts = []string{"page.js", "live.js", "operations.js"}

// frame is what the layout is given.
type frame struct {
	page
	Sections  []crumb
	StyleURL  string
	IconURL   string
	ScriptURL []string
	SignOut   string // token of the form that signs out; "" where nobody is signed in
}

// render answers with a page, or, where the address asks for parts of it (?part=NAME,
// several if need be), with these alone. Nothing is written when a template fails.
func (v *viewer) render(w http.ResponseWriter, r *http.Request, p page) error {
	var b bytes.Buffer
	if parts := r.URL.Query()["part"]; len(parts) > 0 {
		if err := renderParts(&b, p, parts); err != nil {
			return err
		}
	} else if err := renderWhole(&b, w, r, p); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if p.Status != 0 {
		w.WriteHeader(p.Status)
	}
	_, _ = w.Write(b.Bytes()) // a client that is gone reads nothing
	return nil
}

func renderWhole(b *bytes.Buffer, w http.ResponseWriter, r *http.Request, p page) error {
	f := frame{page: p, Sections: sections, StyleURL: assetURL("style.css"), IconURL: assetURL("icon.svg")}
	for _, name := range append(append([]string{}, commonScripts...), p.Scripts...) {
		f.ScriptURL = append(f.ScriptURL, assetURL(name))
	}
	if c := callerOf(r); c.Session != "" && c.Access != relabel.NoAccess {
		f.SignOut = formToken(w, r)
	}
	return templates[p.Template].ExecuteTemplate(b, "layout", f)
}

// renderParts writes the templates part-NAME of a page, each in an element that says
// which it is.
func renderParts(b *bytes.Buffer, p page, names []string) error {
	for _, name := range names {
		part := templates[p.Template].Lookup("part-" + name)
		if part == nil {
			return relabel.Errorf(relabel.CodeNotFound, "This page has no such part.")
		}
		fmt.Fprintf(b, "<div data-part=%q>", name)
		if err := part.Execute(b, p.View); err != nil {
			return err
		}
		b.WriteString("</div>\n")
	}
	return nil
}

// wants reports whether a request is for the whole page or for this part of it, so that
// what the others need is not read in vain.
func wants(r *http.Request, part string) bool {
	parts := r.URL.Query()["part"]
	for _, p := range parts {
		if p == part {
			return true
		}
	}
	return len(parts) == 0
}

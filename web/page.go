package web

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"relabel"
)

// page is a page with the data of its frame.
type page struct {
	Template string     // its file in templates, without .html
	Title    string     // of the window; made safe when shown
	Section  string     // the entry of the navigation that it belongs to, "" for none
	Crumbs   []crumb    // the pages above it, from the top
	Keys     []shortcut // in addition to those of every page
	Scripts  []string   // static files, in addition to those of every page
	// Follow is the address of the events after which its live parts are fetched again; "" for
	// a page without live parts.
	Follow string
	View   any // data of the templates "content" and "part-…"
	Status int // 0: 200
}

type crumb struct {
	Text string // made safe when shown
	Link string
}

// shortcut describes one or more keys: "j k".
type shortcut struct{ Keys, Does string }

// Each lists the keys.
func (s shortcut) Each() []string { return strings.Fields(s.Keys) }

var sections = []crumb{
	{"Home", "/"}, {"Trajectories", "/trajectories"}, {"Tasks", "/tasks"}, {"Benchmarks", "/benchmarks"}, {"Policies", "/policies"}, {"Exports", "/exports"}, {"Reviews", "/reviews"}, {"Audit", "/audit"},
}

var commonScripts = []string{"page.js", "live.js", "operations.js"}

type frame struct {
	page
	Sections []crumb
	Scripts  []string
	SignOut  string // token of the form that signs out; "" without a session
}

// render writes a page, or the parts that the query selects (?part=NAME, repeatable). Nothing
// is written when a template fails.
func (v *viewer) render(w http.ResponseWriter, r *http.Request, p page) error {
	t, err := v.template(p.Template)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if parts := r.URL.Query()["part"]; len(parts) > 0 {
		err = renderParts(&b, t, p, parts)
	} else {
		err = renderWhole(&b, t, w, r, p)
	}
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if p.Status != 0 {
		w.WriteHeader(p.Status)
	}
	_, _ = w.Write(b.Bytes()) // the client may have disconnected
	return nil
}

func renderWhole(b *bytes.Buffer, t *template.Template, w http.ResponseWriter, r *http.Request, p page) error {
	f := frame{page: p, Sections: sections, Scripts: slices.Concat(commonScripts, p.Scripts)}
	if c := callerOf(r); c.Session != "" && c.Access != relabel.NoAccess {
		f.SignOut = formToken(w, r)
	}
	return t.ExecuteTemplate(b, "layout", f)
}

// renderParts writes the templates part-NAME of a page, each in an element with its name.
func renderParts(b *bytes.Buffer, t *template.Template, p page, names []string) error {
	for _, name := range names {
		part := t.Lookup("part-" + name)
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

// wants reports whether a request is for the whole page or for this part of it.
func wants(r *http.Request, part string) bool {
	parts := r.URL.Query()["part"]
	return len(parts) == 0 || slices.Contains(parts, part)
}

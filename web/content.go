package web

import (
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"strings"
	"sync"
)

//go:embed templates static
var embedded embed.FS

// content is what pages are made of.
type content struct {
	templates map[string]*template.Template // of pages by name, each with the layout and the shared parts
	assets    assets
}

// embeddedContent is the content in the program.
var embeddedContent = sync.OnceValues(func() (*content, error) { return loadContent(embedded) })

// contentOf returns a function that gives the content of files as they are now; nil: that in the program.
func contentOf(files fs.FS) func() (*content, error) {
	if files == nil {
		return embeddedContent
	}
	return func() (*content, error) { return loadContent(files) }
}

// template returns the template of a page.
func (v *viewer) template(name string) (*template.Template, error) {
	c, err := v.content()
	if err != nil {
		return nil, err
	}
	t, ok := c.templates[name]
	if !ok {
		return nil, fmt.Errorf("no template %s.html", name)
	}
	return t, nil
}

func loadContent(files fs.FS) (*content, error) {
	assets, err := loadAssets(files)
	if err != nil {
		return nil, err
	}
	shared, err := template.New("").Funcs(functions).Funcs(template.FuncMap{"asset": assets.url}).ParseFS(files, "templates/shared/*.html")
	if err != nil {
		return nil, err
	}
	templates, err := loadTemplates(files, shared)
	return &content{templates, assets}, err
}

// loadTemplates returns the templates of pages, each with the shared ones.
func loadTemplates(files fs.FS, shared *template.Template) (map[string]*template.Template, error) {
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		return nil, err
	}
	all := map[string]*template.Template{}
	for _, name := range names {
		own := template.Must(shared.Clone()) // nothing is executed before
		if own, err = own.ParseFS(files, name); err != nil {
			return nil, err
		}
		all[strings.TrimSuffix(path.Base(name), ".html")] = own
	}
	return all, nil
}

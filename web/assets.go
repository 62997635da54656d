package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
)

type asset struct {
	url, hash     string
	body, smaller []byte // smaller is compressed; nil if that is not less
}

// assets are the static files by name.
type assets map[string]asset

// loadAssets returns the static files. style.css joins all style sheets: those of css in the
// order of their names, then those of vendor.
func loadAssets(files fs.FS) (assets, error) {
	all := assets{}
	var style bytes.Buffer
	for _, folder := range []string{"static/css", "static/vendor", "static"} {
		entries, err := fs.ReadDir(files, folder)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.IsDir() {
				continue
			}
			body, err := fs.ReadFile(files, folder+"/"+e.Name())
			switch {
			case err != nil:
				return nil, err
			case strings.HasSuffix(e.Name(), ".css"):
				style.Write(append(body, '\n'))
			default:
				all[e.Name()] = newAsset(e.Name(), body)
			}
		}
	}
	all["style.css"] = newAsset("style.css", style.Bytes())
	return all, nil
}

func newAsset(name string, body []byte) asset {
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:6])
	a := asset{url: "/static/" + hash + "/" + name, hash: hash, body: body}
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // a level that there is
	_, _ = w.Write(body)
	_ = w.Close() // into memory
	if b.Len() < len(body) {
		a.smaller = b.Bytes()
	}
	return a
}

func (a assets) url(name string) (string, error) {
	of, ok := a[name]
	if !ok {
		return "", fmt.Errorf("no static file %s", name)
	}
	return of.url, nil
}

// serveAsset serves a static file for permanent caching: its address changes with its content.
func (v *viewer) serveAsset(w http.ResponseWriter, r *http.Request) {
	c, err := v.content()
	if err != nil {
		v.showBroken(w, r, err)
		return
	}
	name := r.PathValue("name")
	a, ok := c.assets[name]
	if !ok || a.hash != r.PathValue("hash") {
		http.Error(w, "no such file", http.StatusNotFound)
		return
	}
	h, body := w.Header(), a.body
	h.Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Vary", "Accept-Encoding")
	if a.smaller != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = a.smaller
	}
	_, _ = w.Write(body) // a client that is gone reads nothing
}

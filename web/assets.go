package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:embed static
var static embed.FS

type asset struct {
	url, hash     string
	body, smaller []byte // smaller is compressed; nil if that is not less
}

// assets are the static files by name. style.css joins all style sheets: those of css in the
// order of their names, then those of vendor.
var assets = sync.OnceValue(loadAssets)

func loadAssets() map[string]asset {
	all := map[string]asset{}
	var style bytes.Buffer
	for _, folder := range []string{"static/css", "static/vendor", "static"} {
		entries, err := static.ReadDir(folder)
		if err != nil {
			panic(err) // embedded
		}
		for _, e := range entries {
			body, err := fs.ReadFile(static, folder+"/"+e.Name())
			switch {
			case e.IsDir():
			case err != nil:
				panic(err) // embedded
			case strings.HasSuffix(e.Name(), ".css"):
				style.Write(append(body, '\n'))
			default:
				all[e.Name()] = newAsset(e.Name(), body)
			}
		}
	}
	all["style.css"] = newAsset("style.css", style.Bytes())
	return all
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

func assetURL(name string) string {
	a, ok := assets()[name]
	if !ok {
		panic("no static file " + name)
	}
	return a.url
}

// serveAsset serves a static file for permanent caching: its address changes with its content.
func serveAsset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	a, ok := assets()[name]
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

package hubtest

import (
	"bytes"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// pageEntries is how many entries a page of a listing has: few, so that there are several.
const pageEntries = 5

// entry describes a file as listings do.
func entry(name string, f file) map[string]any {
	e := map[string]any{"type": "file", "path": name, "size": f.size, "oid": f.gitObject()}
	if f.object != "" {
		e["lfs"] = map[string]any{"oid": f.object, "size": f.size, "pointerSize": 130}
	}
	return e
}

func folder(name string) map[string]any {
	return map[string]any{"type": "directory", "path": name, "size": 0, "oid": sha([]byte(name))[:40]}
}

func (s *Server) listTree(w http.ResponseWriter, q *http.Request, r *repo) {
	commit, files, is := r.found(w, q)
	if !is {
		return
	}
	below := q.PathValue("path")
	recursive := strings.EqualFold(q.URL.Query().Get("recursive"), "true")
	all := map[string]map[string]any{}
	for name, f := range files {
		rest, is := name, true
		if below != "" {
			rest, is = strings.CutPrefix(name, below+"/")
		}
		if !is {
			continue
		}
		if recursive || !strings.Contains(rest, "/") {
			all[name] = entry(name, f)
		}
		for dir := path.Dir(rest); dir != "."; dir = path.Dir(dir) {
			if recursive || !strings.Contains(dir, "/") {
				full := path.Join(below, dir)
				all[full] = folder(full)
			}
		}
	}
	if len(all) == 0 {
		w.Header().Set("X-Repo-Commit", commit)
		fail(w, http.StatusNotFound, "EntryNotFound", below+" does not exist on \""+q.PathValue("rev")+"\"")
		return
	}
	s.page(w, q, all)
}

// page answers with the page of a listing that a request asks for.
func (s *Server) page(w http.ResponseWriter, q *http.Request, all map[string]map[string]any) {
	names := slices.Sorted(maps.Keys(all))
	from, _ := strconv.Atoi(q.URL.Query().Get("cursor"))
	to := min(from+pageEntries, len(names))
	entries := []map[string]any{}
	for _, name := range names[min(from, to):to] {
		entries = append(entries, all[name])
	}
	if to < len(names) {
		next := *q.URL
		query := next.Query()
		query.Set("cursor", strconv.Itoa(to))
		next.RawQuery = query.Encode()
		w.Header().Set("Link", "<"+s.URL+next.String()+`>; rel="next"`)
	}
	answer(w, http.StatusOK, entries)
}

func (s *Server) showPaths(w http.ResponseWriter, q *http.Request, r *repo) {
	_, files, is := r.found(w, q)
	if !is {
		return
	}
	if err := q.ParseForm(); err != nil {
		fail(w, http.StatusBadRequest, "", "Invalid form")
		return
	}
	entries := []map[string]any{}
	for _, name := range q.PostForm["paths"] {
		if f, is := files[name]; is {
			entries = append(entries, entry(name, f))
			continue
		}
		for other := range files {
			if strings.HasPrefix(other, name+"/") {
				entries = append(entries, folder(name))
				break
			}
		}
	}
	answer(w, http.StatusOK, entries)
}

// resolve serves a file; one in LFS from the object store.
func (s *Server) resolve(w http.ResponseWriter, q *http.Request, r *repo) {
	commit, files, is := r.found(w, q)
	if !is {
		return
	}
	w.Header().Set("X-Repo-Commit", commit)
	f, is := files[q.PathValue("path")]
	if !is {
		fail(w, http.StatusNotFound, "EntryNotFound", "Entry not found")
		return
	}
	w.Header().Set("Accept-Ranges", "bytes")
	if f.object != "" {
		w.Header().Set("X-Linked-Size", strconv.FormatInt(f.size, 10))
		w.Header().Set("X-Linked-Etag", `"`+f.object+`"`)
		w.Header().Set("ETag", `"`+f.gitObject()+`"`)
		w.Header().Set("Location", s.Storage+"/objects/"+f.object+"?"+signature)
		w.WriteHeader(http.StatusFound)
		return
	}
	w.Header().Set("ETag", `"`+f.gitObject()+`"`)
	http.ServeContent(w, q, path.Base(q.PathValue("path")), time.Time{}, bytes.NewReader(f.bytes))
}

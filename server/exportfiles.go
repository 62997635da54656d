package server

import (
	"net/http"
	"path"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"relabel"
)

// addExportFiles serves files with ranges, which huma leaves to net/http.
func (s *site) addExportFiles() {
	op := operation(http.MethodGet, "/v1/exports/{id}/files/{path}", "exports", "read-export-file", "Read a file of an export",
		"One file of a finished export, with ranges and conditional requests. path may contain slashes.")
	text, uuid := huma.TypeString, "uuid"
	op.Parameters = []*huma.Param{
		{Name: "id", In: "path", Required: true, Description: "Its id.", Schema: &huma.Schema{Type: text, Format: uuid}},
		{Name: "path", In: "path", Required: true, Description: "A file's path, as the export lists it.", Schema: &huma.Schema{Type: text}},
		{Name: "Range", In: "header", Description: "bytes=from-to, for a part of the file.", Schema: &huma.Schema{Type: text}},
	}
	binary := map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: text, Format: "binary"}}}
	op.Responses = map[string]*huma.Response{
		"200": {Description: "The file.", Content: binary},
		"206": {Description: "The part of the file.", Content: binary},
		"304": {Description: "The caller's copy of the file is current."},
	}
	op.Errors = []int{http.StatusConflict, http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable}
	describeErrors(s, &op)
	s.describeProblems(&op)
	s.api.OpenAPI().AddOperation(&op)
	s.router.Get("/v1/exports/{id}/files/*", s.readExportFile)
}

func (s *site) readExportFile(w http.ResponseWriter, r *http.Request) {
	e, file, err := s.openExportFile(r)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	name := chi.URLParam(r, "*")
	w.Header().Set("Content-Type", contentType(name))
	for _, f := range e.Files {
		if f.Path == name && f.SHA256 != "" {
			w.Header().Set("ETag", `"`+f.SHA256+`"`)
		}
	}
	http.ServeContent(&fileWriter{ResponseWriter: w, site: s, request: r}, r, "", info.ModTime(), file)
}

func (s *site) openExportFile(r *http.Request) (relabel.Export, relabel.FileReader, error) {
	id, err := relabel.ParseID("path.id", chi.URLParam(r, "id"))
	if err != nil {
		return relabel.Export{}, nil, err
	}
	e, err := s.Store.FindExport(r.Context(), id)
	if err != nil {
		return e, nil, err
	}
	if e.State != relabel.ExportDone {
		return e, nil, relabel.Errorf(relabel.CodeConflict, "the export is %s; its files can be read when it is done", e.State)
	}
	file, err := s.Exports.Open(r.Context(), e, chi.URLParam(r, "*"))
	return e, file, err
}

// contentType names what trainers read; nothing of an export is shown as a page.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".json":
		return "application/json"
	case ".jsonl":
		return "application/x-ndjson"
	case ".md":
		return "text/plain; charset=utf-8"
	case ".parquet":
		return "application/vnd.apache.parquet"
	}
	return "application/octet-stream"
}

// fileWriter turns net/http's plain errors into problems.
type fileWriter struct {
	http.ResponseWriter
	site    *site
	request *http.Request
	refused bool
}

// WriteHeader sends the status, or a problem in the place of a plain error.
func (f *fileWriter) WriteHeader(status int) {
	code := relabel.CodeInternal
	switch {
	case status < http.StatusBadRequest:
		f.ResponseWriter.WriteHeader(status)
		return
	case status == http.StatusRequestedRangeNotSatisfiable:
		code = codeRange
	case status == http.StatusPreconditionFailed:
		code = codeCondition
	}
	f.refused = true
	for _, h := range []string{"Content-Length", "ETag", "Last-Modified", "Content-Encoding"} {
		f.Header().Del(h)
	}
	f.site.refuse(f.ResponseWriter, f.request, relabel.Errorf(code, "the file cannot be served with these request headers").On("header"))
}

// Write sends a piece.
func (f *fileWriter) Write(b []byte) (int, error) {
	if f.refused {
		return len(b), nil // the problem was written
	}
	return f.ResponseWriter.Write(b)
}

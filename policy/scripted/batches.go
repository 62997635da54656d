package scripted

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Batching says how the batch endpoint works: OpenAI's files and batches, kept in memory
// while the server lives. With the zero Batching a batch ends at the first request for it.
type Batching struct {
	Delay time.Duration // from a batch's beginning to its end
	// Fail, where set, says which lines fail: asked counts how often the line was asked for,
	// from 1.
	Fail func(customID string, asked int) bool
	// End, where set, says how batch n (from 1) ends: "" or "completed"; "expired" and
	// "cancelled" with every other line unanswered; "failed" without any file.
	End func(n int) string
	// Lose, where set, says which POST of a batch (from 1) is accepted but never answered.
	Lose func(n int) bool
}

// batchStore keeps files and batches.
type batchStore struct {
	mu    sync.Mutex
	files map[string][]byte
	all   []*batch       // oldest first
	lines map[string]int // how often a line was asked for, by custom id
}

// batch is one batch, with its files once it has ended.
type batch struct {
	ID       string          `json:"id"`
	Object   string          `json:"object"`
	Endpoint string          `json:"endpoint"`
	Input    string          `json:"input_file_id"`
	Status   string          `json:"status"`
	Metadata json.RawMessage `json:"metadata"`
	Output   *string         `json:"output_file_id"`
	Failed   *string         `json:"error_file_id"`
	Errors   any             `json:"errors,omitempty"`
	due      time.Time
	number   int
}

const inProgress = "in_progress"

func (s *Server) addBatches() {
	s.batches = batchStore{files: map[string][]byte{}, lines: map[string]int{}}
	s.mux.HandleFunc("POST /v1/files", s.locked(s.createFile))
	s.mux.HandleFunc("GET /v1/files/{id}/content", s.locked(s.readFile))
	s.mux.HandleFunc("POST /v1/batches", s.locked(s.createBatch))
	s.mux.HandleFunc("GET /v1/batches", s.locked(s.listBatches))
	s.mux.HandleFunc("GET /v1/batches/{id}", s.locked(s.showBatch))
	s.mux.HandleFunc("POST /v1/batches/{id}/cancel", s.locked(s.showBatch))
}

// locked is a handler that holds the store's lock.
func (s *Server) locked(handler http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.batches.mu.Lock()
		defer s.batches.mu.Unlock()
		handler(w, r)
	}
}

// Batches returns how many batches the server was given.
func (s *Server) Batches() int {
	s.batches.mu.Lock()
	defer s.batches.mu.Unlock()
	return len(s.batches.all)
}

func (s *Server) createFile(w http.ResponseWriter, r *http.Request) {
	file, _, err := r.FormFile("file")
	if err != nil || r.FormValue("purpose") != "batch" {
		refuse(w, http.StatusBadRequest, "invalid_request_error", "send a file with the purpose batch")
		return
	}
	content, err := io.ReadAll(file)
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request_error", "the file is incomplete")
		return
	}
	sendJSON(w, map[string]any{"id": s.keep(content), "object": "file", "purpose": "batch", "bytes": len(content)})
}

// keep keeps a file and returns its id.
func (s *Server) keep(content []byte) string {
	id := "file-" + strconv.Itoa(len(s.batches.files)+1)
	s.batches.files[id] = content
	return id
}

func (s *Server) readFile(w http.ResponseWriter, r *http.Request) {
	content, known := s.batches.files[r.PathValue("id")]
	if !known {
		refuse(w, http.StatusNotFound, "not_found", "there is no such file")
		return
	}
	_, _ = w.Write(content) // the caller may have left
}

func (s *Server) createBatch(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Input    string          `json:"input_file_id"`
		Endpoint string          `json:"endpoint"`
		Window   string          `json:"completion_window"`
		Metadata json.RawMessage `json:"metadata"`
	}
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest)).Decode(&ask)
	if _, known := s.batches.files[ask.Input]; err != nil || !known || ask.Endpoint != "/v1/chat/completions" || ask.Window != "24h" {
		refuse(w, http.StatusBadRequest, "invalid_request_error", "a batch has an input_file_id, the endpoint /v1/chat/completions and the window 24h")
		return
	}
	n := len(s.batches.all) + 1
	b := &batch{ID: "batch_" + strconv.Itoa(n), Object: "batch", Endpoint: ask.Endpoint, Input: ask.Input, Status: inProgress,
		Metadata: ask.Metadata, due: time.Now().Add(s.config.Batch.Delay), number: n}
	s.batches.all = append(s.batches.all, b)
	if s.config.Batch.Lose != nil && s.config.Batch.Lose(n) {
		panic(http.ErrAbortHandler)
	}
	sendJSON(w, b)
}

func (s *Server) listBatches(w http.ResponseWriter, r *http.Request) {
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || limit < 1 || limit > 100 {
		limit = 20
	}
	newest := slices.Clone(s.batches.all)
	slices.Reverse(newest)
	if after := r.URL.Query().Get("after"); after != "" {
		newest = newest[slices.IndexFunc(newest, func(b *batch) bool { return b.ID == after })+1:]
	}
	data := append([]*batch{}, newest[:min(limit, len(newest))]...)
	sendJSON(w, map[string]any{"object": "list", "data": data, "has_more": len(newest) > limit})
}

// showBatch ends a batch that is due, or one that is cancelled, and answers it.
func (s *Server) showBatch(w http.ResponseWriter, r *http.Request) {
	i := slices.IndexFunc(s.batches.all, func(b *batch) bool { return b.ID == r.PathValue("id") })
	if i < 0 {
		refuse(w, http.StatusNotFound, "not_found", "there is no such batch")
		return
	}
	b := s.batches.all[i]
	if b.Status == inProgress && !time.Now().Before(b.due) {
		s.finish(b)
	}
	if b.Status == inProgress && r.Method == http.MethodPost {
		b.Status = "cancelled"
	}
	sendJSON(w, b)
}

// finish answers a batch's lines.
func (s *Server) finish(b *batch) {
	b.Status = "completed"
	if s.config.Batch.End != nil {
		if end := s.config.Batch.End(b.number); end != "" {
			b.Status = end
		}
	}
	if b.Status == "failed" {
		b.Errors = map[string]any{"object": "list", "data": []map[string]any{{"code": "invalid_file", "message": "the file is refused"}}}
		return
	}
	var good, bad []byte
	n := 0
	for line := range bytes.Lines(s.batches.files[b.Input]) {
		var in batchLine
		_ = json.Unmarshal(line, &in) // a broken line has no id
		out := in.failed("batch_" + b.Status)
		if b.Status == "completed" || n%2 == 0 {
			out = s.answerLine(in)
		}
		n++
		if out.Response != nil && out.Response.Status == http.StatusOK {
			good = append(append(good, encode(out)...), '\n')
		} else {
			bad = append(append(bad, encode(out)...), '\n')
		}
	}
	if len(good) > 0 {
		id := s.keep(good)
		b.Output = &id
	}
	if len(bad) > 0 {
		id := s.keep(bad)
		b.Failed = &id
	}
}

// batchLine is a line of an input file.
type batchLine struct {
	CustomID string          `json:"custom_id"`
	URL      string          `json:"url"`
	Body     json.RawMessage `json:"body"`
}

// batchAnswer is a line of an output or an error file.
type batchAnswer struct {
	CustomID string         `json:"custom_id"`
	Response *batchResponse `json:"response"`
	Error    any            `json:"error"`
}

type batchResponse struct {
	Status int             `json:"status_code"`
	Body   json.RawMessage `json:"body"`
}

// failed is the answer to a line that was not asked for.
func (in batchLine) failed(code string) batchAnswer {
	return batchAnswer{CustomID: in.CustomID, Error: map[string]any{"code": code, "message": "the line has no answer: " + code}}
}

// answerLine answers a line as the endpoint that it names does.
func (s *Server) answerLine(in batchLine) batchAnswer {
	request, err := http.NewRequest(http.MethodPost, in.URL, nil)
	if err != nil || in.URL != "/v1/chat/completions" {
		return in.failed("batch_invalid")
	}
	s.batches.lines[in.CustomID]++
	if s.config.Batch.Fail != nil && s.config.Batch.Fail(in.CustomID, s.batches.lines[in.CustomID]) {
		body := encode(map[string]any{"error": map[string]any{"message": "the line failed"}})
		return batchAnswer{CustomID: in.CustomID, Response: &batchResponse{http.StatusInternalServerError, body}}
	}
	w := &memoryWriter{status: http.StatusOK, header: http.Header{}}
	s.answer(w, request, in.Body, false)
	return batchAnswer{CustomID: in.CustomID, Response: &batchResponse{w.status, w.body.Bytes()}}
}

// memoryWriter keeps a response.
type memoryWriter struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (m *memoryWriter) Header() http.Header         { return m.header }
func (m *memoryWriter) WriteHeader(status int)      { m.status = status }
func (m *memoryWriter) Write(b []byte) (int, error) { return m.body.Write(b) }

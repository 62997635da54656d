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

// Batching configures the batch endpoint: OpenAI's files and batches, kept in memory. With the zero
// Batching a batch ends at the first request for it.
type Batching struct {
	Delay time.Duration // from a batch's start to its end
	// Fail, if set, tells which lines fail: asked counts the requests for the line, from 1.
	Fail func(customID string, asked int) bool
	// End, if set, tells how batch n (from 1) ends: "" or "completed"; "expired" and "cancelled"
	// with every other line unanswered; "failed" without any file.
	End func(n int) string
	// Lose, if set, tells which POST of a batch (from 1) is accepted but never answered.
	Lose func(n int) bool
}

// batchStore keeps files and batches.
type batchStore struct {
	mu    sync.Mutex
	files map[string][]byte
	all   []*batch       // oldest first
	lines map[string]int // requests for a line, by custom id
}

// batch is one batch, with its files after its end.
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
	for pattern, f := range map[string]func(*http.Request) (int, any){
		"POST /v1/files":               s.createFile,
		"GET /v1/files/{id}/content":   s.readFile,
		"POST /v1/batches":             s.createBatch,
		"GET /v1/batches":              s.listBatches,
		"GET /v1/batches/{id}":         s.showBatch,
		"POST /v1/batches/{id}/cancel": s.showBatch,
	} {
		s.handle(pattern, func(r *http.Request) (int, any) {
			s.batches.mu.Lock()
			defer s.batches.mu.Unlock()
			return f(r)
		})
	}
}

// Batches returns the number of batches that the server received.
func (s *Server) Batches() int {
	s.batches.mu.Lock()
	defer s.batches.mu.Unlock()
	return len(s.batches.all)
}

func (s *Server) createFile(r *http.Request) (int, any) {
	file, _, err := r.FormFile("file")
	if err != nil || r.FormValue("purpose") != "batch" {
		return refuse(http.StatusBadRequest, "invalid_request_error", "send a file with the purpose batch")
	}
	content, err := io.ReadAll(file)
	if err != nil {
		return refuse(http.StatusBadRequest, "invalid_request_error", "the file is incomplete")
	}
	return http.StatusOK, map[string]any{"id": s.batches.keep(content), "object": "file", "purpose": "batch", "bytes": len(content)}
}

// keep keeps a file and returns its id.
func (b *batchStore) keep(content []byte) string {
	id := "file-" + strconv.Itoa(len(b.files)+1)
	b.files[id] = content
	return id
}

func (s *Server) readFile(r *http.Request) (int, any) {
	content, known := s.batches.files[r.PathValue("id")]
	if !known {
		return refuse(http.StatusNotFound, "not_found", "the file does not exist")
	}
	return http.StatusOK, content
}

func (s *Server) createBatch(r *http.Request) (int, any) {
	var ask struct {
		Input    string          `json:"input_file_id"`
		Endpoint string          `json:"endpoint"`
		Window   string          `json:"completion_window"`
		Metadata json.RawMessage `json:"metadata"`
	}
	err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxRequest)).Decode(&ask)
	if _, known := s.batches.files[ask.Input]; err != nil || !known || ask.Endpoint != "/v1/chat/completions" || ask.Window != "24h" {
		return refuse(http.StatusBadRequest, "invalid_request_error", "a batch has an input_file_id, the endpoint /v1/chat/completions and the window 24h")
	}
	n := len(s.batches.all) + 1
	b := &batch{ID: "batch_" + strconv.Itoa(n), Object: "batch", Endpoint: ask.Endpoint, Input: ask.Input, Status: inProgress,
		Metadata: ask.Metadata, due: time.Now().Add(s.config.Batch.Delay), number: n}
	s.batches.all = append(s.batches.all, b)
	if s.config.Batch.Lose != nil && s.config.Batch.Lose(n) {
		panic(http.ErrAbortHandler)
	}
	return http.StatusOK, b
}

func (s *Server) listBatches(r *http.Request) (int, any) {
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || limit < 1 || limit > 100 {
		limit = 20
	}
	newest := append([]*batch{}, s.batches.all...)
	slices.Reverse(newest)
	if after := r.URL.Query().Get("after"); after != "" {
		newest = newest[slices.IndexFunc(newest, func(b *batch) bool { return b.ID == after })+1:]
	}
	return http.StatusOK, map[string]any{"object": "list", "data": newest[:min(limit, len(newest))], "has_more": len(newest) > limit}
}

// showBatch ends a batch that is due, or cancelled by a POST, and returns it.
func (s *Server) showBatch(r *http.Request) (int, any) {
	i := slices.IndexFunc(s.batches.all, func(b *batch) bool { return b.ID == r.PathValue("id") })
	if i < 0 {
		return refuse(http.StatusNotFound, "not_found", "the batch does not exist")
	}
	b := s.batches.all[i]
	if b.Status == inProgress && !time.Now().Before(b.due) {
		s.finish(b)
	}
	if b.Status == inProgress && r.Method == http.MethodPost {
		b.Status = "cancelled"
	}
	return http.StatusOK, b
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
		ok, out := s.answerLine(line, b.Status, b.Status != "completed" && n%2 == 1)
		n++
		if out = append(out, '\n'); ok {
			good = append(good, out...)
		} else {
			bad = append(bad, out...)
		}
	}
	if len(good) > 0 {
		b.Output = new(s.batches.keep(good))
	}
	if len(bad) > 0 {
		b.Failed = new(s.batches.keep(bad))
	}
}

// answerLine answers a line of an input file, unless it is dropped.
func (s *Server) answerLine(line []byte, end string, drop bool) (ok bool, out []byte) {
	var in struct {
		CustomID string          `json:"custom_id"`
		URL      string          `json:"url"`
		Body     json.RawMessage `json:"body"`
	}
	_ = json.Unmarshal(line, &in) // a broken line has no id
	if drop || in.URL != "/v1/chat/completions" {
		code := "batch_" + end
		return false, encode(map[string]any{"custom_id": in.CustomID, "response": nil, "error": map[string]any{"code": code, "message": "the line has no answer: " + code}})
	}
	s.batches.lines[in.CustomID]++
	status, body := refuse(http.StatusInternalServerError, "server_error", "the line failed")
	if s.config.Batch.Fail == nil || !s.config.Batch.Fail(in.CustomID, s.batches.lines[in.CustomID]) {
		_, status, body = s.answer(in.Body)
	}
	return status == http.StatusOK, encode(map[string]any{"custom_id": in.CustomID, "error": nil, "response": map[string]any{"status_code": status, "body": body}})
}

package scripted

import (
	"bytes"
	"cmp"
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
	Input    string          `json:"input_file_id"`
	Status   string          `json:"status"`
	Metadata json.RawMessage `json:"metadata"`
	Output   string          `json:"output_file_id,omitempty"`
	Failed   string          `json:"error_file_id,omitempty"`
	Errors   any             `json:"errors,omitempty"`
	due      time.Time
}

const inProgress = "in_progress"

func (s *Server) addBatches() {
	s.batches = batchStore{files: map[string][]byte{}, lines: map[string]int{}}
	for pattern, f := range map[string]func(*http.Request) response{
		"POST /v1/files":               s.createFile,
		"GET /v1/files/{id}/content":   s.readFile,
		"POST /v1/batches":             s.createBatch,
		"GET /v1/batches":              s.listBatches,
		"GET /v1/batches/{id}":         s.showBatch,
		"POST /v1/batches/{id}/cancel": s.showBatch,
	} {
		s.handle(pattern, func(r *http.Request) response {
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

func (s *Server) createFile(r *http.Request) response {
	file, _, err := r.FormFile("file")
	if err != nil || r.FormValue("purpose") != "batch" {
		return invalid("send a file with the purpose batch")
	}
	content, err := io.ReadAll(file)
	if err != nil {
		return invalid("the file is incomplete")
	}
	return response{http.StatusOK, map[string]any{"id": s.batches.keep(content)}}
}

// keep keeps a file and returns its id; "" for an empty one.
func (b *batchStore) keep(content []byte) string {
	if len(content) == 0 {
		return ""
	}
	id := "file-" + strconv.Itoa(len(b.files)+1)
	b.files[id] = content
	return id
}

func (s *Server) readFile(r *http.Request) response {
	if content, known := s.batches.files[r.PathValue("id")]; known {
		return response{http.StatusOK, content}
	}
	return refuse(http.StatusNotFound, "not_found", "the file does not exist")
}

func (s *Server) createBatch(r *http.Request) response {
	var ask struct {
		batch
		Endpoint string `json:"endpoint"`
		Window   string `json:"completion_window"`
	}
	err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxRequest)).Decode(&ask)
	if _, known := s.batches.files[ask.Input]; err != nil || !known || ask.Endpoint != "/v1/chat/completions" || ask.Window != "24h" {
		return invalid("a batch has an input_file_id, the endpoint /v1/chat/completions and the window 24h")
	}
	b := &batch{ID: "batch_" + strconv.Itoa(len(s.batches.all)+1), Input: ask.Input, Status: inProgress,
		Metadata: ask.Metadata, due: time.Now().Add(s.config.Batch.Delay)}
	s.batches.all = append(s.batches.all, b)
	return response{http.StatusOK, b}
}

// listBatches lists the newest batches. It has no pages.
func (s *Server) listBatches(*http.Request) response {
	newest := append([]*batch{}, s.batches.all...)
	slices.Reverse(newest)
	return response{http.StatusOK, map[string]any{"object": "list", "data": newest}}
}

// showBatch ends a batch that is due, or cancelled by a POST, and returns it.
func (s *Server) showBatch(r *http.Request) response {
	i := slices.IndexFunc(s.batches.all, func(b *batch) bool { return b.ID == r.PathValue("id") })
	if i < 0 {
		return refuse(http.StatusNotFound, "not_found", "the batch does not exist")
	}
	b := s.batches.all[i]
	switch {
	case b.Status != inProgress:
	case !time.Now().Before(b.due):
		s.finish(b, i+1)
	case r.Method == http.MethodPost:
		b.Status = "cancelled"
	}
	return response{http.StatusOK, b}
}

// finish answers the lines of batch n.
func (s *Server) finish(b *batch, n int) {
	b.Status = "completed"
	if s.config.Batch.End != nil {
		b.Status = cmp.Or(s.config.Batch.End(n), b.Status)
	}
	if b.Status == "failed" {
		b.Errors = map[string]any{"data": []any{map[string]any{"code": "invalid_file", "message": "the file is refused"}}}
		return
	}
	files := map[bool][]byte{}
	drop := false
	for line := range bytes.Lines(s.batches.files[b.Input]) {
		ok, out := s.answerLine(line, b.Status, drop)
		files[ok] = append(append(files[ok], out...), '\n')
		drop = b.Status != "completed" && !drop
	}
	b.Output, b.Failed = s.batches.keep(files[true]), s.batches.keep(files[false])
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
		return false, encode(map[string]any{"custom_id": in.CustomID, "error": map[string]any{"code": code, "message": "the line has no answer: " + code}})
	}
	s.batches.lines[in.CustomID]++
	r := refuse(http.StatusInternalServerError, "server_error", "the line failed")
	if s.config.Batch.Fail == nil || !s.config.Batch.Fail(in.CustomID, s.batches.lines[in.CustomID]) {
		_, r = s.answer(in.Body)
	}
	return r.status == http.StatusOK, encode(map[string]any{"custom_id": in.CustomID, "response": map[string]any{"status_code": r.status, "body": r.body}})
}

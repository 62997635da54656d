package scripted

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Batching says how the batch endpoint works: OpenAI's files and batches, kept in memory
// as long as the server lives. The zero Batching ends each batch as soon as it is asked
// about.
type Batching struct {
	Delay time.Duration // from a batch's beginning to its end
	// Fail, where set, says which lines fail: asked counts how often the line was asked for,
	// from 1.
	Fail func(customID string, asked int) bool
	// End, where set, says how batch n (from 1) ends: "" or "completed"; "expired" and
	// "cancelled" with every other line unanswered; "failed" without any file.
	End func(n int) string
	// Lose, where set, says which POST of a batch (from 1) is taken but never answered.
	Lose func(n int) bool
}

// maxBatchFile is the largest file that is taken, in bytes.
const maxBatchFile = 256 << 20

// office keeps files and batches.
type office struct {
	mu      sync.Mutex
	files   map[string][]byte
	batches []*batch // in the order they came
	posts   int
	lines   map[string]int // how often a line was asked for, by custom id
}

// batch is one batch, with its files once it is over.
type batch struct {
	id, input, status, output, failed string
	metadata                          json.RawMessage
	over                              time.Time
	done                              bool
	number                            int
}

func (s *Server) addBatches() {
	s.office = office{files: map[string][]byte{}, lines: map[string]int{}}
	s.mux.HandleFunc("POST /v1/files", s.takeFile)
	s.mux.HandleFunc("GET /v1/files/{id}/content", s.giveFile)
	s.mux.HandleFunc("POST /v1/batches", s.makeBatch)
	s.mux.HandleFunc("GET /v1/batches", s.listBatches)
	s.mux.HandleFunc("GET /v1/batches/{id}", s.showBatch)
	s.mux.HandleFunc("POST /v1/batches/{id}/cancel", s.cancelBatch)
}

// Batches returns how many batches the server was given.
func (s *Server) Batches() int {
	s.office.mu.Lock()
	defer s.office.mu.Unlock()
	return len(s.office.batches)
}

func (s *Server) takeFile(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBatchFile)
	file, _, err := r.FormFile("file")
	if err != nil || r.FormValue("purpose") != "batch" {
		refuse(w, http.StatusBadRequest, "invalid_request_error", "a file and the purpose batch are wanted")
		return
	}
	content, err := io.ReadAll(file)
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request_error", "the file breaks off")
		return
	}
	s.office.mu.Lock()
	defer s.office.mu.Unlock()
	id := s.office.keep(content)
	sendJSON(w, map[string]any{"id": id, "object": "file", "purpose": "batch", "bytes": len(content)})
}

// keep keeps a file and returns its id. o.mu is held.
func (o *office) keep(content []byte) string {
	id := "file-" + strconv.Itoa(len(o.files)+1)
	o.files[id] = content
	return id
}

func (s *Server) giveFile(w http.ResponseWriter, r *http.Request) {
	s.office.mu.Lock()
	content, known := s.office.files[r.PathValue("id")]
	s.office.mu.Unlock()
	if !known {
		refuse(w, http.StatusNotFound, "not_found", "there is no such file")
		return
	}
	_, _ = w.Write(content) // whoever asked may have gone
}

func (s *Server) makeBatch(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Input    string          `json:"input_file_id"`
		Endpoint string          `json:"endpoint"`
		Window   string          `json:"completion_window"`
		Metadata json.RawMessage `json:"metadata"`
	}
	if json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest)).Decode(&ask) != nil || ask.Endpoint != "/v1/chat/completions" || ask.Window != "24h" {
		refuse(w, http.StatusBadRequest, "invalid_request_error", "a batch has an input_file_id, the endpoint /v1/chat/completions and the window 24h")
		return
	}
	s.office.mu.Lock()
	if _, known := s.office.files[ask.Input]; !known {
		s.office.mu.Unlock()
		refuse(w, http.StatusBadRequest, "invalid_request_error", "there is no such file")
		return
	}
	o := &s.office
	o.posts++
	lost := s.config.Batch.Lose != nil && s.config.Batch.Lose(o.posts)
	n := len(o.batches) + 1
	b := &batch{id: "batch_" + strconv.Itoa(n), number: n, input: ask.Input, status: "in_progress", metadata: ask.Metadata, over: time.Now().Add(s.config.Batch.Delay)}
	o.batches = append(o.batches, b)
	view := b.view()
	s.office.mu.Unlock()
	if lost {
		panic(http.ErrAbortHandler)
	}
	sendJSON(w, view)
}

// view is a batch as it goes over the line.
func (b *batch) view() map[string]any {
	v := map[string]any{"id": b.id, "object": "batch", "endpoint": "/v1/chat/completions", "input_file_id": b.input,
		"status": b.status, "metadata": b.metadata, "output_file_id": nil, "error_file_id": nil}
	if b.output != "" {
		v["output_file_id"] = b.output
	}
	if b.failed != "" {
		v["error_file_id"] = b.failed
	}
	if b.status == "failed" {
		v["errors"] = map[string]any{"object": "list", "data": []map[string]any{{"code": "invalid_file", "message": "the file is refused"}}}
	}
	return v
}

func (s *Server) listBatches(w http.ResponseWriter, r *http.Request) {
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || limit < 1 || limit > 100 {
		limit = 20
	}
	s.office.mu.Lock()
	defer s.office.mu.Unlock()
	newest := slices.Clone(s.office.batches)
	slices.Reverse(newest)
	if after := r.URL.Query().Get("after"); after != "" {
		newest = newest[slices.IndexFunc(newest, func(b *batch) bool { return b.id == after })+1:]
	}
	more := len(newest) > limit
	data := []map[string]any{}
	for _, b := range newest[:min(limit, len(newest))] {
		data = append(data, b.view())
	}
	sendJSON(w, map[string]any{"object": "list", "data": data, "has_more": more})
}

// find returns a batch, done with if its time is over; nil where there is none.
func (s *Server) find(id string) *batch {
	i := slices.IndexFunc(s.office.batches, func(b *batch) bool { return b.id == id })
	if i < 0 {
		return nil
	}
	b := s.office.batches[i]
	if !b.done && !time.Now().Before(b.over) {
		s.finish(b)
	}
	return b
}

func (s *Server) showBatch(w http.ResponseWriter, r *http.Request) {
	s.office.mu.Lock()
	defer s.office.mu.Unlock()
	b := s.find(r.PathValue("id"))
	if b == nil {
		refuse(w, http.StatusNotFound, "not_found", "there is no such batch")
		return
	}
	sendJSON(w, b.view())
}

func (s *Server) cancelBatch(w http.ResponseWriter, r *http.Request) {
	s.office.mu.Lock()
	defer s.office.mu.Unlock()
	b := s.find(r.PathValue("id"))
	if b == nil {
		refuse(w, http.StatusNotFound, "not_found", "there is no such batch")
		return
	}
	if !b.done {
		b.done, b.status = true, "cancelled"
	}
	sendJSON(w, b.view())
}

// finish answers a batch's lines. The office's lock is held.
func (s *Server) finish(b *batch) {
	b.done, b.status = true, "completed"
	if s.config.Batch.End != nil {
		if end := s.config.Batch.End(b.number); end != "" {
			b.status = end
		}
	}
	if b.status == "failed" {
		return
	}
	var good, bad bytes.Buffer
	lines := bufio.NewScanner(bytes.NewReader(s.office.files[b.input]))
	lines.Buffer(nil, maxRequest)
	for n := 0; lines.Scan(); n++ {
		if b.status != "completed" && n%2 == 1 {
			fmt.Fprintf(&bad, "%s\n", unanswered(lines.Bytes(), b.status))
			continue
		}
		line, failed := s.answerLine(lines.Bytes())
		out := &good
		if failed {
			out = &bad
		}
		fmt.Fprintf(out, "%s\n", line)
	}
	if good.Len() > 0 {
		b.output = s.office.keep(good.Bytes())
	}
	if bad.Len() > 0 {
		b.failed = s.office.keep(bad.Bytes())
	}
}

// batchLine is a line of an input file.
type batchLine struct {
	CustomID string          `json:"custom_id"`
	URL      string          `json:"url"`
	Body     json.RawMessage `json:"body"`
}

// unanswered is the line of an error file for a request that its batch did not come to.
func unanswered(line []byte, status string) []byte {
	var in batchLine
	_ = json.Unmarshal(line, &in) // a line that is none has no id
	return encode(map[string]any{"custom_id": in.CustomID, "response": nil,
		"error": map[string]any{"code": "batch_" + status, "message": "the batch is " + status}})
}

// answerLine answers one line as the endpoint that it names would.
func (s *Server) answerLine(line []byte) (answer []byte, failed bool) {
	var in batchLine
	if json.Unmarshal(line, &in) != nil || in.URL != "/v1/chat/completions" {
		return unanswered(line, "invalid"), true
	}
	s.office.lines[in.CustomID]++
	if s.config.Batch.Fail != nil && s.config.Batch.Fail(in.CustomID, s.office.lines[in.CustomID]) {
		return encode(map[string]any{"custom_id": in.CustomID, "error": nil,
			"response": map[string]any{"status_code": 500, "body": map[string]any{"error": map[string]any{"message": "the line failed"}}}}), true
	}
	kept := &kept{status: http.StatusOK, header: http.Header{}}
	request, err := http.NewRequest(http.MethodPost, in.URL, nil)
	if err != nil {
		return unanswered(line, "invalid"), true
	}
	s.answer(kept, request, in.Body, func(*http.Request, string) bool { return true })
	return encode(map[string]any{"custom_id": in.CustomID, "error": nil,
		"response": map[string]any{"status_code": kept.status, "body": json.RawMessage(kept.body.Bytes())}}), kept.status != http.StatusOK
}

// kept is an answer that goes into a file.
type kept struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (k *kept) Header() http.Header         { return k.header }
func (k *kept) WriteHeader(status int)      { k.status = status }
func (k *kept) Write(b []byte) (int, error) { return k.body.Write(b) }

func sendJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(encode(v)) // whoever asked may have gone
}

// encode is v as JSON; what is encoded here always can be. Messages keep the bytes that
// a live answer has.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

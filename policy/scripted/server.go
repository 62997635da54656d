// Package scripted serves two models that need no GPU, over the chat-completions
// protocol, for demos and tests. They are scripts: a teacher that knows the gold patch
// of each task in its Book, and students that do what the teacher would with a set
// probability, their skill, and make a mistake otherwise. Beyond the book they know nothing
// but the request, as a real model does, and the same request gets the same bytes.
//
// The models are "scripted-teacher" and "scripted-student-S" with a skill S in 0 to 1,
// so that a better checkpoint is another model name.
package scripted

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"relabel"
	"relabel/chat"
)

// The names of the models. A student's is the prefix followed by its skill.
const (
	TeacherModel  = "scripted-teacher"
	StudentPrefix = "scripted-student-"
)

const maxRequest = 64 << 20 // bytes

// Config says what a Server serves.
type Config struct {
	Book  *Book
	Token string // bearer token that requests must carry; "" asks for none
	// Unparsed leaves calls in the content, as Hermes and Qwen write them, as a server
	// without a tool parser does.
	Unparsed bool
	IDs      IDs // how the server returns token ids

	ContextTokens int           // limit of prompt and answer; 0 is none
	TeacherDelay  time.Duration // how long an answer takes
	StudentDelay  time.Duration
	// Fault, where set, says what goes wrong with request n (from 1) to a model.
	Fault func(model string, n int) Fault
	Batch Batching
}

// Server answers chat completions. It is safe for concurrent use.
type Server struct {
	config  Config
	mux     *http.ServeMux
	mu      sync.Mutex
	asked   map[string]int // requests by model
	batches batchStore
}

// NewServer makes a server; its paths start with /v1.
func NewServer(c Config) *Server {
	if c.Book == nil {
		c.Book = NewBook(nil)
	}
	s := &Server{config: c, mux: http.NewServeMux(), asked: map[string]int{}}
	s.mux.HandleFunc("POST /v1/chat/completions", s.complete)
	s.mux.HandleFunc("GET /v1/models", s.models)
	s.addBatches()
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.config.Token != "" && r.Header.Get("Authorization") != "Bearer "+s.config.Token {
		refuse(w, http.StatusUnauthorized, "invalid_api_key", "the bearer token is wrong or missing")
		return
	}
	s.mux.ServeHTTP(w, r)
}

// Asked returns how many completions a model was asked for.
func (s *Server) Asked(model string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[model]
}

// request is the part of a chat-completions request that the models read.
type request struct {
	Model       string            `json:"model"`
	Messages    []json.RawMessage `json:"messages"`
	Tools       json.RawMessage   `json:"tools"`
	Temperature *float64          `json:"temperature"`
	MaxTokens   int               `json:"max_tokens"`
	MaxAnswer   int               `json:"max_completion_tokens"`
	Seed        *int64            `json:"seed"`
	Logprobs    bool              `json:"logprobs"`
	ReturnIDs   bool              `json:"return_token_ids"`
	Stream      bool              `json:"stream"`
	N           *int              `json:"n"`

	state   []relabel.Message
	skill   float64
	inText  bool // the system prompt has the tools, and the text has the calls
	offered []relabel.Tool
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request_error", "the request cannot be read")
		return
	}
	s.answer(w, r, body, true)
}

// answer answers a chat-completions request; delayed after the model's delay.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, body []byte, delayed bool) {
	q, problem := readRequest(body)
	if problem != "" {
		refuse(w, http.StatusBadRequest, "invalid_request_error", problem)
		return
	}
	if !q.knowsModel() {
		refuse(w, http.StatusNotFound, "model_not_found", "the model "+strconv.Quote(q.Model)+" does not exist")
		return
	}
	s.mu.Lock()
	s.asked[q.Model]++
	n := s.asked[q.Model]
	s.mu.Unlock()
	var fault Fault
	if s.config.Fault != nil {
		fault = s.config.Fault(q.Model, n)
	}
	if delayed && !s.wait(r, q.Model) || fault.strike(w, r) {
		return
	}
	chosen, d := s.act(q)
	a := newAnswer(q, chosen, d, s.config)
	limit := max(q.MaxTokens, q.MaxAnswer) // 0: none
	if context := s.config.ContextTokens; context > 0 && len(a.prompt)+max(limit, 1) > context {
		refuse(w, http.StatusBadRequest, "context_length_exceeded", fmt.Sprintf(
			"This model's maximum context length is %d tokens. However, your request has %d input tokens.", context, len(a.prompt)))
		return
	}
	if fault.CutTokens > 0 {
		limit = fault.CutTokens
	}
	a.cut(limit)
	sendJSON(w, a.completion())
}

// wait waits for the model's delay, and reports false when the caller left.
func (s *Server) wait(r *http.Request, model string) bool {
	delay := s.config.StudentDelay
	if model == TeacherModel {
		delay = s.config.TeacherDelay
	}
	if delay <= 0 {
		return true
	}
	select {
	case <-r.Context().Done():
		return false
	case <-time.After(delay):
		return true
	}
}

// readRequest reads a request, or says what is wrong with it.
func readRequest(body []byte) (q request, problem string) {
	if err := json.Unmarshal(body, &q); err != nil {
		return q, "the body is not a chat-completions request"
	}
	switch {
	case len(q.Messages) == 0:
		return q, "messages is missing or empty"
	case q.Stream:
		return q, "stream is not supported"
	case q.N != nil && *q.N != 1:
		return q, "n must be 1"
	case q.MaxTokens < 0 || q.MaxAnswer < 0:
		return q, "max_tokens must not be negative"
	}
	for i, raw := range q.Messages {
		m, err := chat.DecodeMessage(raw)
		if err != nil {
			return q, "messages[" + strconv.Itoa(i) + "] is not a message"
		}
		q.state = append(q.state, m)
	}
	q.readText()
	return q, ""
}

// knowsModel sets the skill that the model's name says.
func (q *request) knowsModel() bool {
	if q.Model == TeacherModel {
		return true
	}
	skill, ok := strings.CutPrefix(q.Model, StudentPrefix)
	n, err := strconv.ParseFloat(skill, 64)
	q.skill = n
	return ok && err == nil && n >= 0 && n <= 1
}

// act lets the model choose its action.
func (s *Server) act(q request) (action, *dice) {
	seed := q.Seed
	if q.Temperature != nil && *q.Temperature == 0 {
		seed = nil
	}
	d := newDice(q.Model, seed, q.stateBytes())
	h := readHistory(q.state)
	e := s.config.Book.find(h.opening)
	switch {
	case e == nil:
		return unprepared(q, h), d
	case q.Model == TeacherModel:
		return teach(e, h, d), d
	}
	return stumble(e, h, d, q.skill), d
}

// stateBytes are the messages as they came.
func (q *request) stateBytes() []byte {
	var b []byte
	for _, m := range q.Messages {
		b = append(append(b, m...), '\n')
	}
	return b
}

// unprepared answers where the book holds no such task: it tries the first tool on
// offer once, and then says that it does not know what to do.
func unprepared(q request, h history) action {
	var tools []struct {
		Function struct {
			Name       string `json:"name"`
			Parameters struct {
				Required []string `json:"required"`
			} `json:"parameters"`
		} `json:"function"`
	}
	if h.actions > 0 || json.Unmarshal(q.Tools, &tools) != nil || len(tools) == 0 {
		return action{thought: "My book has no such task, and I am a script: I know nothing else."}
	}
	f := tools[0].Function
	var pairs []string
	for _, name := range f.Parameters.Required {
		pairs = append(pairs, name, "ls")
	}
	return action{thought: "My book has no such task. I try the first tool.", calls: []call{{f.Name, object(pairs...)}}}
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	var list []map[string]any
	for _, name := range []string{TeacherModel, StudentPrefix + "0", StudentPrefix + "0.5", StudentPrefix + "1"} {
		model := map[string]any{"id": name, "object": "model", "created": 0, "owned_by": "relabel"}
		if n := s.config.ContextTokens; n > 0 {
			model["max_model_len"] = n
		}
		list = append(list, model)
	}
	sendJSON(w, map[string]any{"object": "list", "data": list})
}

// refuse answers with an error as OpenAI's servers word it.
func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encode(map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error", "param": nil, "code": code}}))
}

func sendJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(encode(v)) // the caller may have left
}

// encode returns v as JSON. Messages keep their bytes.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

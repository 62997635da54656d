// Package scripted serves two models that need no GPU, over the chat-completions
// protocol, for demos and tests. They are scripts: a teacher that knows the gold patch
// of each task in its Book, and students that do what the teacher would with a set
// probability, their skill, and blunder otherwise. Beyond the book they know nothing
// but the request, as a real model does, and the same request gets the same bytes.
//
// The models are "scripted-teacher" and "scripted-student-S" with a skill S in 0 to 1,
// so that a better checkpoint is another model name.
package scripted

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"relabel"
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
	IDs      IDs // how token ids are given to those who ask

	// ContextTokens bounds prompt and answer as a real model's context does; 0 does not.
	ContextTokens int
	TeacherDelay  time.Duration // how long an answer takes
	StudentDelay  time.Duration
	// Fault, where set, says what goes wrong with request n (from 1) to a model.
	Fault func(model string, n int) Fault
	Batch Batching
}

// Server answers chat completions. It is safe for concurrent use.
type Server struct {
	config Config
	mux    *http.ServeMux
	mu     sync.Mutex
	asked  map[string]int // requests by model
	office office
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

// question is a chat-completions request as far as it matters here.
type question struct {
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
	inText  bool // its tools stand in the system prompt, and calls in the text
	offered []relabel.Tool
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request_error", "the request cannot be read")
		return
	}
	s.answer(w, r, body, s.think)
}

// answer answers a chat-completions request, when think has taken its time.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, body []byte, think func(*http.Request, string) bool) {
	q, problem := readQuestion(body)
	if problem != "" {
		refuse(w, http.StatusBadRequest, "invalid_request_error", problem)
		return
	}
	if !q.knowsModel() {
		refuse(w, http.StatusNotFound, "model_not_found", "the model "+strconv.Quote(q.Model)+" does not exist")
		return
	}
	var fault Fault
	n := s.count(q.Model)
	if s.config.Fault != nil {
		fault = s.config.Fault(q.Model, n)
	}
	if !think(r, q.Model) || fault.strike(w, r) {
		return
	}
	chosen, d := s.act(q)
	a := newAnswer(q, chosen, d, s.config)
	if limit := s.config.ContextTokens; limit > 0 && len(a.prompt)+max(q.limit(), 1) > limit {
		refuse(w, http.StatusBadRequest, "context_length_exceeded", "This model's maximum context length is "+
			strconv.Itoa(limit)+" tokens. However, your request has "+strconv.Itoa(len(a.prompt))+" input tokens.")
		return
	}
	limit := q.limit()
	if fault.CutTokens > 0 {
		limit = fault.CutTokens
	}
	a.cut(limit)
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(a.append(nil)) // whoever asked may have gone
}

func (s *Server) count(model string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[model]++
	return s.asked[model]
}

// think takes the time that an answer takes, and reports false when the caller left.
func (s *Server) think(r *http.Request, model string) bool {
	delay := s.config.StudentDelay
	if model == TeacherModel {
		delay = s.config.TeacherDelay
	}
	if delay <= 0 {
		return true
	}
	t := time.NewTimer(delay)
	defer t.Stop()
	select {
	case <-r.Context().Done():
		return false
	case <-t.C:
		return true
	}
}

// readQuestion reads a request, or says what is wrong with it.
func readQuestion(body []byte) (q question, problem string) {
	if err := json.Unmarshal(body, &q); err != nil {
		return q, "the body is no chat-completions request"
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
		m, err := relabel.DecodeMessage(raw)
		if err != nil {
			return q, "messages[" + strconv.Itoa(i) + "] is no message"
		}
		q.state = append(q.state, m)
	}
	q.readText()
	return q, ""
}

// knowsModel sets the skill that the model's name says.
func (q *question) knowsModel() bool {
	if q.Model == TeacherModel {
		return true
	}
	skill, ok := strings.CutPrefix(q.Model, StudentPrefix)
	n, err := strconv.ParseFloat(skill, 64)
	q.skill = n
	return ok && err == nil && n >= 0 && n <= 1
}

// limit is how many tokens the answer may have; 0 is no limit.
func (q *question) limit() int { return max(q.MaxTokens, q.MaxAnswer) }

// act lets the model choose its action.
func (s *Server) act(q question) (action, *dice) {
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
func (q *question) stateBytes() []byte {
	var b []byte
	for _, m := range q.Messages {
		b = append(append(b, m...), '\n')
	}
	return b
}

// unprepared answers where the book holds no such task: it tries the first tool on
// offer once, and then says that it does not know what to do.
func unprepared(q question, h history) action {
	var tools []struct {
		Function struct {
			Name       string `json:"name"`
			Parameters struct {
				Required []string `json:"required"`
			} `json:"parameters"`
		} `json:"function"`
	}
	if h.actions > 0 || json.Unmarshal(q.Tools, &tools) != nil || len(tools) == 0 {
		return action{thought: "This is no task from my book, and I am a script: I know nothing else."}
	}
	f := tools[0].Function
	var pairs []string
	for _, name := range f.Parameters.Required {
		pairs = append(pairs, name, "ls")
	}
	return action{thought: "This is no task from my book. I try the first tool.", calls: []call{{f.Name, object(pairs...)}}}
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	names := []string{TeacherModel}
	for _, skill := range []string{"0", "0.3", "0.5", "0.7", "0.9", "1"} {
		names = append(names, StudentPrefix+skill)
	}
	b := []byte(`{"object":"list","data":[`)
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(relabel.AppendString(append(b, `{"id":`...), name), `,"object":"model","created":0,"owned_by":"relabel"`...)
		if n := s.config.ContextTokens; n > 0 {
			b = strconv.AppendInt(append(b, `,"max_model_len":`...), int64(n), 10)
		}
		b = append(b, '}')
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(b, "]}"...))
}

// refuse answers with an error as OpenAI's servers word it.
func refuse(w http.ResponseWriter, status int, code, message string) {
	b := relabel.AppendString([]byte(`{"error":{"message":`), message)
	b = relabel.AppendString(append(b, `,"type":"invalid_request_error","param":null,"code":`...), code)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(b, "}}"...))
}

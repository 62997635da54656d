// Package scripted serves two models that need no GPU, over the chat-completions protocol, for
// demos and tests. They are scripts: a teacher that knows the gold patch of each task in its Book,
// and students that do what the teacher would with a set probability, their skill, and make a
// mistake otherwise. Apart from the book they know only the request, as a real model does, and the
// same request gets the same bytes. In a search of a repository they use no book: the teacher finds
// functions by the words and the tools' answers alone.
//
// The models are "scripted-teacher" and "scripted-student-S" with a skill S from 0 to 1, so a better
// checkpoint is another model name.
package scripted

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
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

// Config configures a Server.
type Config struct {
	Book Book
	// Solvers know the solutions of tasks in a terminal; see NewSolvers.
	Solvers []*solver
	// Unparsed leaves calls in the content, as Hermes and Qwen write them and as servers without
	// a tool parser do.
	Unparsed bool
	IDs      IDs // how the server returns token ids

	ContextTokens int           // limit of prompt and answer; 0 is unlimited
	TeacherDelay  time.Duration // how long an answer takes
	StudentDelay  time.Duration
	Batch         Batching
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
	s := &Server{config: c, mux: http.NewServeMux(), asked: map[string]int{}}
	s.handle("POST /v1/chat/completions", s.complete)
	s.handle("GET /v1/models", s.models)
	s.addBatches()
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Asked returns how many completions a model was asked for.
func (s *Server) Asked(model string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[model]
}

// response is the status and the body of an answer, which is sent as JSON unless it is bytes.
type response struct {
	status int
	body   any
}

// handle answers requests with f.
func (s *Server) handle(pattern string, f func(*http.Request) response) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		answer := f(r)
		body, ok := answer.body.([]byte)
		if !ok {
			body = encode(answer.body)
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(answer.status)
		_, _ = w.Write(body) // the caller may have left
	})
}

// refuse is an error as OpenAI's servers word it.
func refuse(status int, code, message string) response {
	return response{status, map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error", "code": code}}}
}

func invalid(message string) response {
	return refuse(http.StatusBadRequest, "invalid_request_error", message)
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

func (s *Server) complete(r *http.Request) response {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxRequest))
	if err != nil {
		return invalid("the request cannot be read")
	}
	model, answer := s.answer(body)
	delay := s.config.StudentDelay
	if model == TeacherModel {
		delay = s.config.TeacherDelay
	}
	select {
	case <-r.Context().Done():
	case <-time.After(delay):
	}
	return answer
}

// answer answers the body of a chat-completions request.
func (s *Server) answer(body []byte) (model string, r response) {
	q, problem := readRequest(body)
	if problem != "" {
		return q.Model, invalid(problem)
	}
	skill, known := skillOf(q.Model)
	if !known {
		return q.Model, refuse(http.StatusNotFound, "model_not_found", "the model "+strconv.Quote(q.Model)+" does not exist")
	}
	s.mu.Lock()
	s.asked[q.Model]++
	s.mu.Unlock()
	chosen, d := s.act(q, skill)
	a := newAnswer(q, chosen, d, s.config)
	if context := s.config.ContextTokens; context > 0 && len(a.prompt)+max(q.MaxTokens, 1) > context {
		return q.Model, refuse(http.StatusBadRequest, "context_length_exceeded", fmt.Sprintf(
			"This model's maximum context length is %d tokens. However, your request has %d input tokens.", context, len(a.prompt)))
	}
	a.cut(q.MaxTokens)
	return q.Model, response{http.StatusOK, a.completion()}
}

// skillOf returns the skill of a model; the teacher's is 1.
func skillOf(model string) (skill float64, known bool) {
	if model == TeacherModel {
		return 1, true
	}
	name, ok := strings.CutPrefix(model, StudentPrefix)
	skill, err := strconv.ParseFloat(name, 64)
	return skill, ok && err == nil && skill >= 0 && skill <= 1
}

// act chooses the model's action.
func (s *Server) act(q request, skill float64) (action, *dice) {
	seed := q.Seed
	if q.Temperature != nil && *q.Temperature == 0 {
		seed = nil
	}
	d := newDice(q.Model, seed, q.stateBytes())
	right := q.Model == TeacherModel || d.chance(skill)
	if q.searches() {
		f := readSearch(q.state)
		if right {
			return f.search(d), d
		}
		return f.lose(d), d
	}
	h := readHistory(q.state)
	if solver := s.config.solver(h.opening); solver != nil {
		if right {
			return solver.solve(h, d), d
		}
		return solver.stray(h, d), d
	}
	e := s.config.Book.find(h.opening)
	switch {
	case e == nil:
		return unprepared(q, h), d
	case right:
		return teach(e, h, d), d
	}
	return stumble(e, h, d), d
}

// unprepared is the action if the book lacks the task: it tries the first tool once, and then answers that
// it cannot help.
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
		return action{thought: "My book does not have this task, and I am only a script."}
	}
	f := tools[0].Function
	var pairs []any
	for _, name := range f.Parameters.Required {
		pairs = append(pairs, name, "ls")
	}
	return action{"My book does not have this task. I try the first tool.", []call{{f.Name, object(pairs...)}}}
}

func (s *Server) models(*http.Request) response {
	var list []map[string]any
	for _, name := range []string{TeacherModel, StudentPrefix + "0", StudentPrefix + "0.5", StudentPrefix + "1"} {
		model := map[string]any{"id": name, "object": "model", "created": 0, "owned_by": "relabel"}
		if n := s.config.ContextTokens; n > 0 {
			model["max_model_len"] = n
		}
		list = append(list, model)
	}
	return response{http.StatusOK, map[string]any{"object": "list", "data": list}}
}

// stopLimit is how long running answers may take when Serve stops.
const stopLimit = 5 * time.Second

// Serve serves c on addr, which must be on loopback, such as 127.0.0.1:0, until ctx ends or stop
// is called; stop waits for the end and may be called more than once. baseURL is the BaseURL of
// a policy.
func Serve(ctx context.Context, addr string, c Config) (baseURL string, stop func(), err error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return "", nil, relabel.Errorf(relabel.CodeInvalid, "%q is not an address such as 127.0.0.1:0", addr)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", nil, relabel.Errorf(relabel.CodeInvalid, "the scripted models are served on loopback only, not on %q", host)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return "", nil, relabel.Errorf(relabel.CodeUnavailable, "the scripted models cannot listen on %s", addr).Because(err)
	}
	server := &http.Server{Handler: NewServer(c), ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l) // ends with ErrServerClosed
	}()
	end := sync.OnceFunc(func() {
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
		defer cancel()
		if server.Shutdown(limit) != nil {
			_ = server.Close()
		}
		<-done
	})
	release := context.AfterFunc(ctx, end)
	return "http://" + l.Addr().String() + "/v1", func() { release(); end() }, nil
}

// Package weightstest has servers that answer as vLLM and SGLang do to requests about weights: the most probable
// next tokens of texts, which depend on the weights, and loading of adapters and checkpoints from folders. For tests
// alone.
package weightstest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// listed is the number of next tokens of a text.
const listed = 20

// Server is a server with one base model.
type Server struct {
	*httptest.Server
	mu        sync.Mutex
	base      string            // its weights, as any text
	served    string            // name of the base model
	adapters  map[string]string // path by name
	behind    []string          // further weights that a load balancer would reach
	asked     int
	noise     float64
	refuse    string         // what loading fails with
	Requested map[string]int // by path
}

// New starts a server whose base model has weights that any text stands for.
func New(t testing.TB, weights string) *Server {
	s := &Server{base: weights, served: "base", adapters: map[string]string{}, Requested: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/completions", s.completions)
	mux.HandleFunc("POST /generate", s.generate)
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("POST /v1/load_lora_adapter", s.load(false))
	mux.HandleFunc("POST /load_lora_adapter", s.load(true))
	mux.HandleFunc("POST /v1/unload_lora_adapter", s.unload(false))
	mux.HandleFunc("POST /unload_lora_adapter", s.unload(true))
	mux.HandleFunc("POST /collective_rpc", s.reload)
	mux.HandleFunc("POST /reset_prefix_cache", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /update_weights_from_disk", s.updateWeights)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.Requested[r.URL.Path]++
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// Base is its address as a policy names it.
func (s *Server) Base() string { return s.URL + "/v1" }

// SetWeights replaces the base model's weights, as a restart with another checkpoint does.
func (s *Server) SetWeights(weights string) { s.set(func() { s.base = weights }) }

// SetNoise has every log-probability differ by up to this from one request to the next.
func (s *Server) SetNoise(nats float64) { s.set(func() { s.noise = nats }) }

// Balance puts servers with other weights behind the same address.
func (s *Server) Balance(weights ...string) { s.set(func() { s.behind = weights }) }

// Refuse has loading fail with an error; "": it works.
func (s *Server) Refuse(problem string) { s.set(func() { s.refuse = problem }) }

// Restart forgets adapters.
func (s *Server) Restart() { s.set(func() { clear(s.adapters) }) }

// Adapters are the names of loaded adapters.
func (s *Server) Adapters() (names []string) {
	s.set(func() {
		for name := range s.adapters {
			names = append(names, name)
		}
	})
	return names
}

// Count returns how often a path was requested.
func (s *Server) Count(path string) (n int) {
	s.set(func() { n = s.Requested[path] })
	return n
}

func (s *Server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// logprobs are those of the next tokens of a text.
func (s *Server) logprobs(text, adapter string) (all [listed]float64, ok bool) {
	weights := s.base
	if n := len(s.behind); n > 0 {
		weights = append([]string{s.base}, s.behind...)[s.asked%(n+1)]
	}
	s.asked++
	if path, loaded := s.adapters[adapter]; adapter != "" && !loaded {
		return all, false
	} else if adapter != "" {
		weights += " with " + content(path)
	}
	for i := range all {
		all[i] = -0.2*float64(i) - 0.1 - uniform(weights, text, strconv.Itoa(i)) - s.noise*uniform(strconv.Itoa(s.asked), strconv.Itoa(i))
	}
	return all, true
}

// content stands for the files of a folder.
func content(folder string) string {
	data := ""
	for _, name := range []string{"adapter_model.safetensors", "model.safetensors"} {
		if b, err := os.ReadFile(filepath.Join(folder, name)); err == nil {
			data += string(b)
		}
	}
	return data
}

// uniform is a number in [0, 1) that depends on the texts.
func uniform(texts ...string) float64 {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return float64(binary.BigEndian.Uint32(sum[:])) / (1 << 32)
}

func read[T any](r *http.Request) (body T) {
	_ = json.NewDecoder(r.Body).Decode(&body)
	return body
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func failed(w http.ResponseWriter, status int, message string) {
	answer(w, status, map[string]any{"error": map[string]any{"message": message, "type": "BadRequestError", "code": status}})
}

func (s *Server) completions(w http.ResponseWriter, r *http.Request) {
	in := read[struct {
		Model  string
		Prompt []string
	}](r)
	adapter := in.Model
	if in.Model == s.served {
		adapter = ""
	}
	choices := []any{}
	for i, text := range in.Prompt {
		all, ok := s.logprobs(text, adapter)
		if !ok {
			failed(w, http.StatusNotFound, "The model `"+in.Model+"` does not exist.")
			return
		}
		top := map[string]float64{}
		for id, p := range all {
			top["token_id:"+strconv.Itoa(id)] = p
		}
		choices = append(choices, map[string]any{"index": i, "text": "x", "finish_reason": "length", "logprobs": map[string]any{"top_logprobs": []any{top}}})
	}
	answer(w, http.StatusOK, map[string]any{"object": "text_completion", "model": in.Model, "choices": choices})
}

func (s *Server) generate(w http.ResponseWriter, r *http.Request) {
	in := read[struct {
		Text    []string
		Adapter string `json:"lora_path"`
	}](r)
	answers := []any{}
	for _, text := range in.Text {
		all, ok := s.logprobs(text, in.Adapter)
		if !ok {
			failed(w, http.StatusBadRequest, "The following requested LoRA adapters are not loaded: "+in.Adapter)
			return
		}
		top := []any{}
		for id, p := range all {
			top = append(top, []any{p, id, nil})
		}
		answers = append(answers, map[string]any{"text": "x", "meta_info": map[string]any{"output_top_logprobs": []any{top}}})
	}
	answer(w, http.StatusOK, answers)
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	list := []any{map[string]any{"id": s.served, "object": "model", "root": s.served, "parent": nil}}
	for name, path := range s.adapters {
		list = append(list, map[string]any{"id": name, "object": "model", "root": path, "parent": s.served})
	}
	answer(w, http.StatusOK, map[string]any{"object": "list", "data": list})
}

type adapterRequest struct {
	Name string `json:"lora_name"`
	Path string `json:"lora_path"`
}

func (s *Server) load(sglang bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		in := read[adapterRequest](r)
		_, loaded := s.adapters[in.Name]
		_, err := os.Stat(filepath.Join(in.Path, "adapter_config.json"))
		switch {
		case s.refuse != "":
			failed(w, http.StatusInternalServerError, s.refuse)
		case loaded && sglang:
			answer(w, http.StatusBadRequest, map[string]any{"success": false, "error_message": "Failed to load LoRA adapter " + in.Name + " because it is already loaded"})
		case loaded:
			failed(w, http.StatusBadRequest, "The lora adapter '"+in.Name+"' has already been loaded.")
		case err != nil:
			failed(w, http.StatusNotFound, "Loading lora "+in.Name+" failed: No adapter found for "+in.Path)
		default:
			s.adapters[in.Name] = in.Path
			answer(w, http.StatusOK, map[string]any{"success": true})
		}
	}
}

func (s *Server) unload(bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		in := read[adapterRequest](r)
		if _, loaded := s.adapters[in.Name]; !loaded {
			failed(w, http.StatusNotFound, "The lora adapter '"+in.Name+"' cannot be found.")
			return
		}
		delete(s.adapters, in.Name)
		answer(w, http.StatusOK, map[string]any{"success": true})
	}
}

func (s *Server) reload(w http.ResponseWriter, r *http.Request) {
	in := read[struct {
		Method string
		Kwargs struct {
			Path string `json:"weights_path"`
		}
	}](r)
	if in.Method != "reload_weights" || s.refuse != "" {
		failed(w, http.StatusInternalServerError, s.refuse)
		return
	}
	s.base = content(in.Kwargs.Path)
	answer(w, http.StatusOK, map[string]any{"results": []any{nil}})
}

func (s *Server) updateWeights(w http.ResponseWriter, r *http.Request) {
	in := read[struct {
		Path string `json:"model_path"`
	}](r)
	if s.refuse != "" {
		answer(w, http.StatusBadRequest, map[string]any{"success": false, "message": s.refuse})
		return
	}
	s.base, s.served = content(in.Path), in.Path
	answer(w, http.StatusOK, map[string]any{"success": true, "message": "Succeeded to update model weights."})
}

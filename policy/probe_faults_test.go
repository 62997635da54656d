package policy

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"relabel"
	"relabel/policy/scripted"
)

// vLLM refuses n above 1 where it decodes greedily; its words are those of its source.
func TestNIsProbedInAFormThatVLLMAccepts(t *testing.T) {
	models := scripted.NewServer(scripted.Config{})
	r, err := probe(t, func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		var asked struct {
			N           int     `json:"n"`
			Temperature float64 `json:"temperature"`
		}
		_ = json.Unmarshal(body, &asked)
		switch {
		case asked.N > 1 && asked.Temperature == 0:
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, `{"object":"error","message":"n must be 1 when using greedy sampling, got 2.","type":"BadRequestError","code":400}`)
		case asked.N > 1:
			io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"a"}},{"message":{"role":"assistant","content":"b"}}]}`)
		default:
			req.Body = io.NopCloser(strings.NewReader(string(body)))
			models.ServeHTTP(w, req)
		}
	}, func(p *relabel.Policy) { p.Model = scripted.TeacherModel })
	if err != nil {
		t.Fatal(err)
	}
	expect(t, r, map[Question]Answer{AskN: Yes})
}

func TestAProbeSurvivesAConnectionReset(t *testing.T) {
	models := scripted.NewServer(scripted.Config{})
	var n atomic.Int64
	r, err := probe(t, func(w http.ResponseWriter, req *http.Request) {
		if n.Add(1)%3 != 0 {
			panic(http.ErrAbortHandler)
		}
		models.ServeHTTP(w, req)
	}, func(p *relabel.Policy) { p.Model = scripted.TeacherModel })
	if err != nil || r.Problem != "" {
		t.Fatalf("%v\n%s", err, r)
	}
	expect(t, r, map[Question]Answer{AskReachable: Yes, AskNative: Yes})
}

func TestABrokenListOfModelsIsReported(t *testing.T) {
	models := scripted.NewServer(scripted.Config{})
	r, err := probe(t, func(w http.ResponseWriter, req *http.Request) {
		if strings.HasSuffix(req.URL.Path, "/models") {
			http.Error(w, "the registry is gone", http.StatusInternalServerError)
			return
		}
		models.ServeHTTP(w, req)
	}, func(p *relabel.Policy) { p.Model = scripted.TeacherModel })
	if err != nil {
		t.Fatal(err)
	}
	expect(t, r, map[Question]Answer{AskModel: Refused})
	if !strings.Contains(r.String(), "500") || !strings.Contains(r.String(), "the registry is gone") {
		t.Errorf("\n%s", r)
	}
}

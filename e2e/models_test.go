package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"relabel"
	"relabel/policy/scripted"
)

// models serves the scripted models and records their requests.
type models struct {
	url    string
	server *scripted.Server
	mu     sync.Mutex
	asked  []asked
}

// asked is one request.
type asked struct {
	Model       string          `json:"model"`
	Messages    json.RawMessage `json:"messages"`
	Temperature *float64        `json:"temperature"`
}

// clock is what commands say of the time. The scripted models answer by every byte of a
// state; without it, the same actions lead to the same states.
var clock = regexp.MustCompile(`[A-Z][a-z]{2} +\d{1,2} +\d\d:\d\d|\bin \d+\.\d+s\b`)

// probe are the messages with which relabel tests an endpoint that counts as down: on a busy
// machine also one that is only slow.
const probe = `[{"role":"user","content":"Say hello."}]`

// newModels serves models that know the lab's tasks.
func newModels(t testing.TB, l *lab, c scripted.Config) *models {
	t.Helper()
	c.Book = scripted.NewBook(l.tasks)
	m := &models{server: scripted.NewServer(c)}
	m.url = listenFor(t, m) + "/v1"
	return m
}

// ServeHTTP remembers a request and lets the scripted models answer it, blind to clocks.
func (m *models) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var q asked
	asks := strings.HasSuffix(r.URL.Path, "/chat/completions")
	if err == nil && asks {
		err = json.Unmarshal(body, &q)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if asks && string(q.Messages) != probe {
		m.mu.Lock()
		m.asked = append(m.asked, q)
		m.mu.Unlock()
	}
	body = clock.ReplaceAll(body, []byte("once"))
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	m.server.ServeHTTP(w, r)
}

// count returns the number of requests since they were last returned.
func (m *models) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.asked)
}

// questions returns the requests since the last call.
func (m *models) questions() []asked {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.asked
	m.asked = nil
	return all
}

func (m *models) teacher() relabel.Policy {
	return relabel.Policy{Name: "teacher", BaseURL: m.url, Model: scripted.TeacherModel}
}

// student is a student policy of a skill; those of the same name are its versions.
func (m *models) student(skill string) relabel.Policy {
	return relabel.Policy{Name: "student", BaseURL: m.url, Model: scripted.StudentPrefix + skill}
}

package bench

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"

	"relabel/chat"
)

// The times that a benchmark states where it says no others. A model of 32 billion
// parameters takes some seconds for an action.
const (
	studentTime = 1 * time.Second
	commandTime = 300 * time.Millisecond
)

// model answers after a stated time, whatever it is asked, with text of a real length.
type model struct {
	delay   time.Duration
	answers [][2][]byte // before and after the count of the prompt's tokens
	hold    []byte      // a request that holds it is not answered
}

// serve serves a model until the benchmark ends and returns its base URL.
func serve(b *testing.B, delay time.Duration, hold string) string {
	b.Helper()
	m := &model{delay: delay, hold: []byte(hold)}
	r := rand.New(rand.NewPCG(1, uint64(delay)))
	for range 256 {
		message := say(r)
		body := chat.AppendMessage([]byte(`{"model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":`), message)
		answer := len(message.Content) + len(message.ToolCalls[0].Arguments)
		m.answers = append(m.answers, [2][]byte{append(body, `}],"usage":{"prompt_tokens":`...),
			fmt.Appendf(nil, `,"completion_tokens":%d}}`, answer/4)})
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(b, err)
	server := &http.Server{Handler: m}
	go func() { _ = server.Serve(l) }() // ends with Close
	b.Cleanup(func() { _ = server.Close() })
	return "http://" + l.Addr().String() + "/v1"
}

// ServeHTTP answers.
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	came := time.Now()
	delay := m.delay
	if len(m.hold) > 0 {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, m.hold) {
			delay = time.Hour
		}
	}
	_, _ = io.Copy(io.Discard, r.Body) // unread, it would hide that the caller has gone
	timer := time.NewTimer(delay - time.Since(came))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
		return
	}
	a := m.answers[rand.IntN(len(m.answers))]
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(a[0]) // whoever asked may have gone
	_, _ = w.Write(append(strconv.AppendInt(nil, r.ContentLength/4, 10), a[1]...))
}

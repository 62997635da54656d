package server

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"relabel"
)

// Bounds of what answers to reading requests hold in memory. A list's page has at most
// relabel.MostPageBytes of rows, and its answer may be some times that.
const (
	answersBuilt = 8         // answers that are built at once
	answersHeld  = 128 << 20 // bytes of built answers and of parts of streamed ones that wait for their readers
	buildWait    = 20 * time.Second
	smallAnswer  = 64 << 10 // bytes of one write that are not counted
)

// answerSlots bounds answers.
type answerSlots struct {
	building chan struct{}
	mu       sync.Mutex
	held     int64 // bytes
}

func newAnswerSlots() *answerSlots {
	return &answerSlots{building: make(chan struct{}, answersBuilt)}
}

// begin waits for the turn to build an answer; leave ends it, however often it is called.
// CodeUnavailable after buildWait.
func (a *answerSlots) begin(ctx context.Context) (leave func(), err error) {
	wait := time.NewTimer(buildWait)
	defer wait.Stop()
	select {
	case a.building <- struct{}{}:
		return sync.OnceFunc(func() { <-a.building }), nil
	case <-wait.C:
		return nil, relabel.Errorf(relabel.CodeUnavailable, "too many answers are being built; retry in a few seconds")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// hold reserves bytes for an answer until release. An answer that exceeds the bound on its own
// is sent when nothing else is held. CodeUnavailable if there is not enough room.
func (a *answerSlots) hold(bytes int64) (release func(), err error) {
	bytes = min(bytes, answersHeld)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.held+bytes > answersHeld {
		return nil, relabel.Errorf(relabel.CodeUnavailable, "too many large answers wait for their readers; retry in a few seconds")
	}
	a.held += bytes
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.held -= bytes
	}, nil
}

// boundKey marks requests whose answer is bound already: those that a page makes.
type boundKey struct{}

// boundAnswers bounds how many answers to reading requests are built at once, and how many
// bytes of them wait to be read.
func (s *site) boundAnswers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !reads(r) || r.Context().Value(boundKey{}) != nil || s.needed(r) == relabel.NoAccess || r.URL.Path == "/metrics" {
			next.ServeHTTP(w, r)
			return
		}
		streamed := streamedBytes(r.URL.Path)
		release, err := s.answers.hold(streamed)
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		defer release()
		leave, err := s.answers.begin(r.Context())
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		defer leave()
		bound := &boundAnswer{ResponseWriter: w, site: s, request: r, leave: leave, counted: streamed > 0}
		next.ServeHTTP(bound, r.WithContext(context.WithValue(r.Context(), boundKey{}, true)))
		bound.begin()
	})
}

// streamedBytes is how much of an answer that is written piece by piece is in memory while
// its reader takes it, in bytes; 0 for others.
func streamedBytes(path string) int64 {
	switch {
	case strings.HasSuffix(path, "/file.html"), strings.HasPrefix(path, "/v1/trajectories/") && strings.HasSuffix(path, "/atif"):
		return 16 << 20
	case strings.HasPrefix(path, "/v1/tokenizers/") && strings.HasSuffix(path, "/files"):
		return 2 * relabel.TokenizerChunk
	}
	return 0
}

// boundAnswer gives the turn to build back with the first byte, and counts what waits to be
// read.
type boundAnswer struct {
	http.ResponseWriter
	site    *site
	request *http.Request
	leave   func()
	counted bool // its bytes are reserved
	status  int
	begun   bool
	refused bool
}

// WriteHeader keeps the status until the body begins.
func (b *boundAnswer) WriteHeader(status int) {
	if b.status == 0 {
		b.status = status
	}
}

// begin sends the status that was kept.
func (b *boundAnswer) begin() {
	b.leave()
	if !b.begun {
		b.begun = true
		if b.status != 0 {
			b.ResponseWriter.WriteHeader(b.status)
		}
	}
}

// Write sends a chunk. If there is no room for a large one, it answers 503, or closes the
// connection once the answer has begun.
func (b *boundAnswer) Write(p []byte) (int, error) {
	if b.refused {
		return len(p), nil // the problem was written
	}
	if len(p) > smallAnswer && !b.counted {
		release, err := b.site.answers.hold(int64(len(p)))
		if err != nil {
			return b.refuse(p, err)
		}
		defer release()
	}
	b.begin()
	return b.ResponseWriter.Write(p)
}

// refuse answers that there is no room for a chunk.
func (b *boundAnswer) refuse(p []byte, err error) (int, error) {
	if b.begun {
		panic(http.ErrAbortHandler) // its reader must see that the answer is not whole
	}
	b.begun, b.refused = true, true
	b.leave()
	for _, h := range []string{"Content-Length", "ETag", "Last-Modified", "Content-Disposition"} {
		b.Header().Del(h)
	}
	b.site.refuse(b.ResponseWriter, b.request, err)
	return len(p), nil
}

// Flush sends the buffered bytes.
func (b *boundAnswer) Flush() {
	b.begin()
	_ = http.NewResponseController(b.ResponseWriter).Flush() // the next write fails if the client is gone
}

// Unwrap lets http.ResponseController find the connection.
func (b *boundAnswer) Unwrap() http.ResponseWriter { return b.ResponseWriter }

package server

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"time"

	"relabel"
	"relabel/api"
)

// endTime bounds how long an answer's keeping may take after its client is gone.
const endTime = 10 * time.Second

// answerOnce answers a request with an Idempotency-Key once, and gives the same answer
// again to whoever repeats it. An answer that is the server's fault is not kept.
func (s *site) answerOnce(w http.ResponseWriter, r *http.Request, bodySHA256 string, next http.Handler) {
	key := r.Header.Get("Idempotency-Key")
	if key == "" || r.Method != http.MethodPost || !isAPI(r.URL.Path) {
		next.ServeHTTP(w, r)
		return
	}
	if !isKey(key) {
		s.refuse(w, r, relabel.Errorf(relabel.CodeInvalid, "a key must have 1 to 255 printable ASCII characters").On("header.Idempotency-Key"))
		return
	}
	claim := relabel.Idempotent{Key: key, Route: r.Method + " " + r.URL.RequestURI(), BodyHash: bodySHA256}
	kept, err := s.Store.BeginIdempotent(r.Context(), claim)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	if kept != nil {
		replay(w, *kept)
		return
	}
	s.answerFirst(w, r, claim, next)
}

// answerFirst answers, keeps the answer, and only then sends it. The key is freed when
// the handler panics.
func (s *site) answerFirst(w http.ResponseWriter, r *http.Request, claim relabel.Idempotent, next http.Handler) {
	answer := &answer{header: w.Header()}
	defer func() {
		if answer.status < http.StatusInternalServerError {
			claim.Status, claim.Answer = answer.status, answer.body.Bytes()
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), endTime)
		defer cancel()
		if err := s.Store.EndIdempotent(ctx, claim); err != nil {
			// The work is done, and its answer is right: it is sent all the same.
			s.Log.Error().Err(err).Str("path", r.URL.Path).Msg("an idempotent answer could not be stored")
		}
		if answer.status != 0 {
			w.WriteHeader(answer.status)
			_, _ = w.Write(answer.body.Bytes()) // a client that is gone reads nothing
		}
	}()
	next.ServeHTTP(answer, r)
}

// replay sends a kept answer again.
func replay(w http.ResponseWriter, kept relabel.Idempotent) {
	kind := "application/json"
	if kept.Status >= http.StatusBadRequest {
		kind = (*api.Problem)(nil).ContentType("")
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Idempotency-Replayed", "true")
	w.WriteHeader(kept.Status)
	_, _ = w.Write(kept.Answer) // a client that is gone reads nothing
}

// isKey reports whether key can be kept as it is.
func isKey(key string) bool {
	return len(key) <= 255 && strings.IndexFunc(key, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}

// answer holds an answer back until it is kept.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header returns the real answer's headers.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader keeps the status.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// Write keeps the body.
func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}

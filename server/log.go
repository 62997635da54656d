package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/go-chi/chi/v5/middleware"

	"relabel"
)

// causeKey finds the request's place for what went wrong.
type causeKey struct{}

// cause is the error of a request that is logged but not sent to the client.
type cause struct{ err error }

// noteCause keeps err for the request's log line. It keeps the first error, which is closest to
// the cause; later ones are its presentations.
func noteCause(ctx context.Context, err error) {
	if c, ok := ctx.Value(causeKey{}).(*cause); ok && c.err == nil {
		c.err = err
	}
}

// logRequests writes one log line per request, without query, headers and body, which may hold
// secrets. It turns a panic into a 500 and logs it.
func (s *site) logRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start, c := time.Now(), &cause{}
		r = r.WithContext(context.WithValue(r.Context(), causeKey{}, c))
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		defer func() {
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler {
					panic(p)
				}
				c.err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
				if ww.Status() == 0 {
					s.refuse(ww, r, relabel.Errorf(relabel.CodeInternal, "panic").Because(c.err))
				}
			}
			s.logLine(r, ww, c.err, time.Since(start))
		}()
		next.ServeHTTP(ww, r)
	})
}

func (s *site) logLine(r *http.Request, w middleware.WrapResponseWriter, err error, took time.Duration) {
	line := s.Log.Debug()
	switch {
	case errors.Is(r.Context().Err(), context.Canceled): // the client disconnected, as browser tabs do: not an error
	case w.Status() >= http.StatusInternalServerError:
		line = s.Log.Error()
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		line = s.Log.Info()
	}
	line.Str("method", r.Method).Str("path", r.URL.Path).Int("status", w.Status()).
		Int("bytes", w.BytesWritten()).Dur("took_ms", took).AnErr("cause", err).Msg("request")
}

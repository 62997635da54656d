package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
)

// stream writes server-sent events. The first error stays.
type stream struct {
	w          http.ResponseWriter
	connection *http.ResponseController
	err        error
}

// openStream begins the answer and sends its head, so that a reader sees the line open and
// the turn to build an answer is over (see boundAnswers), though nothing may happen for long.
func openStream(w http.ResponseWriter) *stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // asks proxies to pass each event on
	s := &stream{w: w, connection: http.NewResponseController(w)}
	w.WriteHeader(http.StatusOK)
	s.err = s.connection.Flush()
	return s
}

// write sends text at once. paceConnections bounds how long its reader may take.
func (s *stream) write(text string) {
	if s.err != nil {
		return
	}
	if _, s.err = s.w.Write([]byte(text)); s.err == nil {
		s.err = s.connection.Flush()
	}
}

// send sends a message. id is the position that a reader has with it; 0: it stays.
func (s *stream) send(event string, id int64, data any) {
	b, err := json.Marshal(data)
	if err != nil {
		s.err = err
		return
	}
	if id > 0 {
		s.write(fmt.Sprintf("event: %s\nid: %d\ndata: %s\n\n", event, id, b))
		return
	}
	s.write(fmt.Sprintf("event: %s\ndata: %s\n\n", event, b))
}

// begin sends the reader its position before any event, which shows that the connection is
// open.
func (s *stream) begin(position int64) {
	s.write(fmt.Sprintf("event: begin\nid: %d\ndata: {}\n\n", position))
}

// beat shows that the line lives.
func (s *stream) beat() { s.write(":\n\n") }

// notice tells the reader why a stream is reset or ends early.
type notice struct {
	Reason string `json:"reason"`
}

// stoppingKey finds the channel that is closed when the server stops.
type stoppingKey struct{}

// tellOfStopping lets handlers of a server know when it stops: streams end then, and do
// not hold it up.
func tellOfStopping(srv *http.Server) {
	stopping := make(chan struct{})
	srv.RegisterOnShutdown(func() { close(stopping) })
	srv.BaseContext = func(net.Listener) context.Context {
		return context.WithValue(context.Background(), stoppingKey{}, stopping)
	}
}

// stopping returns that channel; nil, which never closes, if there is none.
func stopping(ctx context.Context) <-chan struct{} {
	c, _ := ctx.Value(stoppingKey{}).(chan struct{})
	return c
}

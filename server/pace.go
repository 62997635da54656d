package server

import (
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"relabel"
)

// Pace bounds how slowly a client may send a body or read an answer. A zero field takes
// its default.
type Pace struct {
	Silence time.Duration // longest time without a byte; default 20 s
	Window  time.Duration // time over which the rate is taken; default one minute
	Rate    int64         // lowest rate over a window, in bytes per second; default 10,000
}

func (p Pace) orDefault() Pace {
	if p.Silence == 0 {
		p.Silence = 20 * time.Second
	}
	if p.Window == 0 {
		p.Window = time.Minute
	}
	if p.Rate == 0 {
		p.Rate = 10_000
	}
	return p
}

// quota is the number of bytes that a window demands.
func (p Pace) quota() int64 { return int64(p.Window.Seconds() * float64(p.Rate)) }

// paceConnections applies the bounds of s.Pace to the body and the answer of every request,
// including streams, each of whose events is a separate write.
func (s *site) paceConnections(next http.Handler) http.Handler {
	pace := s.Pace.orDefault()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connection := http.NewResponseController(w)
		if r.ContentLength != 0 {
			// It also bounds net/http's own reads of a body that no handler reads. A test's recorder
			// has no deadlines; a real connection always has.
			_ = connection.SetReadDeadline(time.Now().Add(pace.Silence))
			r.Body = &pacedBody{body: r.Body, connection: connection, pace: pace}
		}
		paced := &pacedWriter{ResponseWriter: w, connection: connection, pace: pace}
		defer paced.extend(0) // net/http sends its buffer after this
		next.ServeHTTP(paced, r)
	})
}

// errSlowBody is the error of a body that arrives too slowly.
var errSlowBody = errors.New("the body arrived too slowly")

// pacedBody reads a body and fails with errSlowBody if it arrives too slowly.
type pacedBody struct {
	body       io.ReadCloser
	connection *http.ResponseController
	pace       Pace
	since      time.Time // start of the present window; zero before the first read
	got        int64     // bytes read in it
}

// Read waits Silence at most. The rate is checked after each read, so a client that is
// too slow is found at the latest Window + Silence after it began.
func (b *pacedBody) Read(p []byte) (int, error) {
	now := time.Now()
	if b.since.IsZero() {
		b.since = now
	}
	_ = b.connection.SetReadDeadline(now.Add(b.pace.Silence)) // see paceConnections
	n, err := b.body.Read(p)
	b.got += int64(n)
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return n, errSlowBody
	}
	if err != nil { // even io.EOF: a complete body is never late
		return n, err
	}
	if now = time.Now(); now.Sub(b.since) < b.pace.Window {
		return n, nil
	}
	if b.got < b.pace.quota() {
		return n, errSlowBody
	}
	b.since, b.got = now, 0
	return n, nil
}

// Close closes the body.
func (b *pacedBody) Close() error { return b.body.Close() }

// longAgo is a deadline that has passed.
var longAgo = time.Unix(1, 0)

// endReading replaces the deadline of a paced body that is read no further: by the zero
// time for none, by longAgo so that net/http reads nothing more of it.
func endReading(body io.Reader, deadline time.Time) {
	if paced, ok := body.(*pacedBody); ok {
		_ = paced.connection.SetReadDeadline(deadline) // see paceConnections
	}
}

// pieceSize is the most that is written under one deadline, in bytes.
const pieceSize = 64 << 10

// pacedWriter sets a deadline for each chunk of an answer: a client that reads too slowly is
// disconnected, one that reads a long answer is not.
type pacedWriter struct {
	http.ResponseWriter
	connection *http.ResponseController
	pace       Pace
}

// extend grants the time that n bytes may take.
func (p *pacedWriter) extend(n int) {
	allowed := p.pace.Silence + time.Duration(int64(n)*int64(time.Second)/p.pace.Rate)
	_ = p.connection.SetWriteDeadline(time.Now().Add(allowed)) // see paceConnections
}

// Write sends b piece by piece.
func (p *pacedWriter) Write(b []byte) (int, error) {
	written := 0
	for {
		piece := b[written:min(written+pieceSize, len(b))]
		p.extend(len(piece))
		n, err := p.ResponseWriter.Write(piece)
		if written += n; err != nil || written == len(b) {
			return written, err
		}
	}
}

// Flush sends the buffered bytes.
func (p *pacedWriter) Flush() {
	p.extend(pieceSize)
	_ = p.connection.Flush() // the next write fails if the client is gone
}

// Unwrap lets http.ResponseController find the connection.
func (p *pacedWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// slowBody is the answer to a body that came too slowly.
func slowBody(p Pace) error {
	return relabel.Errorf(codeTimeout, "the body arrived too slowly: no byte for %s, or under %d bytes per second over %s", p.Silence, p.Rate, p.Window).On("body")
}

package storetest

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
)

// Cut is where in an exchange with the server a Line is cut.
type Cut int

// The places: what was asked never reaches the server; half of it does; the server has
// done it and its answer does not arrive; half of the answer does.
const (
	BeforeRequest Cut = iota
	InRequest
	BeforeAnswer
	InAnswer
)

// Cuts are all places.
var Cuts = []Cut{BeforeRequest, InRequest, BeforeAnswer, InAnswer}

func (c Cut) String() string {
	return [...]string{"before the request", "in the request", "before the answer", "in the answer"}[c]
}

// Line is a way to a Postgres that can be cut in the middle of what is said on it. An
// exchange is what a client sends up to the point where it waits: one statement, a
// prepared one with its arguments, or a batch of them.
type Line struct {
	URL string // as a database URL

	network, target string

	mu    sync.Mutex
	where Cut
	match func(n int, sql string) bool // nil while it is not to be cut
	n     int
	cut   string // the exchanges that were cut
}

// NewLine opens a line to the database until the test ends.
func NewLine(t testing.TB, database string) *Line {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	l := &Line{network: "unix", target: filepath.Join(q.Get("host"), ".s.PGSQL."+q.Get("port"))}
	if q.Get("host") == "" {
		l.network, l.target = "tcp", u.Host
		u.Host = ""
	}
	dir := t.TempDir()
	listener, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	q.Set("host", dir)
	q.Set("port", "5432")
	u.RawQuery = q.Encode()
	l.URL = u.String()
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go l.serve(client)
		}
	}()
	return l
}

// CutAt cuts each exchange that matches from now on: its number, from 1 for the next one
// on any connection, and its statements.
func (l *Line) CutAt(where Cut, match func(n int, sql string) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.where, l.match, l.n, l.cut = where, match, 0, ""
}

// WasCut returns how the statements begin of the exchanges that were cut, a line each; "" while
// none was.
func (l *Line) WasCut() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut
}

// passes counts an exchange and says whether, and where, it is cut.
func (l *Line) passes(sql string) (where Cut, cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.n++; l.match == nil || !l.match(l.n, sql) {
		return 0, false
	}
	l.cut += sql[:min(len(sql), 100)] + "\n"
	return l.where, true
}

// call is one connection through the line.
type call struct {
	line           *Line
	client, server net.Conn
	statements     map[string]string // prepared ones, by name
	mu             sync.Mutex
	held           bool // answers are held back, for the line to be cut
	where          Cut
}

func (l *Line) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial(l.network, l.target)
	if err != nil {
		return
	}
	defer server.Close()
	c := &call{line: l, client: client, server: server, statements: map[string]string{}}
	var both sync.WaitGroup
	both.Go(func() { defer server.Close(); c.requests() })
	both.Go(func() { defer client.Close(); c.answers() })
	both.Wait()
}

// readMessage reads one message of Postgres's protocol, whole. The first one of a client
// has no type.
func readMessage(r io.Reader, typed bool) ([]byte, error) {
	head := make([]byte, 4, 256)
	if typed {
		head = head[:5]
	}
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(head[len(head)-4:])-4)
	_, err := io.ReadFull(r, body)
	return append(head, body...), err
}

// requests passes on what the client sends, exchange by exchange.
func (c *call) requests() {
	m, err := readMessage(c.client, false)
	var exchange []byte
	var sql string
	for {
		if err != nil {
			return
		}
		exchange = append(exchange, m...)
		sql += c.text(m)
		if ends(m) {
			if sql != "" && c.meddle(exchange, sql) {
				return
			}
			if _, err := c.server.Write(exchange); err != nil {
				return
			}
			exchange, sql = nil, ""
		}
		m, err = readMessage(c.client, true)
	}
}

// ends reports whether the client may wait for an answer to the message: it is none of
// parse, bind, describe, execute and close, after which a sync or flush comes.
func ends(m []byte) bool { return bytes.IndexByte([]byte("PBDEC"), m[0]) < 0 }

// text is the statement that a message names.
func (c *call) text(m []byte) string {
	field := func(at int) string {
		s, _, _ := bytes.Cut(m[min(at, len(m)):], []byte{0})
		return string(s)
	}
	switch m[0] {
	case 'Q':
		return field(5) + "; "
	case 'P':
		name := field(5)
		c.statements[name] = field(5 + len(name) + 1)
		return "prepare " + c.statements[name] + "; "
	case 'B':
		portal := field(5)
		return c.statements[field(5+len(portal)+1)] + "; "
	}
	return ""
}

// meddle cuts the line at an exchange, if that is what is to happen, and reports so. Where the
// server is to have answered first, the cut is left to answers.
func (c *call) meddle(exchange []byte, sql string) (over bool) {
	where, cut := c.line.passes(sql)
	if !cut {
		return false
	}
	switch where {
	case BeforeRequest:
		c.hangUp()
		return true
	case InRequest:
		_, _ = c.server.Write(exchange[:len(exchange)/2])
		c.hangUp()
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held, c.where = true, where
	return false
}

// hangUp breaks the line for both.
func (c *call) hangUp() {
	_ = c.client.Close()
	_ = c.server.Close()
}

// answers passes on what the server answers. Where the line is to be cut it waits until
// the server is ready for the next request: all that was asked for is done then.
func (c *call) answers() {
	var kept []byte
	for {
		m, err := readMessage(c.server, true)
		if err != nil {
			return
		}
		c.mu.Lock()
		held, where := c.held, c.where
		c.mu.Unlock()
		if !held {
			if _, err := c.client.Write(m); err != nil {
				return
			}
			continue
		}
		if kept = append(kept, m...); m[0] == 'Z' {
			if where == InAnswer {
				_, _ = c.client.Write(kept[:len(kept)/2])
			}
			c.hangUp()
			return
		}
	}
}

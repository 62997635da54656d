package storetest

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Cut is the point of an exchange with the server at which a Line is cut.
type Cut int

// The points: the request does not reach the server; half of it does; the server has executed
// it, and the answer does not reach the client; half of the answer does.
const (
	BeforeRequest Cut = iota
	InRequest
	BeforeAnswer
	InAnswer
)

// Cuts are all points.
var Cuts = []Cut{BeforeRequest, InRequest, BeforeAnswer, InAnswer}

func (c Cut) String() string {
	return [...]string{"before the request", "in the request", "before the answer", "in the answer"}[c]
}

// Line is a connection to Postgres that can be cut during an exchange: all that a client sends
// until it waits, which is one statement, a prepared one with its arguments, or a batch.
type Line struct {
	URL string // as a database URL

	network, target string

	mu    sync.Mutex
	where Cut
	match func(n int, sql string) bool // nil: no cuts
	n     int
	cut   string // the exchanges that were cut
}

// NewLine opens a line to the database until the test ends.
func NewLine(t testing.TB, database string) *Line {
	t.Helper()
	u, err := url.Parse(database)
	must(t, err)
	q := u.Query()
	l := &Line{network: "unix", target: filepath.Join(q.Get("host"), ".s.PGSQL."+q.Get("port"))}
	if q.Get("host") == "" {
		l.network, l.target = "tcp", u.Host
		u.Host = ""
	}
	dir := t.TempDir()
	listener, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	must(t, err)
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

// WasCut returns the beginnings of the statements of the exchanges that were cut, one line each;
// "" if none was.
func (l *Line) WasCut() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut
}

// count counts an exchange and returns whether, and where, it is cut.
func (l *Line) count(sql string) (where Cut, cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.n++; l.match == nil || !l.match(l.n, sql) {
		return 0, false
	}
	l.cut += sql[:min(len(sql), 100)] + "\n"
	return l.where, true
}

// connection is one connection through the line. When either direction ends, the whole
// connection ends.
type connection struct {
	line           *Line
	client, server net.Conn
	statements     map[string]string // prepared ones, by name
	cutAnswer      atomic.Int32      // BeforeAnswer or InAnswer: where the next answer is cut
}

func (l *Line) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial(l.network, l.target)
	if err != nil {
		return
	}
	defer server.Close()
	c := &connection{line: l, client: client, server: server, statements: map[string]string{}}
	var both sync.WaitGroup
	both.Go(func() { defer server.Close(); c.requests() })
	both.Go(func() { defer client.Close(); c.answers() })
	both.Wait()
}

// readMessage reads one whole message of Postgres's protocol. The first one of a client has no
// type.
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

// requests forwards what the client sends, one exchange at a time, until the line is cut.
func (c *connection) requests() {
	var exchange []byte
	var sql string
	for typed := false; ; typed = true {
		m, err := readMessage(c.client, typed)
		if err != nil {
			return
		}
		exchange = append(exchange, m...)
		sql += c.text(m)
		if bytes.IndexByte([]byte("PBDEC"), m[0]) >= 0 {
			continue // after parse, bind, describe, execute and close, a sync or flush follows
		}
		forwarded, cut := c.cutRequest(exchange, sql)
		if _, err := c.server.Write(forwarded); err != nil || cut {
			return
		}
		exchange, sql = nil, ""
	}
}

// text returns the statement that a message contains or names.
func (c *connection) text(m []byte) string {
	var query pgproto3.Query
	var parse pgproto3.Parse
	var bind pgproto3.Bind
	switch {
	case m[0] == 'Q' && query.Decode(m[5:]) == nil:
		return query.String + "; "
	case m[0] == 'P' && parse.Decode(m[5:]) == nil:
		c.statements[parse.Name] = parse.Query
		return "prepare " + parse.Query + "; "
	case m[0] == 'B' && bind.Decode(m[5:]) == nil:
		return c.statements[bind.PreparedStatement] + "; "
	}
	return ""
}

// cutRequest returns the part of an exchange that reaches the server, and whether the line is cut
// then. If its answer is to be cut, answers does so.
func (c *connection) cutRequest(exchange []byte, sql string) (forwarded []byte, over bool) {
	if sql == "" {
		return exchange, false
	}
	where, cut := c.line.count(sql)
	switch {
	case !cut:
		return exchange, false
	case where == BeforeRequest:
		return nil, true
	case where == InRequest:
		return exchange[:len(exchange)/2], true
	}
	c.cutAnswer.Store(int32(where))
	return exchange, false
}

// answers forwards what the server sends. An answer that is to be cut is held back until the
// server is ready for the next request: it has executed the whole exchange then.
func (c *connection) answers() {
	var held []byte
	for {
		m, err := readMessage(c.server, true)
		if err != nil {
			return
		}
		where := Cut(c.cutAnswer.Load())
		if where == 0 {
			if _, err := c.client.Write(m); err != nil {
				return
			}
			continue
		}
		if held = append(held, m...); m[0] == 'Z' {
			if where == InAnswer {
				_, _ = c.client.Write(held[:len(held)/2])
			}
			return
		}
	}
}

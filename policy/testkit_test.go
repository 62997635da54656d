package policy

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"relabel"
)

// pipes is a listener without a network, so that a server and its clients can live in a
// bubble of synctest, where time moves when all of them wait.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func listen() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (p *pipes) dial(ctx context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.closed:
		return nil, syscall.ECONNREFUSED
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// network is the servers of a test by host name.
type network struct {
	mu    sync.Mutex
	hosts map[string]*pipes
}

// serve serves handler at host until stop.
func (n *network) serve(t *testing.T, host string, handler http.Handler) (stop func()) {
	t.Helper()
	l := listen()
	n.mu.Lock()
	if n.hosts == nil {
		n.hosts = map[string]*pipes{}
	}
	n.hosts[host] = l
	n.mu.Unlock()
	server := httptest.NewUnstartedServer(handler)
	server.Listener.Close()
	server.Listener, server.Config.ErrorLog = l, log.New(io.Discard, "", 0)
	server.Start()
	stop = sync.OnceFunc(func() { server.CloseClientConnections(); server.Close() })
	t.Cleanup(stop)
	return stop
}

// client returns a client that finds the network's servers alone.
func (n *network) client(t *testing.T) *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 100, DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		n.mu.Lock()
		l := n.hosts[host]
		n.mu.Unlock()
		if l == nil {
			return nil, syscall.ECONNREFUSED
		}
		return l.dial(ctx)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// ledger keeps the recorded calls.
type ledger struct {
	mu    sync.Mutex
	calls []relabel.Call
	err   error
}

func (l *ledger) record(ctx context.Context, c relabel.Call) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	l.calls = append(l.calls, c)
	return l.err
}

// only returns the one call that must have been recorded.
func (l *ledger) only(t *testing.T) relabel.Call {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.calls) != 1 {
		t.Fatalf("%d calls were recorded, not one", len(l.calls))
	}
	return l.calls[0]
}

// bench is a client before a handler.
type bench struct {
	*Client
	ledger *ledger
	server *served
}

// served is the server of a bench.
type served struct {
	client *http.Client
	stop   func()
}

func (s *served) Client() *http.Client { return s.client }
func (s *served) Close()               { s.stop() }

// open makes a client for handler; change may be nil.
func open(t *testing.T, handler http.HandlerFunc, change func(*relabel.Policy)) *bench {
	t.Helper()
	n := &network{}
	b := &bench{ledger: &ledger{}, server: &served{client: n.client(t), stop: n.serve(t, "model", handler)}}
	b.Client = openAs(t, aPolicy(change), Options{Record: b.ledger.record, HTTP: b.server.client})
	return b
}

// aPolicy is a sound policy for the server "model".
func aPolicy(change func(*relabel.Policy)) relabel.Policy {
	p := relabel.Policy{ID: relabel.NewID(), Name: "student", Version: 1, BaseURL: "http://model/v1", Model: "tiny",
		Server: relabel.ServerVLLM, Sampling: relabel.PaperSampling, Limits: relabel.PolicyLimits{Concurrency: 2, TimeoutSeconds: 30, Retries: 3}}
	if change != nil {
		change(&p)
	}
	return p
}

func openAs(t *testing.T, p relabel.Policy, o Options) *Client {
	t.Helper()
	c, err := Open(p, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// bubble runs a test where time moves only when everybody waits.
func bubble(t *testing.T, test func(*testing.T)) { t.Helper(); synctest.Test(t, test) }

func say(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// inTurn answers the first request with the first handler, and so on; the last one
// answers all that follow.
func inTurn(handlers ...http.HandlerFunc) http.HandlerFunc {
	var mu sync.Mutex
	n := 0
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		h := handlers[min(n, len(handlers)-1)]
		n++
		mu.Unlock()
		h(w, r)
	}
}

const goodBody = `{"model":"tiny","choices":[{"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`

// hang answers nothing until the client has gone, which a server sees once the body is read.
func hang(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

var good = say(200, goodBody)

func hello() relabel.ChatRequest {
	return relabel.ChatRequest{Messages: []relabel.Message{{Role: relabel.RoleUser, Content: "Say hello."}},
		Sampling: relabel.PaperSampling, Purpose: relabel.PurposeAct, T: 3, Attempt: 1, TrajectoryID: relabel.NewID()}
}

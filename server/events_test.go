package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/api"
	"relabel/server"
	"relabel/store"
	"relabel/store/storetest"
)

// followable is a stored iteration behind the interface.
type followable struct {
	*service
	db *store.Store
	storetest.Seeded
}

func startFollowable(t *testing.T, trajectories int) followable {
	t.Helper()
	db := storetest.New(t)
	return followable{start(t, func(c *server.Config) { c.Store = db }), db, storetest.Seed(t, db, trajectories)}
}

// message is a server-sent event as a client sees it.
type message struct {
	event, id string
	data      []byte
}

func (m message) state() string {
	var e struct {
		State string `json:"state"`
	}
	_ = json.Unmarshal(m.data, &e)
	return e.State
}

// eventStream is a client of a stream.
type eventStream struct {
	t    *testing.T
	body io.ReadCloser
	in   *bufio.Reader
	id   string // of the last event
}

func (s followable) follow(path string, headers ...string) *eventStream {
	s.t.Helper()
	req, err := http.NewRequest(http.MethodGet, s.URL+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	s.t.Cleanup(cancel)
	res, err := http.DefaultTransport.RoundTrip(req.WithContext(ctx))
	if err != nil {
		s.t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		s.t.Fatalf("%s answers %s, %s", path, res.Status, res.Header.Get("Content-Type"))
	}
	s.t.Cleanup(func() { _ = res.Body.Close() })
	return &eventStream{t: s.t, body: res.Body, in: bufio.NewReader(res.Body)}
}

// next returns the next message; false at the stream's end.
func (e *eventStream) next() (m message, ok bool) {
	e.t.Helper()
	for {
		line, err := e.in.ReadString('\n')
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch {
		case err == io.EOF:
			return m, false
		case err != nil:
			e.t.Fatalf("the stream broke off: %v", err)
		case name == "event":
			m.event = value
		case name == "id":
			m.id, e.id = value, value
		case name == "data":
			m.data = []byte(value)
		case line == "\n" && m.event != "" && m.event != "begin":
			return m, true
		case line == "\n":
			m = message{}
		}
	}
}

// until reads up to an event and returns what came, as words; progress comes at any time
// and is left out.
func (e *eventStream) until(event string) (words []string, last message) {
	e.t.Helper()
	for {
		m, ok := e.next()
		if !ok {
			e.t.Fatalf("the stream ended without %s, after %q", event, words)
		}
		if m.event != "progress" {
			words = append(words, m.event+" "+m.state())
		}
		if m.event == event {
			return words, m
		}
	}
}

func (s followable) finish(i int) {
	s.t.Helper()
	storetest.Finish(s.t, s.db, storetest.Claim(s.t, s.db, s.Trajectories[i].ID, "worker"), 2, true)
}

func TestAStreamTellsWhatHappensUntilTheEnd(t *testing.T) {
	t.Parallel()
	s := startFollowable(t, 2)
	iteration := s.follow("/v1/iterations/" + s.Iteration.ID.String() + "/events")
	trajectory := s.follow("/v1/trajectories/" + s.Trajectories[1].ID.String() + "/events")
	run := s.follow("/v1/runs/" + s.Run.ID.String() + "/events")
	for _, e := range []*eventStream{iteration, trajectory, run} {
		if m, _ := e.next(); m.event != "progress" || e.id != "3" {
			t.Fatalf("it begins with %s at %s", m.event, e.id)
		}
	}
	s.finish(0)
	s.finish(1)
	life := []string{"trajectory running", "trajectory labelling", "trajectory verifying", "trajectory done"}
	got, end := iteration.until("end")
	if want := slices.Concat(life, life, []string{"iteration done", "end done"}); !slices.Equal(got, want) {
		t.Errorf("iteration: %q", got)
	}
	var view api.IterationView
	if err := json.Unmarshal(end.data, &view); err != nil || view.Progress.Resolved != 2 || view.Progress.Turns != 4 {
		t.Errorf("end: %s", end.data)
	}
	if _, more := iteration.next(); more {
		t.Error("something comes after the end")
	}
	if got, _ := trajectory.until("end"); !slices.Equal(got, append(life, "end done")) {
		t.Errorf("trajectory: %q", got)
	}
	if got, _ := run.until("iteration"); len(got) != 9 {
		t.Errorf("run: %q", got)
	}
	if got, _ := s.follow("/v1/iterations/" + s.Iteration.ID.String() + "/events").until("end"); !slices.Equal(got, []string{"end done"}) {
		t.Errorf("who comes when it is over: %q", got)
	}
	if got, _ := s.follow("/v1/iterations/" + s.Iteration.ID.String() + "/events?after=0").until("end"); len(got) != 13 {
		t.Errorf("who wants all: %q", got)
	}
}

func TestAFollowerThatReturnsMissesNothingConcurrently(t *testing.T) {
	t.Parallel()
	s := startFollowable(t, 12)
	path := "/v1/iterations/" + s.Iteration.ID.String() + "/events?after=0"
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range s.Trajectories {
			s.finish(i)
		}
	}()
	seen := map[string]int{}
	e, over := s.follow(path), false
	for n := 0; !over; n++ {
		m, ok := e.next()
		if over = m.event == "end"; !ok {
			t.Fatal("the stream ended early")
		}
		if m.id != "" {
			seen[m.id]++
		}
		if n%5 == 4 && !over { // the line is lost
			_ = e.body.Close()
			e = s.follow(path, "Last-Event-ID", e.id)
		}
	}
	<-done
	for id, n := range seen {
		if n != 1 {
			t.Errorf("event %s came %d times", id, n)
		}
	}
	if want := 1 + 12*5 + 1; len(seen) != want {
		t.Errorf("%d events came, not %d", len(seen), want)
	}
}

func TestAPositionThatIsNotKeptBeginsAnew(t *testing.T) {
	t.Parallel()
	s := startFollowable(t, 1)
	path := "/v1/iterations/" + s.Iteration.ID.String() + "/events"
	s.want(200, s.send(http.MethodHead, path, ""))
	if _, err := s.db.Pool().Exec(context.Background(), "UPDATE events SET at = now() - interval '9 days'"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.PurgeEvents(context.Background(), time.Hour); err != nil {
		t.Fatal(err)
	}
	for _, last := range []string{"1", "999999", "none-of-ours", "-4"} {
		e := s.follow(path, "Last-Event-ID", last)
		if m, _ := e.next(); m.event != "reset" || e.id != "2" {
			t.Errorf("%s: %s at %s", last, m.event, e.id)
		}
		if m, _ := e.next(); m.event != "progress" {
			t.Errorf("%s: then %s", last, m.event)
		}
	}
	s.refused(s.get(path+"?after=x"), 422, relabel.CodeInvalid, "query.after")
	s.refused(s.get(path+"?afer=1"), 422, relabel.CodeInvalid, "query.afer")
	s.refused(s.get("/v1/iterations/"+relabel.NewID().String()+"/events"), 404, relabel.CodeNotFound, "")
	s.refused(s.get("/v1/runs/x/events"), 404, relabel.CodeNotFound, "")
}

// A client that does not read is cut, and gets the rest when it comes back; one that
// reads beside it gets all meanwhile.
func TestASlowReaderIsCutAndGoesOnByItsId(t *testing.T) {
	t.Parallel()
	s := startFollowable(t, 1)
	path := "/v1/iterations/" + s.Iteration.ID.String() + "/events"
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n", path)
	slow := &eventStream{t: t, in: bufio.NewReaderSize(conn, 16)}
	if _, ok := slow.next(); !ok {
		t.Fatal("the stream does not begin")
	}
	quick := s.follow(path)
	const batches, batch = 50, 2000
	for n := range batches {
		_, err := s.db.Pool().Exec(context.Background(), `INSERT INTO events (subject, run_id, iteration_id, trajectory_id, state)
			SELECT 'trajectory', $1, $2, $3, 'step ' || n FROM generate_series($4::int + 1, $4 + $5) n`, s.Run.ID, s.Iteration.ID, s.Trajectories[0].ID, n*batch, batch)
		if err != nil {
			t.Fatal(err)
		}
		for m, ok := quick.next(); m.state() != fmt.Sprint("step ", (n+1)*batch); m, ok = quick.next() {
			if !ok || m.event == "cut" { // a bound is a bound for it too: it comes back
				quick = s.follow(path, "Last-Event-ID", quick.id)
			}
		}
	}
	next, cut := 1, false
	for {
		m, ok := slow.next()
		if m.event == "cut" {
			cut = true
		}
		if !ok {
			break
		}
		if m.event == "trajectory" {
			if m.state() != fmt.Sprint("step ", next) {
				t.Fatalf("%s came in the place of step %d", m.state(), next)
			}
			next++
		}
	}
	if !cut || next > batches*batch {
		t.Fatalf("it was not cut, after %d events", next)
	}
	rest := s.follow(path, "Last-Event-ID", slow.id)
	for ; next <= batches*batch; next++ {
		m, _ := rest.next()
		if m.event == "progress" {
			next--
		} else if m.state() != fmt.Sprint("step ", next) {
			t.Fatalf("%s %s came in the place of step %d", m.event, m.state(), next)
		}
	}
}

// The listening connection is lost: events come all the same.
func TestStreamsOutliveTheirListeningConnection(t *testing.T) {
	t.Parallel()
	s := startFollowable(t, 3)
	e := s.follow("/v1/iterations/" + s.Iteration.ID.String() + "/events")
	for i := range s.Trajectories {
		for killed := 0; killed == 0; { // opened again by the time of the next one
			err := s.db.Pool().QueryRow(context.Background(), `SELECT count(pg_terminate_backend(l.pid)) FROM pg_locks l
				WHERE l.locktype = 'advisory' AND l.mode = 'ShareLock' AND l.granted
				AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
				AND (l.classid::bigint << 32 | l.objid::bigint) = hashtextextended('listeners of ' || current_schema(), 0)`).Scan(&killed)
			if err != nil {
				t.Fatal(err)
			}
		}
		s.finish(i)
	}
	if got, _ := e.until("end"); len(got) != 14 {
		t.Errorf("%q", got)
	}
	_ = e.body.Close()
	for left := 1; left > 0; { // without followers, no connection listens
		if err := s.db.Pool().QueryRow(context.Background(), `SELECT count(*) FROM pg_locks l WHERE l.locktype = 'advisory' AND l.mode = 'ShareLock'
			AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
			AND (l.classid::bigint << 32 | l.objid::bigint) = hashtextextended('listeners of ' || current_schema(), 0)`).Scan(&left); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAServerThatStopsIsNotHeldUpByItsStreams(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	d := storetest.Seed(t, db, 1)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := server.NewHTTP("", server.New(server.Config{Store: db, Log: zerolog.Nop()}))
	go func() { _ = srv.Serve(listener) }()
	res, err := http.Get("http://" + listener.Addr().String() + "/v1/iterations/" + d.Iteration.ID.String() + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	e := &eventStream{t: t, in: bufio.NewReader(res.Body)}
	if m, _ := e.next(); m.event != "progress" {
		t.Fatalf("it begins with %s", m.event)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	if err := srv.Shutdown(ctx); err != nil {
		t.Errorf("the server was held up: %v", err)
	}
	if _, m := e.until("cut"); !strings.Contains(string(m.data), "stops") {
		t.Errorf("%s", m.data)
	}
}

func TestAStreamSaysThatItIsOpenWhereNothingHappens(t *testing.T) {
	t.Parallel()
	s := startFollowable(t, 1)
	s.finish(0)
	e := s.follow("/v1/runs/" + s.Run.ID.String() + "/events")
	begin := make([]byte, len("event: begin\nid: "))
	if _, err := io.ReadFull(e.in, begin); err != nil || string(begin) != "event: begin\nid: " {
		t.Errorf("it begins with %q, %v", begin, err)
	}
}

func TestAStreamEndsWithItsToken(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	s := followable{start(t, func(c *server.Config) { c.Store, c.RequireToken = db, true }), db, storetest.Seed(t, db, 1)}
	secret, err := db.CreateToken(t.Context(), "reader", relabel.ReadAccess)
	if err != nil {
		t.Fatal(err)
	}
	e := s.follow("/v1/runs/"+s.Run.ID.String()+"/events", "Authorization", "Bearer "+secret)
	if err := db.RevokeToken(t.Context(), "reader"); err != nil {
		t.Fatal(err)
	}
	if _, m := e.until("cut"); !strings.Contains(string(m.data), "revoked") { // with the next beat
		t.Errorf("cut: %s", m.data)
	}
}

package server_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"relabel"
	"relabel/server"
)

// limit is how long a test waits for what comes in milliseconds, on a busy machine too.
const limit = 15 * time.Minute

// dial opens a connection to the service and sends text.
func (s *service) dial(text string) net.Conn {
	s.t.Helper()
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(limit)); err != nil {
		s.t.Fatal(err)
	}
	if _, err := io.WriteString(c, text); err != nil {
		s.t.Fatal(err)
	}
	return c
}

// answered reads the answer on a connection, and checks that the connection then ends.
func (s *service) answered(c net.Conn) answerOf {
	s.t.Helper()
	in := bufio.NewReader(c)
	res, err := http.ReadResponse(in, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if !res.Close {
		s.t.Error("the answer does not say that the connection ends")
	}
	if _, err := in.ReadByte(); err == nil {
		s.t.Error("the connection goes on")
	}
	return answerOf{res, b}
}

func head(method, path string, length int) string {
	return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", method, path, length)
}

func TestABodyThatStopsIsTimedOut(t *testing.T) {
	s := start(t, func(c *server.Config) {
		c.Pace = server.Pace{Silence: 50 * time.Millisecond}
		c.Pages = http.NotFoundHandler()
	})
	for _, c := range []struct{ method, path string }{
		{"POST", "/v1/policies"}, {"POST", "/v1/tasksets?name=x"}, {"PATCH", "/v1/runs/" + relabel.NewID().String()},
		{"DELETE", "/v1/runs"}, {"GET", "/v1/runs"}, {"POST", "/sign-in"}, {"POST", "/nowhere"},
	} {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			s := &service{Server: s.Server, t: t, store: s.store}
			a := s.answered(s.dial(head(c.method, c.path, 100) + "{"))
			s.refused(a, 408, "timeout", "body")
		})
	}
}

func TestABodyThatDripsIsTimedOut(t *testing.T) {
	s := start(t, func(c *server.Config) { c.Pace = server.Pace{Silence: limit, Window: 100 * time.Millisecond} })
	c := s.dial(head("POST", "/v1/tasksets?name=x", 100_000))
	go func() {
		for { // until the service ends the connection
			if _, err := io.WriteString(c, "{"); err != nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	s.refused(s.answered(c), 408, "timeout", "body")
}

func TestABodyThatComesInTimeMayBeWorkedOnLonger(t *testing.T) {
	silence := 200 * time.Millisecond
	s := start(t, func(c *server.Config) { c.Pace = server.Pace{Silence: silence} })
	s.store.slow = func() { time.Sleep(2 * silence) }
	s.want(201, s.post("/v1/policies", policyBody))
}

func TestAReaderThatStopsLosesItsAnswerConcurrently(t *testing.T) {
	s := start(t, func(c *server.Config) {
		c.Pace = server.Pace{Silence: 50 * time.Millisecond, Rate: 1 << 40}
		c.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		})
	})
	s.dial("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
	done := make(chan struct{})
	go func() { s.Close(); close(done) }() // it waits for requests that are at work
	select {
	case <-done:
	case <-time.After(limit):
		t.Fatal("the handler still writes to a client that reads nothing")
	}
}

func TestUploadsAreSpooledBoundedAndLeaveNothing(t *testing.T) {
	spool := t.TempDir()
	s := start(t, func(c *server.Config) { c.Spool = spool })
	part := strings.Repeat(" ", 65<<10) // over what is kept in memory
	var open []net.Conn
	deadline := time.Now().Add(limit)
	var refused answerOf
	for refused.Response == nil || refused.StatusCode != 503 { // until four have a place
		if time.Now().After(deadline) {
			t.Fatalf("a fifth upload is answered %v", refused)
		}
		// Each time one more: one that found the upload below in the last place was refused.
		open = append(open, s.dial(head("POST", "/v1/tasksets?name=x", 1<<20)+part))
		refused = s.post("/v1/tasksets?name=x", part, "Content-Type", "application/x-ndjson")
	}
	s.refused(refused, 503, "unavailable", "body")
	if refused.Header.Get("Retry-After") == "" {
		t.Error("it does not say when to retry")
	}
	wantNoFiles(t, spool)
	for _, c := range open {
		c.Close()
	}
	line := fmt.Sprintf(taskLine+"\n", "a__b-1")
	for {
		a := s.post("/v1/tasksets?name=large", part+"\n"+line, "Content-Type", "application/x-ndjson")
		if a.StatusCode == 201 {
			break
		}
		if s.refused(a, 503, "unavailable", "body"); time.Now().After(deadline) {
			t.Fatal("the places are not free again")
		}
	}
}

// wantNoFiles waits until the folder is empty: a file has a name for the moment until it is removed.
func wantNoFiles(t *testing.T, folder string) {
	t.Helper()
	var files []os.DirEntry
	var err error
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if files, err = os.ReadDir(folder); err == nil && len(files) == 0 {
			return
		}
	}
	t.Errorf("%v, %v lie in the spool folder", files, err)
}

func TestALargeBodyIsRefusedBeforeItIsRead(t *testing.T) {
	s := start(t)
	s.refused(s.answered(s.dial(head("POST", "/v1/tasksets?name=x", 8<<30+1))), 413, "too_large", "body")
	s.refused(s.answered(s.dial(head("POST", "/v1/policies", 5<<20))), 413, "too_large", "body")
}

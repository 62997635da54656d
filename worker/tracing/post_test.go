package tracing

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// answers is a collector without a network: its answers one after the other, each a status and perhaps what
// Retry-After says; 0 is none, and -1 a refused connection. It keeps when it was asked.
type answers struct {
	statuses []int
	after    string
	begun    time.Time
	asked    []time.Duration
}

func (a *answers) RoundTrip(req *http.Request) (*http.Response, error) {
	if a.begun.IsZero() {
		a.begun = time.Now()
	}
	a.asked = append(a.asked, time.Since(a.begun))
	status := a.statuses[min(len(a.asked), len(a.statuses))-1]
	switch status {
	case 0:
		<-req.Context().Done()
		return nil, req.Context().Err()
	case -1:
		return nil, syscall.ECONNREFUSED
	}
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Request: req,
		Header: http.Header{"Retry-After": {a.after}, "Location": {"http://elsewhere/"}},
		Body:   io.NopCloser(strings.NewReader("because " + strings.Repeat("x", 1<<20)))}, nil
}

// ask posts one span to the answers, and returns how many were lost.
func (a *answers) ask(t *testing.T, timeout time.Duration) (int64, error) {
	t.Helper()
	c := newCollector(settings{url: "http://c/v1/traces?key=sk-live", timeout: timeout}, envelope{}, "1.2")
	c.client.Transport = a
	ctx, cancel := context.WithTimeout(t.Context(), sendLimit)
	defer cancel()
	return c.post(ctx, [][]byte{{}})
}

func TestFailuresThatMayPassAreRetried(t *testing.T) {
	for _, status := range []int{-1, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout} {
		synctest.Test(t, func(t *testing.T) {
			a := &answers{statuses: []int{status, http.StatusOK}}
			lost, err := a.ask(t, 0)
			if lost != 0 || err != nil || len(a.asked) != 2 {
				t.Fatalf("%d: asked %v, lost %d, %v", status, a.asked, lost, err)
			}
			if pause := a.asked[1]; pause < firstPause/2 || pause > firstPause*3/2 {
				t.Errorf("%d: the second try was after %s", status, pause)
			}
		})
	}
}

func TestOtherFailuresAreNotRetried(t *testing.T) {
	for _, status := range []int{http.StatusBadRequest, http.StatusForbidden, http.StatusInternalServerError, http.StatusPermanentRedirect} {
		synctest.Test(t, func(t *testing.T) {
			a := &answers{statuses: []int{status, http.StatusOK}}
			lost, err := a.ask(t, 0)
			if lost != 1 || err == nil || len(a.asked) != 1 {
				t.Fatalf("%d: asked %v, lost %d, %v", status, a.asked, lost, err)
			}
			if text := err.Error(); !strings.Contains(text, http.StatusText(status)+": because") || len(text) > 2*mostReason {
				t.Errorf("%d: %s", status, text)
			}
		})
	}
}

func TestRetryAfterIsWaitedFor(t *testing.T) {
	for _, date := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			a := &answers{statuses: []int{http.StatusServiceUnavailable, http.StatusOK}, after: "8"}
			if date {
				a.after = time.Now().Add(8 * time.Second).UTC().Format(http.TimeFormat)
			}
			if lost, err := a.ask(t, 0); lost != 0 || err != nil || a.asked[1] != 8*time.Second {
				t.Errorf("asked %v, lost %d, %v", a.asked, lost, err)
			}
		})
	}
}

// All tries of a batch have sendLimit, even if the collector asks for more.
func TestTriesEnd(t *testing.T) {
	for _, after := range []string{"", "3600"} {
		synctest.Test(t, func(t *testing.T) {
			a := &answers{statuses: []int{http.StatusTooManyRequests}, after: after, begun: time.Now()}
			lost, err := a.ask(t, 0)
			if lost != 1 || err == nil || !strings.Contains(err.Error(), "Too Many Requests") || time.Since(a.begun) != sendLimit {
				t.Errorf("asked %v, lost %d after %s, %v", a.asked, lost, time.Since(a.begun), err)
			}
		})
	}
}

// The timeout of the environment is that of one try.
func TestATryThatTakesTooLongIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &answers{statuses: []int{0, http.StatusOK}}
		if lost, err := a.ask(t, time.Second); lost != 0 || err != nil || len(a.asked) != 2 || a.asked[1] < time.Second+firstPause/2 {
			t.Errorf("asked %v, lost %d, %v", a.asked, lost, err)
		}
	})
}

func TestErrorsHaveNoAddress(t *testing.T) {
	err := connectionError(&url.Error{Op: "Post", URL: "http://c/?key=sk-live", Err: io.ErrUnexpectedEOF})
	if err.Error() != io.ErrUnexpectedEOF.Error() {
		t.Errorf("%v", err)
	}
}

func TestAnswersThatNameRejectedSpans(t *testing.T) {
	const proto = "application/x-protobuf"
	for _, c := range []struct {
		kind, answer string
		lost         int64
		says         string
	}{
		{proto, "", 0, ""},
		{proto, "\x0a\x00", 0, ""},
		{proto, "\x0a\x05\x08\x02\x12\x01w", 2, "rejected 2 of 5 spans: w"},
		{proto, "\x0a\x03\x12\x01w", 0, "rejected 0 of 5 spans: w"},
		{proto, "\x1a\x01x\x25\x01\x02\x03\x04\x0a\x02\x08\x63", 5, "rejected 5 of 5"},
		{proto, "\x0a\x05\x08", 5, "cannot be read"},
		{proto, "\x0a\x02\x12\x09", 5, "cannot be read"},
		{proto + "; charset=utf-8", "\x0a\x05\x08\x03\x12\x01w", 3, "rejected 3 of 5 spans: w"},
		{"text/html", "thanks", 0, ""},
	} {
		lost, err := rejected([]byte(c.answer), c.kind, 5)
		if lost != c.lost || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %q: lost %d, %v", c.kind, c.answer, lost, err)
		}
	}
}

// A collector cannot fill the log with what stands before its answer.
func TestErrorsOfStrangeAnswersAreShort(t *testing.T) {
	for _, begin := range []string{"HTTP/1.1 400 ", "HTTP/1.1 ", "SSH-2.0-"} {
		server := say(t, begin+strings.Repeat("x", 1<<20)+"\r\n\r\n")
		_, _, err := newCollector(settings{url: server}, envelope{}, "1.2").try(t.Context(), nil)
		if err == nil || len(err.Error()) > 2*mostHeaders {
			t.Errorf("%s: an error of %d bytes", begin, len(err.Error()))
		}
	}
}

// say returns the address of a server that answers each connection with a text and ends it.
func say(t *testing.T, text string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 4096))
			_, _ = io.WriteString(c, text)
			_ = c.Close()
		}
	}()
	return "http://" + listener.Addr().String()
}

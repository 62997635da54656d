package policy_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"relabel"
	"relabel/policy"
)

const sound = `{"choices":[{"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}]}`

// faulty is an endpoint at a real address that can be made dead in several ways.
type faulty struct {
	*httptest.Server
	way   atomic.Value // "", refuse, hang, reset, 503, 500, 429
	asked atomic.Int64
}

func newFaulty(t *testing.T) *faulty {
	t.Helper()
	f := &faulty{}
	f.way.Store("")
	f.Server = httptest.NewServer(http.HandlerFunc(f.answer))
	t.Cleanup(func() {
		f.CloseClientConnections()
		f.Close()
	})
	return f
}

func (f *faulty) answer(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	completion := strings.HasSuffix(r.URL.Path, "/chat/completions")
	if completion {
		f.asked.Add(1)
	}
	switch way := f.way.Load(); {
	case way == "hang", way == "hang at calls" && completion:
		<-r.Context().Done()
	case way == "reset":
		if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
			c.(*net.TCPConn).SetLinger(0)
			c.Close()
		}
	case way == "503" && completion:
		w.WriteHeader(http.StatusServiceUnavailable)
	case way == "500" && completion:
		w.WriteHeader(http.StatusInternalServerError)
	case way == "429" && completion:
		w.WriteHeader(http.StatusTooManyRequests)
	case completion:
		io.WriteString(w, sound)
	default:
		http.NotFound(w, r)
	}
}

// watched is a client of an endpoint that is watched.
func watched(t *testing.T, base string) (*policy.Client, *policy.Endpoints) {
	t.Helper()
	endpoints := policy.NewEndpoints(policy.Observe{})
	c, err := policy.Open(relabel.Policy{ID: relabel.NewID(), Name: "p", BaseURL: base, Model: "m", Server: relabel.ServerGeneric,
		Sampling: relabel.PaperSampling, Limits: relabel.DefaultPolicyLimits}, policy.Options{Endpoints: endpoints})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	go endpoints.Watch(ctx)
	return c, endpoints
}

// until waits for the client's endpoint to be down, or up.
func until(t *testing.T, c *policy.Client, down bool) string {
	t.Helper()
	limit := time.After(2 * time.Minute)
	for {
		why, changed := c.Down()
		if (why != "") == down {
			return why
		}
		select {
		case <-changed:
		case <-limit:
			t.Fatalf("down %v did not come; it says %q", down, why)
		}
	}
}

func TestADeadEndpointIsDetectedAndRecovers(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"hang", "hang at calls", "reset", "503", "500", "429"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			f := newFaulty(t)
			f.way.Store(way)
			c, endpoints := watched(t, f.URL+"/v1")
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			for range 2 {
				go c.Complete(ctx, relabel.ChatRequest{Messages: []relabel.Message{{Role: relabel.RoleUser, Content: "?"}}, Purpose: relabel.PurposeAct})
			}
			why := until(t, c, true)
			if !strings.HasPrefix(why, f.URL) {
				t.Errorf("it is down because of %q", why)
			}
			if all := endpoints.Standings(); len(all) != 1 || all[0].Down == "" || all[0].Alive {
				t.Errorf("%+v", all)
			}
			cancel() // nobody waits: probes alone find out
			f.way.Store("")
			until(t, c, false)
		})
	}
}

func TestADeadPortIsDetected(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	c, _ := watched(t, "http://"+address+"/v1")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go c.Complete(ctx, relabel.ChatRequest{Messages: []relabel.Message{{Role: relabel.RoleUser, Content: "?"}}, Purpose: relabel.PurposeAct})
	until(t, c, true)
	cancel()
	if l, err = net.Listen("tcp", address); err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc((&faulty{}).sound)}}
	server.Start()
	defer server.Close()
	until(t, c, false)
}

func (*faulty) sound(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, sound) }

func TestASlowAnswerArrivesAlthoughItsEndpointCountedAsDown(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		select {
		case <-release:
		case <-r.Context().Done():
			return
		}
		io.WriteString(w, sound)
	}))
	defer server.Close()
	c, _ := watched(t, server.URL+"/v1")
	got := make(chan error, 1)
	go func() {
		_, err := c.Complete(context.Background(), relabel.ChatRequest{Messages: []relabel.Message{{Role: relabel.RoleUser, Content: "?"}}, Purpose: relabel.PurposeAct})
		got <- err
	}()
	until(t, c, true)
	close(release)
	if err := <-got; err != nil {
		t.Error(err)
	}
	until(t, c, false)
}

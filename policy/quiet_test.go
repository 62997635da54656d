package policy

import (
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"relabel"
)

// quietHosts are replicas that want no requests for now, each with its Retry-After in seconds.
type quietHosts struct {
	mu    sync.Mutex
	until map[string]string
}

func (q *quietHosts) set(host, seconds string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.until == nil {
		q.until = map[string]string{}
	}
	q.until[host] = seconds
}

func (q *quietHosts) serve(host string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q.mu.Lock()
		seconds := q.until[host]
		q.mu.Unlock()
		if seconds == "" {
			good(w, r)
			return
		}
		w.Header().Set("Retry-After", seconds)
		w.WriteHeader(429)
	}
}

func (k *cluster) asked(host string) (n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, h := range k.went {
		if h == host {
			n++
		}
	}
	return n
}

// TestAReplicaThatAsksForAPauseIsSkipped: its trajectories go to their next replica
// at once, ask it nothing before the time that it named, and return then.
func TestAReplicaThatAsksForAPauseIsSkipped(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var quiet quietHosts
		k := openCluster(t, 3, nil, quiet.serve)
		id := relabel.NewID()
		home := k.ask(t, id)
		quiet.set(home, "60")
		begin := time.Now()
		away := k.ask(t, id)
		if took := time.Since(begin); away == home || took > 0 {
			t.Errorf("from %s to %s after %v", home, away, took)
		}
		if c := k.ledger.calls[1]; c.Tries != 2 || c.BaseURL != "http://"+away+"/v1" || c.Error != "" {
			t.Errorf("%+v", c)
		}
		time.Sleep(59 * time.Second)
		if again := k.ask(t, id); again != away || k.asked(home) != 2 {
			t.Errorf("from %s to %s, and %s was asked %d times", away, again, home, k.asked(home))
		}
		quiet.set(home, "")
		time.Sleep(time.Second + backoffBase)
		if back := k.ask(t, id); back != home {
			t.Errorf("after the time that %s named: %s", home, back)
		}
	})
}

// TestWaitersMoveWhenTheirReplicaAsksForAPause: calls wait for a replica that answers an earlier call with
// Retry-After.
func TestWaitersMoveWhenTheirReplicaAsksForAPause(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var quiet quietHosts
		k := openCluster(t, 2, func(p *relabel.Policy) { p.Limits.Concurrency = 1 }, func(host string) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				time.Sleep(time.Second)
				quiet.serve(host)(w, r)
			}
		})
		id := relabel.NewID()
		home := k.ask(t, id)
		quiet.set(home, "100")
		begin := time.Now()
		var work sync.WaitGroup
		for range 10 {
			work.Go(func() { k.ask(t, id) })
		}
		work.Wait()
		if took := time.Since(begin); took > 15*time.Second || k.asked(home) != 2 {
			t.Errorf("took %v, and %s was asked %d times", took, home, k.asked(home))
		}
	})
}

// TestIfAllReplicasPauseTheFirstToReturnIsAsked, before the time that a
// trajectory's own replica named.
func TestIfAllReplicasPauseTheFirstToReturnIsAsked(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var quiet quietHosts
		k := openCluster(t, 3, nil, quiet.serve)
		id := relabel.NewID()
		home := k.ask(t, id)
		hosts := slices.DeleteFunc([]string{"gpu-0", "gpu-1", "gpu-2"}, func(h string) bool { return h == home })
		quiet.set(home, "90")
		quiet.set(hosts[0], "30")
		quiet.set(hosts[1], "60")
		time.AfterFunc(10*time.Second, func() { quiet.set(hosts[0], "") })
		begin := time.Now()
		got := k.ask(t, id)
		if took := time.Since(begin); got != hosts[0] || took < 30*time.Second || took > 30*time.Second+2*backoffBase {
			t.Errorf("%s after %v, not %s", got, took, hosts[0])
		}
	})
}

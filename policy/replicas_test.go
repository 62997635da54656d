package policy

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"relabel"
)

// cluster is a policy with replicas, and where its requests went.
type cluster struct {
	*Client
	network *network
	ledger  *ledger
	stops   []func()

	mu   sync.Mutex
	went []string // hosts, in the order they were asked
}

func openCluster(t *testing.T, replicas int, change func(*relabel.Policy), handler func(host string) http.HandlerFunc) *cluster {
	k := &cluster{network: &network{}, ledger: &ledger{}}
	p := aPolicy(func(p *relabel.Policy) { p.Limits.PatienceSeconds = 600 })
	for i := range replicas {
		host := fmt.Sprintf("gpu-%d", i)
		k.stops = append(k.stops, k.serve(t, host, handler(host)))
		if i == 0 {
			p.BaseURL = "http://" + host + "/v1"
		} else {
			p.Replicas = append(p.Replicas, "http://"+host+"/v1")
		}
	}
	if change != nil {
		change(&p)
	}
	k.Client = openAs(t, p, Options{HTTP: k.network.client(t), Record: k.ledger.record})
	return k
}

func (k *cluster) serve(t *testing.T, host string, handler http.HandlerFunc) (stop func()) {
	return k.network.serve(t, host, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		k.mu.Lock()
		k.went = append(k.went, host)
		k.mu.Unlock()
		handler(w, r)
	}))
}

// ask asks for a turn of a trajectory and returns the host that was asked last.
func (k *cluster) ask(t *testing.T, trajectory relabel.ID) string {
	t.Helper()
	req := hello()
	req.TrajectoryID = trajectory
	if _, err := k.Complete(t.Context(), req); err != nil {
		t.Error(err)
		return ""
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.went[len(k.went)-1]
}

func always200(string) http.HandlerFunc { return good }

func TestATrajectoryKeepsToItsReplica(t *testing.T) {
	bubble(t, func(t *testing.T) {
		k := openCluster(t, 3, nil, always200)
		fewer := openCluster(t, 2, nil, always200) // as another process with one replica less
		count := map[string]int{}
		for range 90 {
			id := relabel.NewID()
			home := k.ask(t, id)
			count[home]++
			if again := k.ask(t, id); again != home {
				t.Errorf("a trajectory of %s goes to %s", home, again)
			}
			if there := fewer.ask(t, id); home != "gpu-2" && there != home {
				t.Errorf("a trajectory of %s moves to %s when gpu-2 is gone", home, there)
			}
		}
		for host, n := range count {
			if n < 12 || n > 50 {
				t.Errorf("%s has %d of 90 trajectories", host, n)
			}
		}
		if len(count) != 3 {
			t.Errorf("%v", count)
		}
	})
}

// TestATrajectoryMovesWhileItsReplicaIsDownAndComesBack stops a replica: its
// trajectories go to their next one, and return once it is up again.
func TestATrajectoryMovesWhileItsReplicaIsDownAndComesBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		k := openCluster(t, 3, nil, always200)
		id := relabel.NewID()
		home := k.ask(t, id)
		i := slices.Index([]string{"gpu-0", "gpu-1", "gpu-2"}, home)
		k.stops[i]()
		begin := time.Now()
		away := k.ask(t, id)
		if took := time.Since(begin); away == home || took > 10*time.Second {
			t.Errorf("from %s to %s in %v", home, away, took)
		}
		if c := k.ledger.calls[1]; c.BaseURL != "http://"+away+"/v1" || c.Error != "" {
			t.Errorf("%+v", c)
		}
		if again := k.ask(t, id); again != away {
			t.Errorf("from %s to %s", away, again)
		}
		k.serve(t, home, good)
		time.Sleep(lastInterval)
		if back := k.ask(t, id); back != home {
			t.Errorf("after %s is up again: %s", home, back)
		}
	})
}

// TestWaitersMoveWhenTheirReplicaGoesDown: calls that are in the queue of a replica
// that hangs are answered by the other as soon as its timeouts tell, and not one by one.
func TestWaitersMoveWhenTheirReplicaGoesDown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		hangs := ""
		k := openCluster(t, 2, func(p *relabel.Policy) { p.Limits.Concurrency = 4 }, func(host string) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				if host == hangs {
					hang(w, r)
					return
				}
				good(w, r)
			}
		})
		id := relabel.NewID()
		hangs = k.ask(t, id)
		begin := time.Now()
		var work sync.WaitGroup
		for range 40 {
			work.Go(func() {
				if host := k.ask(t, id); host == hangs {
					t.Errorf("%s answered", host)
				}
			})
		}
		work.Wait()
		if took := time.Since(begin); took > 95*time.Second { // of 30 s: the first four, then a probe or two
			t.Errorf("took %v", took)
		}
	})
}

// TestAllReplicasDown: calls wait until any replica is up.
func TestAllReplicasDown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		k := openCluster(t, 3, nil, always200)
		for _, stop := range k.stops {
			stop()
		}
		up := time.Now().Add(3 * time.Minute)
		time.AfterFunc(3*time.Minute, func() { k.serve(t, "gpu-1", good) })
		var work sync.WaitGroup
		for range 20 {
			work.Go(func() { k.ask(t, relabel.NewID()) })
		}
		work.Wait()
		if late := time.Since(up); late > lastInterval+time.Second {
			t.Errorf("all were answered %v after a replica was back", late)
		}
		for _, c := range k.ledger.calls {
			if c.Error != "" || c.BaseURL != "http://gpu-1/v1" {
				t.Errorf("%+v", c)
			}
		}
	})
}

func TestAllReplicasStayDown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		k := openCluster(t, 2, func(p *relabel.Policy) { p.Limits.PatienceSeconds = 120 }, always200)
		k.stops[0]()
		k.stops[1]()
		begin := time.Now()
		_, err := k.Complete(t.Context(), hello())
		if took := time.Since(begin); relabel.CodeOf(err) != relabel.CodeEndpoint || took < 2*time.Minute || took > 2*time.Minute+lastInterval {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

// TestASecondReplicaIsAskedIfTheFirstHangs: the second answer wins, the first request
// is cancelled, and both are recorded.
func TestASecondReplicaIsAskedIfTheFirstHangs(t *testing.T) {
	bubble(t, func(t *testing.T) {
		cancelled := make(chan struct{})
		var once sync.Once
		k := openCluster(t, 2, func(p *relabel.Policy) {
			p.Limits.HedgeAfterSeconds = 5
			p.Price = &relabel.Price{Input: 1, Cached: 1, Output: 2, Currency: "USD"}
		}, func(string) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				first := false
				once.Do(func() { first = true })
				if first {
					hang(w, r)
					close(cancelled)
					return
				}
				good(w, r)
			}
		})
		begin := time.Now()
		k.ask(t, relabel.NewID())
		if took := time.Since(begin); took != 5*time.Second {
			t.Errorf("answered after %v", took)
		}
		<-cancelled
		if len(k.ledger.calls) != 2 {
			t.Fatalf("%d records", len(k.ledger.calls))
		}
		lost, won := k.ledger.calls[0], k.ledger.calls[1]
		if !won.Hedged || !lost.Hedged || won.Error != "" || lost.Error == "" || won.BaseURL == lost.BaseURL || won.CostMicros == nil || *won.CostMicros != 5 || lost.CostMicros != nil || lost.Usage != nil || lost.Tries != 1 {
			t.Errorf("won %+v\nlost %+v", won, lost)
		}
		for _, l := range k.replicas {
			if l.inFlight != 0 {
				t.Errorf("%d in flight at %s", l.inFlight, l.at.base)
			}
		}
	})
}

func TestNoSecondReplicaIsAskedBeforeTheHedgeTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		slowly := func(string) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) { time.Sleep(4 * time.Second); good(w, r) }
		}
		for _, after := range []int{0, 5} {
			k := openCluster(t, 2, func(p *relabel.Policy) { p.Limits.HedgeAfterSeconds = after }, slowly)
			k.ask(t, relabel.NewID())
			if c := k.ledger.only(t); c.Hedged || len(k.went) != 1 {
				t.Errorf("%+v", c)
			}
		}
	})
}

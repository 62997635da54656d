package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"relabel"
	"relabel/mixer/schedule"
	"relabel/policy/scripted"
)

// unruly is a model server that now and then refuses, breaks, hangs or talks nonsense.
// It records each request with its time.
type unruly struct {
	*models
	mu     sync.Mutex
	random *rand.Rand
	rages  bool
	silent time.Time           // until when it is away
	times  map[int64][]request // by the request's seed, which names its turn and role
	broke  map[int64]bool      // it was answered with a 500
	wakes  []time.Time         // when a stopped worker went on
}

// request is one that came, and whether it was answered.
type request struct {
	at       time.Time
	answered bool
}

func newUnruly(t *testing.T, l *lab, seed uint64) *unruly {
	t.Helper()
	u := &unruly{random: rand.New(rand.NewPCG(seed, 2)), rages: true, times: map[int64][]request{}, broke: map[int64]bool{}}
	u.models = newModels(t, l, scripted.Config{})
	u.models.url = listenFor(t, u) + "/v1"
	return u
}

// ServeHTTP answers, most of the time.
func (u *unruly) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var q struct {
		Model string
		Seed  int64
	}
	if err == nil && r.Method == http.MethodPost {
		err = json.Unmarshal(body, &q)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	n, delay, fault := u.receive(q.Model, q.Seed)
	select {
	case <-time.After(delay):
	case <-r.Context().Done():
		return
	}
	switch fault {
	case faultNone:
		answer := httptest.NewRecorder()
		u.models.ServeHTTP(answer, r)
		u.answer(q.Seed, n)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	case faultBusy:
		w.Header().Set("Retry-After", "1")
		http.Error(w, `{"error":{"message":"slow down"}}`, http.StatusTooManyRequests)
	case faultAway:
		http.Error(w, "no healthy upstream", http.StatusServiceUnavailable)
	case faultBroken:
		http.Error(w, "upstream broke", http.StatusInternalServerError)
	case faultHang:
		<-r.Context().Done()
	case faultDrop:
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte(`{"id":"chatcmpl-`))
		panic(http.ErrAbortHandler)
	case faultGarbage:
		_, _ = w.Write([]byte("<html>welcome</html>"))
	}
}

// What goes wrong with a request.
const (
	faultNone = iota
	faultBusy
	faultAway
	faultBroken
	faultHang
	faultDrop
	faultGarbage
)

var faults = []int{faultNone, faultBusy, faultAway, faultBroken, faultHang, faultDrop, faultGarbage}

// receive records a request and returns its outcome.
func (u *unruly) receive(model string, seed int64) (n int, delay time.Duration, fault int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	n = len(u.times[seed])
	u.times[seed] = append(u.times[seed], request{at: time.Now()})
	if !u.rages {
		return n, 0, faultNone
	}
	delay = 200 * time.Millisecond
	if model == scripted.TeacherModel {
		delay = 600 * time.Millisecond // labels come late
	}
	silent := time.Now().Before(u.silent)
	if silent || u.random.IntN(100) < 6 {
		fault = 1 + u.random.IntN(len(faults)-1)
	}
	if fault == faultBroken && u.broke[seed] {
		fault = faultHang // a second 500 is taken for the request's own fault, and fails it
	}
	if silent && fault != faultHang {
		delay = 0
	}
	u.broke[seed] = u.broke[seed] || fault == faultBroken
	return n, delay, fault
}

func (u *unruly) answer(seed int64, n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.times[seed][n].answered = true
}

// away keeps it from answering anybody for a while.
func (u *unruly) away(d time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.silent = time.Now().Add(d)
}

// calm makes it reliable and quick.
func (u *unruly) calm() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.rages = false
}

// woken records that a stopped worker resumes: it then sends the requests that it had begun.
func (u *unruly) woken(at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.wakes = append(u.wakes, at)
}

// check fails if a label was requested after it was stored.
func (u *unruly) check(t *testing.T, c *chaos) {
	u.mu.Lock()
	defer u.mu.Unlock()
	requests, again, late := 0, 0, 0
	for place, label := range c.watcher.labels {
		seed := schedule.CallSeed(place.trajectory.place, place.t, relabel.Teacher)
		answered := 0
		for _, r := range u.times[seed] {
			requests++
			if r.answered {
				answered++
			}
			if r.at.After(label.since) {
				if u.justWoken(r.at) {
					late++
					continue
				}
				t.Errorf("the label of turn %d of %+v was stored by %s and asked for again at %s", place.t, place.trajectory.place,
					label.since.Format(time.StampMilli), r.at.Format(time.StampMilli))
			}
		}
		if answered == 0 {
			t.Errorf("the label of turn %d of %+v was never answered", place.t, place.trajectory.place)
		}
		again += max(answered-1, 0)
	}
	t.Logf("%d requests for %d labels; %d answers did not come to be stored; %d were sent by a worker that had slept", requests, len(c.watcher.labels), again, late)
}

// justWoken reports whether a stopped worker went on shortly before.
func (u *unruly) justWoken(at time.Time) bool {
	for _, w := range u.wakes {
		if d := at.Sub(w); d >= 0 && d < time.Second {
			return true
		}
	}
	return false
}

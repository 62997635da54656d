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

// faultyModels is a model server that sometimes refuses, breaks, hangs or sends garbage. It records
// each request with its time.
type faultyModels struct {
	*models
	mu      sync.Mutex
	random  *rand.Rand
	faulty  bool
	silent  time.Time           // until then it does not answer
	times   map[int64][]request // by the request's seed, which identifies turn and role
	broke   map[int64]bool      // the answer was a 500
	resumes []time.Time         // when a stopped worker resumed
}

// request is a received request.
type request struct {
	at       time.Time
	answered bool
}

func newFaultyModels(t *testing.T, l *lab, seed uint64) *faultyModels {
	t.Helper()
	u := &faultyModels{random: rand.New(rand.NewPCG(seed, 2)), faulty: true, times: map[int64][]request{}, broke: map[int64]bool{}}
	u.models = newModels(t, l, scripted.Config{})
	u.models.url = listenFor(t, u) + "/v1"
	return u
}

// ServeHTTP answers, most of the time.
func (u *faultyModels) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
func (u *faultyModels) receive(model string, seed int64) (n int, delay time.Duration, fault int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	n = len(u.times[seed])
	u.times[seed] = append(u.times[seed], request{at: time.Now()})
	if !u.faulty {
		return n, 0, faultNone
	}
	delay = 200 * time.Millisecond
	if model == scripted.TeacherModel {
		delay = 600 * time.Millisecond // labels are slow
	}
	silent := time.Now().Before(u.silent)
	if silent || u.random.IntN(100) < 6 {
		fault = 1 + u.random.IntN(len(faults)-1)
	}
	if fault == faultBroken && u.broke[seed] {
		fault = faultHang // a second 500 counts as the request's fault and fails it
	}
	if silent && fault != faultHang {
		delay = 0
	}
	u.broke[seed] = u.broke[seed] || fault == faultBroken
	return n, delay, fault
}

func (u *faultyModels) answer(seed int64, n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.times[seed][n].answered = true
}

// away makes it silent for a while.
func (u *faultyModels) away(d time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.silent = time.Now().Add(d)
}

// stopFaults makes it reliable and fast.
func (u *faultyModels) stopFaults() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.faulty = false
}

// resumed records that a stopped worker resumes: it then sends the requests that it had begun.
func (u *faultyModels) resumed(at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.resumes = append(u.resumes, at)
}

// check fails if a label was requested after it was stored.
func (u *faultyModels) check(t *testing.T, c *chaos) {
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
				if u.justResumed(r.at) {
					late++
					continue
				}
				t.Errorf("the label of turn %d of %+v was stored by %s and requested again at %s", place.t, place.trajectory.place,
					label.since.Format(time.StampMilli), r.at.Format(time.StampMilli))
			}
		}
		if answered == 0 {
			t.Errorf("the label of turn %d of %+v was never answered", place.t, place.trajectory.place)
		}
		again += max(answered-1, 0)
	}
	t.Logf("%d requests for %d labels; %d answers were not stored; %d requests came from workers that had been stopped", requests, len(c.watcher.labels), again, late)
}

// justResumed reports whether a stopped worker resumed shortly before.
func (u *faultyModels) justResumed(at time.Time) bool {
	for _, w := range u.resumes {
		if d := at.Sub(w); d >= 0 && d < time.Second {
			return true
		}
	}
	return false
}

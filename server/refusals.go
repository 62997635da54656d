package server

import (
	"sync"
	"time"

	"relabel"
)

// How many refused requests of a caller have an entry each in the audit log.
const (
	refusalsListed = 60 // in refusalPeriod; the last of these counts the others
	refusalPeriod  = time.Hour
	mostRefused    = 10_000 // callers that are counted separately
)

// refusals counts refused requests by caller. It is safe for concurrent use.
type refusals struct {
	mu      sync.Mutex
	callers map[string]*refused
}

// refused are those of one caller in a period.
type refused struct {
	since  time.Time
	listed int
	last   relabel.ID // the entry that counts further ones
}

func newRefusals() *refusals { return &refusals{callers: map[string]*refused{}} }

// next notes a refused request with its entry. counts reports whether it is to be counted at
// another entry, at.
func (f *refusals) next(caller string, entry relabel.ID, now time.Time) (at relabel.ID, counts bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.callers[caller] == nil && len(f.callers) >= mostRefused {
		f.forget(now)
		if len(f.callers) >= mostRefused {
			caller = "" // all further ones together
		}
	}
	r := f.callers[caller]
	if r == nil || now.Sub(r.since) > refusalPeriod {
		r = &refused{since: now}
		f.callers[caller] = r
	}
	if r.listed == refusalsListed {
		return r.last, true
	}
	r.listed++
	r.last = entry
	return relabel.ID{}, false
}

// forget makes room: callers whose period is over go.
func (f *refusals) forget(now time.Time) {
	for caller, r := range f.callers {
		if now.Sub(r.since) > refusalPeriod {
			delete(f.callers, caller)
		}
	}
}

// callerKey identifies a caller by its token, a browser by its address.
func callerKey(c relabel.Caller) string {
	switch {
	case c.Session != "":
		return "session " + addressKey(c.Address)
	case c.TokenSHA256 != "":
		return "token " + c.TokenSHA256
	}
	return "local"
}

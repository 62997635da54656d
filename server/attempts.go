package server

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// How unknown tokens are slowed down.
const (
	freeFailures   = 5                // of an address before its first pause
	longestPause   = time.Minute      // of an address
	forgetAfter    = 15 * time.Minute // without a failure an address is as new
	mostAddresses  = 10_000           // that are remembered
	mostKnown      = 1000             // tokens that were right, which never wait
	failuresPerSec = 20               // of all addresses together
	failuresBurst  = 200
)

// Attempts slows down the guessing of tokens: each failure doubles an address's wait, up to a
// minute, and all addresses together may fail 20 times a second. A token that this process has
// accepted never waits, so an attacker cannot lock out legitimate users of the same address.
// Memory is bounded. It is safe for concurrent use.
type Attempts struct {
	Now func() time.Time // nil: time.Now

	mu        sync.Mutex
	addresses map[string]failures
	known     map[string]bool // hex SHA-256 of tokens that were right
	budget    float64         // failures that all addresses may still have
	filled    time.Time       // when budget was last filled up
}

// failures are those of one address in a row.
type failures struct {
	count int
	last  time.Time
}

// NewAttempts returns an Attempts that has seen nothing.
func NewAttempts() *Attempts {
	return &Attempts{addresses: map[string]failures{}, known: map[string]bool{}, budget: failuresBurst}
}

// Wait is how long a caller at this address has to wait before a token with this hex
// SHA-256 is looked at; 0: not at all.
func (a *Attempts) Wait(remoteAddr, sha256 string) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known[sha256] {
		return 0
	}
	now := a.now()
	f := a.addresses[addressKey(remoteAddr)]
	if left := f.last.Add(pauseAfter(f.count)).Sub(now); left > 0 {
		return left
	}
	if a.fill(now); a.budget < 1 {
		return time.Second
	}
	return 0
}

// Failed notes that a token was wrong.
func (a *Attempts) Failed(remoteAddr, sha256 string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now, key := a.now(), addressKey(remoteAddr)
	delete(a.known, sha256) // it was revoked
	a.fill(now)
	a.budget--
	f := a.addresses[key]
	if now.Sub(f.last) > forgetAfter {
		f.count = 0
	}
	if _, there := a.addresses[key]; !there && len(a.addresses) >= mostAddresses {
		a.forget(now)
	}
	a.addresses[key] = failures{f.count + 1, now}
}

// Succeeded notes that a token was right.
func (a *Attempts) Succeeded(remoteAddr, sha256 string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.addresses, addressKey(remoteAddr))
	if len(a.known) >= mostKnown {
		clear(a.known) // those that are in use come back with their next request
	}
	a.known[sha256] = true
}

func (a *Attempts) now() time.Time {
	if a.Now != nil {
		return a.Now()
	}
	return time.Now()
}

// fill adds the allowance for the time since the last call.
func (a *Attempts) fill(now time.Time) {
	if !a.filled.IsZero() {
		a.budget = min(failuresBurst, a.budget+now.Sub(a.filled).Seconds()*failuresPerSec)
	}
	a.filled = now
}

// forget makes room for an address: it removes addresses whose wait has ended or, if there are
// none, all. The common bound of all addresses remains.
func (a *Attempts) forget(now time.Time) {
	for key, f := range a.addresses {
		if now.Sub(f.last) > longestPause {
			delete(a.addresses, key)
		}
	}
	if len(a.addresses) >= mostAddresses {
		clear(a.addresses)
	}
}

// pauseAfter is the pause after count failures: 1, 2, 4 … 60 seconds.
func pauseAfter(count int) time.Duration {
	if count < freeFailures {
		return 0
	}
	return min(longestPause, time.Second<<min(count-freeFailures, 10))
}

// addressKey is an address without its port; of IPv6 the /64 that one host commonly has.
func addressKey(remoteAddr string) string {
	host, _, err := net.SplitHostPort(remoteAddr)
	if err != nil {
		host = remoteAddr
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || ip.Unmap().Is4() {
		return host
	}
	if prefix, err := ip.WithZone("").Prefix(64); err == nil {
		return prefix.String()
	}
	return host
}

package policy

import "time"

// burstSeconds is how many seconds' worth of the limit may be used at once. The use of a minute exceeds
// the limit by at most that.
const burstSeconds = 1

// bucket holds an allowance that is refilled evenly. It may be overdrawn, so that large requests are not
// starved by small ones; the next request waits until it is refilled.
type bucket struct {
	perMinute float64 // 0: no limit
	level     float64
	at        time.Time // time of level
}

// set changes the allowance, and then fills the bucket.
func (b *bucket) set(perMinute int, now time.Time) {
	if b.perMinute != float64(perMinute) {
		*b = bucket{perMinute: float64(perMinute), at: now}
		b.level = b.most()
	}
}

// most is its capacity: burstSeconds' worth, at least one.
func (b *bucket) most() float64 { return max(1, b.perMinute*burstSeconds/60) }

func (b *bucket) flow(now time.Time) {
	if now.After(b.at) {
		b.level = min(b.most(), b.level+b.perMinute*now.Sub(b.at).Minutes())
		b.at = now
	}
}

// wait is how long until need is available. Need is at most one: the rest is overdrawn.
func (b *bucket) wait(need float64, now time.Time) time.Duration {
	if b.perMinute == 0 {
		return 0
	}
	b.flow(now)
	lack := need - b.level
	if lack <= 1e-9 {
		return 0
	}
	return time.Duration(lack/b.perMinute*float64(time.Minute)) + 1
}

// take takes n, or returns them if n is negative.
func (b *bucket) take(n float64, now time.Time) {
	if b.perMinute == 0 {
		return
	}
	b.flow(now)
	b.level = min(b.most(), b.level-n)
}

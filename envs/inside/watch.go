package inside

import (
	"sync"
	"time"
)

// watch is the dead man's switch: it calls expire once, after too long without contact or at the
// deadline. Only the goroutine that serves the host uses it.
type watch struct {
	expire   func()
	silence  *time.Timer
	deadline *time.Timer // nil for none
}

// newWatch starts a watch that waits for the first contact.
func newWatch(first time.Duration, expire func()) *watch {
	expire = sync.OnceFunc(expire)
	return &watch{expire: expire, silence: time.AfterFunc(first, expire)}
}

// silentFor restarts the time without contact; 0 means no limit.
func (w *watch) silentFor(d time.Duration) {
	if d > 0 {
		w.silence.Reset(d)
	} else {
		w.silence.Stop()
	}
}

// until sets the deadline; the zero time means none.
func (w *watch) until(t time.Time) {
	if !t.IsZero() {
		w.deadline = time.AfterFunc(time.Until(t), w.expire)
	}
}

func (w *watch) stop() {
	w.silence.Stop()
	if w.deadline != nil {
		w.deadline.Stop()
	}
}

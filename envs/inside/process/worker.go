package process

import "runtime"

// worker calls functions on one operating-system thread of its own, which has credentials of
// its own. A nil worker calls them on the caller's thread.
type worker struct{ calls chan func() }

// newWorker starts a thread and prepares it. The thread lives as long as the process.
func newWorker(prepare func() error) (*worker, error) {
	w, ready := &worker{calls: make(chan func())}, make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: no other goroutine may get these credentials
		if err := prepare(); err != nil {
			ready <- err
			return
		}
		ready <- nil
		for call := range w.calls {
			call()
		}
	}()
	return w, <-ready
}

// do calls f and returns when it has returned.
func (w *worker) do(f func()) {
	if w == nil {
		f()
		return
	}
	done := make(chan struct{})
	w.calls <- func() {
		defer close(done)
		f()
	}
	<-done
}

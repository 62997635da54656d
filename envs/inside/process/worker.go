package process

import "runtime"

// worker calls functions on an operating-system thread with its own credentials. A nil worker calls
// them on the caller's thread.
type worker struct{ calls chan func() }

// newWorker starts a thread, which runs until the process ends, and prepares it.
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

// do calls f and waits for its return.
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

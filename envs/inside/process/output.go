package process

// Ends keeps the beginning and the end of a command's output. It emits the first bytes up to the limit
// at once, so that they are sent while the command runs, and also keeps the last bytes in a ring, in
// case the output exceeds the limit.
type Ends struct {
	emit  func([]byte)
	limit int   // bytes that are kept in all
	total int64 // bytes of output
	ring  []byte
	next  int // where the ring continues once it is full
}

// NewEnds returns Ends that keep limit bytes in all and pass them to emit.
func NewEnds(limit int, emit func([]byte)) *Ends {
	return &Ends{emit: emit, limit: max(limit, 0)}
}

// head and tail are the bytes that are kept of the beginning and the end of output that is too long.
func (e *Ends) head() int { return e.limit / 2 }
func (e *Ends) tail() int { return e.limit - e.limit/2 }

// Write adds the next bytes of the output.
func (e *Ends) Write(p []byte) {
	if room := int64(e.limit) - e.total; room > 0 {
		e.emit(p[:min(int64(len(p)), room)])
	}
	if skip := int64(e.head()) - e.total; skip < int64(len(p)) {
		e.remember(p[max(skip, 0):])
	}
	e.total += int64(len(p))
}

// remember writes p into the ring.
func (e *Ends) remember(p []byte) {
	if over := len(p) - e.tail(); over >= 0 {
		e.ring, e.next = append(e.ring[:0], p[over:]...), 0
		return
	}
	n := min(e.tail()-len(e.ring), len(p))
	e.ring = append(e.ring, p[:n]...)
	for p = p[n:]; len(p) > 0; p = p[n:] {
		n = copy(e.ring[e.next:], p)
		e.next = (e.next + n) % len(e.ring)
	}
}

// Finish emits the end if output was cut. It returns the number of bytes of the beginning, of bytes
// emitted before the end, and of dropped bytes.
func (e *Ends) Finish() (kept, streamed int, dropped int64) {
	if e.total <= int64(e.limit) {
		return int(e.total), int(e.total), 0
	}
	e.emit(e.ring[e.next:])
	e.emit(e.ring[:e.next])
	return e.head(), e.limit, e.total - int64(e.limit)
}

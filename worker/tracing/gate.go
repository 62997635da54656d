package tracing

import (
	"context"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// Bounds of the spans that wait for the collector.
const (
	mostSpans = 8192
	mostBytes = 64 << 20
	mostBatch = 512
	sendLimit = 10 * time.Second // of a batch, with its retries
	complain  = time.Minute      // between two lines in the log
)

// post sends encoded spans. It returns how many of them the collector did not take, and why.
type post func(ctx context.Context, spans [][]byte) (lost int64, err error)

// gate takes spans without waiting, and sends them in batches: when one is full, and in intervals.
type gate struct {
	post     post
	log      zerolog.Logger
	queue    chan []byte
	sending  context.Context
	stop     context.CancelFunc // of sending
	finished chan struct{}

	mu           sync.Mutex
	closed       bool
	spans, bytes int // that wait, or are being sent
	counts       Counts
	complained   time.Time
}

func newGate(to post, interval time.Duration, log zerolog.Logger) *gate {
	g := &gate{post: to, log: log, queue: make(chan []byte, mostSpans), finished: make(chan struct{})}
	g.sending, g.stop = context.WithCancel(context.Background())
	go g.run(interval)
	return g
}

// add takes a span, or drops it if too many wait.
func (g *gate) add(span []byte) {
	if !g.admit(span) {
		g.say(nil, lostSpans)
	}
}

func (g *gate) admit(span []byte) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed || g.spans == mostSpans || g.bytes+len(span) > mostBytes {
		g.counts.Dropped++
		return false
	}
	g.spans++
	g.bytes += len(span)
	g.queue <- span // it has room for mostSpans
	return true
}

// close sends the spans that wait, for closeLimit at most; the rest then counts as failed.
func (g *gate) close() {
	g.mu.Lock()
	if !g.closed {
		g.closed = true
		close(g.queue)
	}
	g.mu.Unlock()
	defer time.AfterFunc(closeLimit, g.stop).Stop()
	<-g.finished
}

func (g *gate) run(interval time.Duration) {
	defer close(g.finished)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	var batch [][]byte
	for open := true; open; {
		var span []byte
		select {
		case span, open = <-g.queue:
			if open {
				batch = append(batch, span)
			}
			if open && len(batch) < mostBatch {
				continue
			}
		case <-tick.C:
		}
		g.send(batch)
		batch = nil
	}
}

// send sends a batch and counts what the collector took.
func (g *gate) send(batch [][]byte) {
	if len(batch) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(g.sending, sendLimit)
	defer cancel()
	lost, err := g.post(ctx, batch)
	g.mu.Lock()
	g.counts.Failed += lost
	g.counts.Sent += int64(len(batch)) - lost
	g.spans -= len(batch)
	for _, span := range batch {
		g.bytes -= len(span)
	}
	g.mu.Unlock()
	switch {
	case lost > 0:
		g.say(err, lostSpans)
	case err != nil:
		g.say(err, "the collector took all spans, with a warning")
	}
}

func (g *gate) count() Counts {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.counts
}

const lostSpans = "the collector does not take spans; rollouts continue without them"

// say logs that spans are lost, now and then.
func (g *gate) say(err error, message string) {
	g.mu.Lock()
	now, c := time.Now(), g.counts
	due := now.Sub(g.complained) >= complain
	if due {
		g.complained = now
	}
	g.mu.Unlock()
	if due {
		g.log.Warn().AnErr("cause", err).Int64("failed", c.Failed).Int64("dropped", c.Dropped).Msg(message)
	}
}

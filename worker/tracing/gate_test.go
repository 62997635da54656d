package tracing

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
)

// held is a collector that takes nothing until it is closed.
type held chan struct{}

func (h held) post(context.Context, [][]byte) (int64, error) {
	<-h
	return 0, nil
}

func TestDroppedSpansDoNotCountAmongThoseThatWait(t *testing.T) {
	to := make(held)
	g := newGate(to.post, time.Hour, zerolog.Nop())
	span := span{name: "turn"}.encode(limits{})
	for range mostSpans + 1000 {
		g.add(span)
	}
	if g.counts.Dropped != 1000 || g.spans != mostSpans || g.bytes != mostSpans*len(span) {
		t.Errorf("%d are dropped, and %d of %d bytes wait", g.counts.Dropped, g.spans, g.bytes)
	}
	close(to)
	g.close()
	if g.counts.Sent != mostSpans || g.spans != 0 || g.bytes != 0 {
		t.Errorf("%d are sent, and %d of %d bytes wait", g.counts.Sent, g.spans, g.bytes)
	}
	g.add(span)
	if g.counts.Dropped != 1001 {
		t.Error("a closed gate takes a span")
	}
}

// One span is sent after the interval, and a full batch at once.
func TestSpansAreSentInIntervalsAndWhenABatchIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := make(chan int, 10)
		g := newGate(func(_ context.Context, spans [][]byte) (int64, error) {
			sent <- len(spans)
			return 0, nil
		}, time.Second, zerolog.Nop())
		g.add([]byte("a"))
		synctest.Wait()
		if len(sent) != 0 {
			t.Fatalf("%d batches are sent before the interval", len(sent))
		}
		time.Sleep(time.Second)
		synctest.Wait()
		for range mostBatch {
			g.add([]byte("b"))
		}
		synctest.Wait()
		if n := len(sent); n != 2 {
			t.Fatalf("%d batches are sent", n)
		}
		if one, full := <-sent, <-sent; one != 1 || full != mostBatch {
			t.Errorf("batches of %d and %d spans are sent", one, full)
		}
		g.close()
	})
}

// A batch is given up after sendLimit, and Close after closeLimit. What is not sent then has failed.
func TestASilentCollectorIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(func(ctx context.Context, spans [][]byte) (int64, error) {
			<-ctx.Done()
			return int64(len(spans)), ctx.Err()
		}, time.Second, zerolog.Nop())
		begun := time.Now()
		g.add([]byte("a"))
		time.Sleep(time.Second + sendLimit)
		synctest.Wait()
		if c := g.count(); c != (Counts{Failed: 1}) {
			t.Errorf("counted %+v", c)
		}
		for range 2 * mostBatch {
			g.add([]byte("b"))
		}
		g.close()
		if c := g.count(); c != (Counts{Failed: 1 + 2*mostBatch}) || time.Since(begun) != time.Second+sendLimit+closeLimit {
			t.Errorf("counted %+v after %s", c, time.Since(begun))
		}
	})
}

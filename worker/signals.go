package worker

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// sameSignal is the time within which two signals count as one: timeout(1) sends a signal to
// the process and to its group.
const sameSignal = 20 * time.Millisecond

// hurryKey is the context key of the channel that the second signal closes.
type hurryKey struct{}

// WithSignals returns a context that the first SIGINT or SIGTERM ends, for an orderly shutdown.
// A second one hurries it, see Hurried. A third one ends the process at once.
func WithSignals(ctx context.Context) context.Context {
	signals, hurry := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx, stop := context.WithCancel(context.WithValue(ctx, hurryKey{}, hurry))
	go func() {
		<-signals
		stop()
		for first := time.Now(); time.Since(first) < sameSignal; {
			<-signals
		}
		signal.Stop(signals)
		close(hurry)
	}()
	return ctx
}

// Hurried returns a channel that the second signal closes. Without WithSignals it is nil.
func Hurried(ctx context.Context) <-chan struct{} {
	hurry, _ := ctx.Value(hurryKey{}).(chan struct{})
	return hurry
}

package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// sameSignal is how long after a signal the next one is not yet another.
const sameSignal = 20 * time.Millisecond

// hurryKey is where a context keeps what says that its user is in a hurry.
type hurryKey struct{}

// withSignals returns a context that a first SIGINT or SIGTERM ends: an orderly stop. A
// second one asks for haste, see hurried. A third ends the process at once. What comes
// right after the first is the first once more: timeout(1) sends it to the process and
// to its group.
func withSignals(ctx context.Context) context.Context {
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

// hurried is closed when a second signal has come. It never is without withSignals.
func hurried(ctx context.Context) <-chan struct{} {
	hurry, _ := ctx.Value(hurryKey{}).(chan struct{})
	return hurry
}

package main

import (
	"context"
	"errors"
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

// Stop drains: nothing more is claimed, each turn in hand is finished and committed, and
// its trajectory given back to the queue. When the grace is over, or on a second signal,
// what is still at work is cut and given back. A second Stop returns what the first did.
func (w *work) Stop(ctx context.Context) error {
	w.stopped.Do(func() { w.stopError = w.stop(ctx) })
	return w.stopError
}

func (w *work) stop(ctx context.Context) error {
	w.draining.Store(true)
	w.mixer.Drain()
	w.label.Drain()
	w.log.Info().Dur("grace", w.grace).Msg("stopping: turns in hand are finished, then their trajectories go back to the queue; a second signal cuts them")
	hurry := hurried(ctx)
	ctx = context.WithoutCancel(ctx)
	patient, cancel := context.WithTimeout(ctx, w.grace)
	defer cancel()
	go func() {
		select {
		case <-hurry:
			cancel()
		case <-patient.Done():
		}
	}()
	if err := w.db.SeeWorker(patient, w.seen()); err != nil {
		w.log.Warn().Err(err).Msg("the others are not told of the stop")
	}
	err := w.river.Stop(patient)
	released, waited := w.mixer.Wait(patient)
	if err = errors.Join(err, waited); err != nil {
		released, err = w.cut(ctx)
	}
	w.endLooks()
	w.looks.Wait()
	w.log.Info().Int("given_back", released).Msg("drained: what was not finished went back to the queue, with every turn that was committed")
	return errors.Join(err, w.db.ForgetWorker(ctx, w.me.Name), w.host.Close())
}

// cut ends what is at work now. It is given back, without its turn in hand.
func (w *work) cut(ctx context.Context) (released int, err error) {
	w.log.Warn().Msg("turns in hand are cut")
	ctx, cancel := context.WithTimeout(ctx, cutPatience)
	defer cancel()
	w.mixer.Cut()
	err = w.river.StopAndCancel(ctx)
	released, waited := w.mixer.Wait(ctx)
	return released, errors.Join(err, waited)
}

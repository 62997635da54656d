package worker

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"relabel"
)

// cancelLimit bounds the release of cancelled work at a stop.
const cancelLimit = 60 * time.Second

// Store keeps workers.
type Store interface {
	// SeeWorker records a worker and its state.
	SeeWorker(ctx context.Context, w relabel.Worker) error
	ForgetWorker(ctx context.Context, name string) error
}

// Queue starts jobs.
type Queue interface {
	Start(ctx context.Context) error
	// Stop starts no more jobs and waits for running ones; StopAndCancel cancels these.
	Stop(ctx context.Context) error
	StopAndCancel(ctx context.Context) error
}

// Rollouts are what the queue's jobs roll out.
type Rollouts interface {
	// Drain requests the release of every trajectory after its running turn.
	Drain()
	// Cut cancels running turns; Wait waits for the end of everything and returns how many
	// trajectories were released.
	Cut()
	Wait(ctx context.Context) (released int, err error)
}

// Config is what a Worker needs.
type Config struct {
	Store    Store
	Queue    Queue
	Rollouts Rollouts
	Drain    []func()       // of the other work
	Me       relabel.Worker // this process; Self adds its engines and state
	Engines  func() []relabel.Engine
	Recover  func(ctx context.Context) error       // runs before the queue starts
	Services []Service                             // run from the queue's start to its end
	Hurry    func(context.Context) <-chan struct{} // closed when a stop must not wait; nil never
	Grace    time.Duration                         // for running turns at a stop
	Close    func() error                          // runs at the end of a stop
	Log      zerolog.Logger
}

// Worker is the part of a process that works: the queue's jobs and the services beside them.
type Worker struct {
	Config
	draining  atomic.Bool
	stopped   sync.Once
	stopError error
}

// New returns a Worker.
func New(c Config) (*Worker, error) {
	return &Worker{Config: c}, require("worker", requirement{"Store", c.Store != nil}, requirement{"Queue", c.Queue != nil},
		requirement{"Rollouts", c.Rollouts != nil}, requirement{"Engines", c.Engines != nil}, requirement{"Recover", c.Recover != nil},
		requirement{"Close", c.Close != nil}, requirement{"Grace", c.Grace >= 0})
}

// Draining reports whether Stop was called.
func (w *Worker) Draining() bool { return w.draining.Load() }

// Self returns this process as other processes see it.
func (w *Worker) Self() relabel.Worker {
	me := w.Me
	me.DockerHosts, me.TaskKinds = nil, nil
	works := false
	for _, e := range w.Engines() {
		name := e.Name
		if e.Problem != "" {
			name += " (out: " + e.Problem + ")"
		}
		works = works || e.Problem == ""
		me.DockerHosts = append(me.DockerHosts, name)
	}
	if works && me.Rollouts > 0 {
		me.TaskKinds = append(me.TaskKinds, relabel.Repair, relabel.Terminal)
	}
	if me.Searches > 0 {
		me.TaskKinds = append(me.TaskKinds, relabel.Localise)
	}
	if w.Draining() {
		me.State = relabel.WorkerDraining
	}
	return me
}

// Start recovers abandoned work, then starts the queue and the services. They run until Stop,
// also after ctx's end.
func (w *Worker) Start(ctx context.Context) error {
	if err := w.Recover(ctx); err != nil {
		return err
	}
	if err := w.Queue.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	for _, s := range w.Services {
		s.Start(ctx)
	}
	return nil
}

// Stop drains: nothing more is claimed, each running turn is finished and committed, and its
// trajectory is released to the queue. After the grace time, or when Hurry is closed, the
// remaining work is cancelled and released. A second Stop returns what the first returned.
func (w *Worker) Stop(ctx context.Context) error {
	w.stopped.Do(func() { w.stopError = w.stop(ctx) })
	return w.stopError
}

func (w *Worker) stop(ctx context.Context) error {
	w.draining.Store(true)
	w.Rollouts.Drain()
	for _, drain := range w.Drain {
		drain()
	}
	w.Log.Info().Dur("grace", w.Grace).Msg("shutting down: finishing running turns (signal again to cancel)")
	patient, cancel := w.patience(ctx)
	defer cancel()
	ctx = context.WithoutCancel(ctx)
	if err := w.Store.SeeWorker(patient, w.Self()); err != nil {
		w.Log.Warn().Err(err).Msg("cannot publish the shutdown")
	}
	err := w.Queue.Stop(patient)
	released, waited := w.Rollouts.Wait(patient)
	if err = errors.Join(err, waited); err != nil {
		released, err = w.cut(ctx)
	}
	for _, s := range slices.Backward(w.Services) {
		s.Stop()
	}
	w.Log.Info().Int("released", released).Msg("shut down: released unfinished trajectories to the queue with all committed turns")
	return errors.Join(err, w.Store.ForgetWorker(ctx, w.Me.Name), w.Close())
}

// patience returns a context that ends with the grace time, or when Hurry is closed.
func (w *Worker) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	var hurry <-chan struct{}
	if w.Hurry != nil {
		hurry = w.Hurry(ctx)
	}
	patient, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.Grace)
	go func() {
		select {
		case <-hurry:
			cancel()
		case <-patient.Done():
		}
	}()
	return patient, cancel
}

// cut cancels all work. Trajectories are released without their running turn.
func (w *Worker) cut(ctx context.Context) (released int, err error) {
	w.Log.Warn().Msg("cancelling running turns")
	ctx, cancel := context.WithTimeout(ctx, cancelLimit)
	defer cancel()
	w.Rollouts.Cut()
	err = w.Queue.StopAndCancel(ctx)
	released, waited := w.Rollouts.Wait(ctx)
	return released, errors.Join(err, waited)
}

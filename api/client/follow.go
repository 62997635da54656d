package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"strings"
	"time"

	"relabel"
	"relabel/api"
)

// How a stream is kept.
const (
	silenceLimit   = 45 * time.Second       // without a byte, heartbeats included: three are missing, the connection is dead
	reconnectPause = 500 * time.Millisecond // between two tries
	waitingAfter   = 2 * time.Second        // of an outage Waiting is called
	patience       = 10 * time.Minute       // with a server that is away
	longestEvent   = 4 << 20                // and longest line, in bytes
)

// Event is an event of a stream.
type Event struct {
	// Name is the subject of a change (run, iteration, trajectory, export), or begin,
	// progress, end, reset or cut: see GET /v1/events.
	Name string
	ID   string          // position in the stream; empty: unchanged
	Data json.RawMessage // a relabel.Event, or what the stream shows of its resource
}

// errBroken says that a stream ended before its end event.
var errBroken = errors.New("the server's stream broke off")

// Follow hands the events of a trajectory, an iteration, a run or (the zero scope) everything
// to use, until use returns done or an error, the stream's end event was used, or ctx ends.
// It connects again where the connection breaks or the server restarts, from the last event
// that came. CodeUnavailable if the server stays away for ten minutes.
func (c *Client) Follow(ctx context.Context, scope relabel.EventScope, use func(Event) (done bool, err error)) error {
	f := &following{Client: c, path: streamPath(scope), use: use}
	for {
		err := f.read(ctx)
		switch code := relabel.CodeOf(err); {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case f.failed != nil:
			return f.failed
		case code != relabel.CodeInternal && code != relabel.CodeUnavailable:
			return err
		}
		if err := f.wait(ctx, err); err != nil {
			return err
		}
	}
}

// FollowIteration shows an iteration first and whenever its counts have changed, until it is
// over, and returns it as it is then.
func (c *Client) FollowIteration(ctx context.Context, id relabel.ID, show func(api.IterationView)) (it api.IterationView, err error) {
	err = c.Follow(ctx, relabel.EventScope{IterationID: id}, func(e Event) (bool, error) {
		if e.Name != "progress" && e.Name != "end" {
			return false, nil
		}
		it = api.IterationView{} // or its maps would keep what is no longer there
		if err := json.Unmarshal(e.Data, &it); err != nil {
			return false, err
		}
		show(it)
		return e.Name == "end", nil
	})
	return it, err
}

func streamPath(scope relabel.EventScope) string {
	none := relabel.ID{}
	switch {
	case scope.TrajectoryID != none:
		return at("trajectories", scope.TrajectoryID.String(), "events")
	case scope.IterationID != none:
		return at("iterations", scope.IterationID.String(), "events")
	case scope.RunID != none:
		return at("runs", scope.RunID.String(), "events")
	}
	return at("events")
}

// following is a stream over all its connections.
type following struct {
	*Client
	path   string
	use    func(Event) (bool, error)
	last   string    // position of the last event that came
	lost   time.Time // since when nothing came; zero: something did
	told   bool      // Waiting was called for this outage
	failed error     // of use, or an event that is too large
}

// wait waits before the next connection.
func (f *following) wait(ctx context.Context, why error) error {
	if f.lost.IsZero() {
		f.lost = time.Now()
	}
	away := time.Since(f.lost)
	if away > patience {
		return relabel.Errorf(relabel.CodeUnavailable, "the server has not answered for %s (%v); the workers continue", patience, why).Because(why)
	}
	if away > waitingAfter && !f.told && f.Waiting != nil {
		f.told = true
		f.Waiting()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(reconnectPause):
	}
	if f.Find != nil {
		f.Base = f.Find(f.Base)
	}
	return nil
}

// read reads one connection. It returns nil if use was done or the end event was used.
func (f *following) read(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	header := http.Header{}
	if f.last != "" {
		header.Set("Last-Event-ID", f.last)
	}
	silence := time.AfterFunc(silenceLimit, cancel)
	defer silence.Stop()
	res, err := f.open(ctx, http.MethodGet, f.path, file{}, header)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind != "text/event-stream" {
		return relabel.Errorf(relabel.CodeUnavailable, "%s answered %.100q, not an event stream", f.Base, kind)
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, longestEvent)
	var e Event
	for lines.Scan() {
		silence.Reset(silenceLimit) // a comment is a heartbeat: the connection is alive
		if lines.Text() != "" {
			if e.add(lines.Text()); len(e.Data) > longestEvent {
				break
			}
			continue
		}
		if done, err := f.hand(e); done || err != nil {
			return err
		}
		e = Event{}
	}
	if len(e.Data) > longestEvent || errors.Is(lines.Err(), bufio.ErrTooLong) {
		f.failed = relabel.Errorf(relabel.CodeUnavailable, "an event of %s is over %d MiB", f.Base, longestEvent>>20)
		return f.failed
	}
	return errors.Join(errBroken, lines.Err())
}

// add takes a line of an event.
func (e *Event) add(line string) {
	name, value, _ := strings.Cut(line, ":")
	value = strings.TrimPrefix(value, " ")
	switch name {
	case "event":
		e.Name = value
	case "id":
		e.ID = value
	case "data":
		e.Data = append(e.Data, value...)
	}
}

// hand gives a whole event to use.
func (f *following) hand(e Event) (done bool, err error) {
	if e.Name == "" {
		return false, nil
	}
	if e.ID != "" {
		f.last = e.ID
	}
	f.lost, f.told = time.Time{}, false
	done, f.failed = f.use(e)
	return done || e.Name == "end", f.failed
}

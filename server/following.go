package server

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"relabel"
)

// following is one client's stream.
type following struct {
	*stream
	site    *site
	request *http.Request
	what    followed
	me      *follower
	after   int64 // number of the last event that it has
}

// beginNow begins with the current state, at the last event.
func (f *following) beginNow(lost bool, last int64, now []json.RawMessage) {
	f.after = last
	f.begin(last)
	if lost {
		f.send("reset", 0, notice{"events after the one that you had are no longer kept; what follows shows how things stand"})
	}
	f.showAll("progress", now)
}

func (f *following) showAll(event string, views []json.RawMessage) {
	for _, v := range views {
		f.send(event, 0, v)
	}
}

// run sends the missed events and then new ones, until the resource is final, the client
// disconnects or is too slow, or the server stops.
func (f *following) run(ctx context.Context, over bool) error {
	ended, err := f.catchUp(ctx)
	if err == nil && ended && !over { // since it was looked at; or it runs again by now
		_, over, err = f.what.show(ctx)
	}
	switch {
	case err != nil:
		return err
	case over:
		return f.finish(ctx)
	}
	beat, life := time.NewTicker(beatPeriod), time.NewTimer(longestLife)
	defer beat.Stop()
	defer life.Stop()
	for f.err == nil {
		select {
		case <-ctx.Done():
			return nil
		case <-stopping(ctx):
			return f.cutOff("the server stops")
		case <-life.C:
			return f.cutOff("the stream has been open for an hour")
		case <-f.me.cut:
			return f.cutOff("events came faster than you read them")
		case <-beat.C:
			if f.beat(); !f.site.mayRead(f.request) {
				return f.cutOff("your token was revoked, or you have signed out")
			}
		case now := <-f.me.progress:
			f.showAll("progress", now)
		case e := <-f.me.events:
			if done, err := f.pass(ctx, e); done || err != nil {
				return err
			}
		}
	}
	return nil // the client is gone
}

// catchUp sends the events from before this follower joined; ended reports whether one of them
// may have been the last.
func (f *following) catchUp(ctx context.Context) (ended bool, err error) {
	for f.err == nil {
		events, err := f.site.Store.ListEvents(ctx, f.what.scope, f.after, eventPage)
		if err != nil {
			return ended, err
		}
		for _, e := range events {
			f.send(string(e.Subject), e.Number, e)
			f.after = e.Number
			ended = ended || f.ends(e)
		}
		if len(events) < eventPage {
			break
		}
	}
	return ended, nil
}

// pass sends an event that catchUp has not sent, and the end if it was the last.
func (f *following) pass(ctx context.Context, e relabel.Event) (done bool, err error) {
	if e.Number <= f.after {
		return false, nil
	}
	f.send(string(e.Subject), e.Number, e)
	f.after = e.Number
	if !f.ends(e) {
		return false, nil
	}
	if _, over, err := f.what.show(ctx); err != nil || !over {
		return false, err // it runs again by now
	}
	return true, f.finish(ctx)
}

// ends reports whether an event may be the last one of the followed resource.
func (f *following) ends(e relabel.Event) bool {
	switch e.Subject {
	case relabel.EventTrajectory:
		return f.what.scope.TrajectoryID != relabel.ID{} && relabel.TrajectoryState(e.State).Terminal()
	case relabel.EventIteration:
		return f.what.scope.IterationID != relabel.ID{} && e.State != string(relabel.IterationRunning)
	}
	return false
}

// finish sends the end.
func (f *following) finish(ctx context.Context) error {
	now, _, err := f.what.show(ctx)
	if err == nil {
		f.showAll("end", now)
	}
	return err
}

// cutOff ends a stream that is not over.
func (f *following) cutOff(reason string) error {
	f.send("cut", 0, notice{reason})
	return nil
}

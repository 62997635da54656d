package server

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"relabel"
)

const (
	beatPeriod  = 15 * time.Second
	longestLife = time.Hour // of a stream
)

// followed is a resource whose events can be followed.
type followed struct {
	scope relabel.EventScope
	// show returns the current state of the resource, and whether it is final.
	show func(ctx context.Context) (now []json.RawMessage, over bool, err error)
}

func (s *site) addEvents() {
	s.followers = &followers{store: s.Store, log: s.Log, all: map[*follower]struct{}{},
		progress: func(ctx context.Context, scope relabel.EventScope) ([]json.RawMessage, error) {
			now, _, err := s.followedScope(scope).show(ctx)
			return now, err
		}}
	s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[relabel.Event](), true, "Event")
	s.addStream("/v1/events", "runs", "follow-all", "Follow everything",
		"State changes of all runs, iterations, trajectories and exports. The stream does not end; its progress is that of GET /v1/overview.",
		func(relabel.ID) relabel.EventScope { return relabel.EventScope{} })
	s.addStream("/v1/runs/{id}/events", "runs", "follow-run", "Follow a run",
		"State changes of its iterations, trajectories and exports. The stream does not end.",
		func(id relabel.ID) relabel.EventScope { return relabel.EventScope{RunID: id} })
	s.addStream("/v1/iterations/{id}/events", "runs", "follow-iteration", "Follow an iteration",
		"State changes of the iteration and its trajectories, until the iteration ends.",
		func(id relabel.ID) relabel.EventScope { return relabel.EventScope{IterationID: id} })
	s.addStream("/v1/trajectories/{id}/events", "trajectories", "follow-trajectory", "Follow a trajectory",
		"Its state changes, until it ends.",
		func(id relabel.ID) relabel.EventScope { return relabel.EventScope{TrajectoryID: id} })
}

// addStream serves a stream, which huma leaves to net/http.
func (s *site) addStream(path, tag, id, summary, description string, scope func(relabel.ID) relabel.EventScope) {
	op := operation(http.MethodGet, path, tag, id, summary, description+" Server-sent events: run, iteration, trajectory and export carry an Event and its number as id; "+
		"begin has the position of a stream that was requested without one; progress contains the resource as its own operation returns it, at the start and when its counts have changed; end contains the same and is the last; reset means that events after the given one are no longer stored; "+
		"cut has the reason why the stream ends early. Reconnect with the last id to continue there. A comment every 15 seconds keeps the connection open.")
	text, uuid := huma.TypeString, "uuid"
	op.Parameters = []*huma.Param{
		{Name: "after", In: "query", Description: "Number of the last event that the client knows; 0: all stored events. Without it the stream starts now.", Schema: &huma.Schema{Type: huma.TypeInteger, Format: "int64", Minimum: new(float64)}},
		{Name: "Last-Event-ID", In: "header", Description: "The same, as browsers send it when they reconnect; it takes precedence over after.", Schema: &huma.Schema{Type: text}},
	}
	if strings.Contains(path, "{id}") {
		op.Parameters = append(op.Parameters, &huma.Param{Name: "id", In: "path", Required: true, Description: "Its id.", Schema: &huma.Schema{Type: text, Format: uuid}})
	}
	op.Responses = map[string]*huma.Response{"200": {Description: "The stream.",
		Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: text}}}}}
	describeErrors(s, &op)
	s.describeProblems(&op)
	s.api.OpenAPI().AddOperation(&op)
	s.router.Get(path, func(w http.ResponseWriter, r *http.Request) {
		var id relabel.ID
		var err error
		if strings.Contains(path, "{id}") {
			id, err = relabel.ParseID("path.id", chi.URLParam(r, "id"))
		}
		if err == nil {
			err = s.follow(w, r, s.followedScope(scope(id)))
		}
		if err != nil {
			s.refuse(w, r, err)
		}
	})
}

// followedScope returns how the resource of a scope is shown.
func (s *site) followedScope(scope relabel.EventScope) followed {
	switch none := (relabel.ID{}); {
	case scope.TrajectoryID != none:
		return followed{scope, func(ctx context.Context) ([]json.RawMessage, bool, error) {
			j, err := s.Store.FindTrajectory(ctx, scope.TrajectoryID)
			return encoded(j.State.Terminal(), err, j)
		}}
	case scope.IterationID != none:
		return followed{scope, func(ctx context.Context) ([]json.RawMessage, bool, error) {
			view, err := s.viewIteration(ctx, scope.IterationID)
			if err != nil {
				return nil, false, err
			}
			return encoded(view.Body.State != relabel.IterationRunning, nil, view.Body)
		}}
	}
	if scope == (relabel.EventScope{}) {
		return followed{scope, func(ctx context.Context) ([]json.RawMessage, bool, error) {
			all, err := s.Overview(ctx)
			return encoded(false, err, all)
		}}
	}
	return followed{scope, func(ctx context.Context) ([]json.RawMessage, bool, error) { return s.showRunning(ctx, scope.RunID) }}
}

// showRunning shows a run's iterations that are running.
func (s *site) showRunning(ctx context.Context, run relabel.ID) ([]json.RawMessage, bool, error) {
	if _, err := s.Store.FindRun(ctx, run); err != nil {
		return nil, false, err
	}
	its, err := s.Store.ListIterations(ctx, run)
	if err != nil {
		return nil, false, err
	}
	var views []any
	for _, it := range its {
		if it.State != relabel.IterationRunning {
			continue
		}
		view, err := s.viewIteration(ctx, it.ID)
		if err != nil {
			return nil, false, err
		}
		views = append(views, view.Body)
	}
	return encoded(false, nil, views...)
}

func encoded(over bool, err error, views ...any) ([]json.RawMessage, bool, error) {
	if err != nil {
		return nil, false, err
	}
	all := make([]json.RawMessage, len(views))
	for i, v := range views {
		if all[i], err = json.Marshal(v); err != nil {
			return nil, false, err
		}
	}
	return all, over, nil
}

// position reads the client's last event number; given is false without one.
func position(r *http.Request) (after int64, given bool, err error) {
	query := r.URL.Query()
	for name := range query {
		if name != "after" {
			return 0, false, relabel.Errorf(relabel.CodeInvalid, "there is no such parameter").On("query." + name)
		}
	}
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		if after, err := strconv.ParseInt(last, 10, 64); err == nil && after >= 0 {
			return after, true, nil
		}
		return -1, true, nil // not one of our numbers: reset the client
	}
	if !query.Has("after") {
		return 0, false, nil
	}
	after, err = strconv.ParseInt(query.Get("after"), 10, 64)
	if err != nil || after < 0 {
		return 0, false, relabel.Errorf(relabel.CodeInvalid, "not the number of an event").On("query.after")
	}
	return after, true, nil
}

// follow answers with a stream. An error is for the time before it has begun.
func (s *site) follow(w http.ResponseWriter, r *http.Request, what followed) error {
	after, given, err := position(r)
	if err != nil {
		return err
	}
	ctx := r.Context()
	// What is seen to be over here has its last event among those that are caught up with.
	_, over, err := what.show(ctx)
	if err != nil {
		return err
	}
	kept := given
	if given && after != 0 {
		if kept, err = s.Store.KeepsEvents(ctx, after); err != nil {
			return err
		}
	}
	me, err := s.followers.join(ctx, what.scope)
	if err != nil {
		return err
	}
	defer s.followers.leave(me)
	last, err := s.Store.PublishEvents(ctx)
	if err != nil {
		return err
	}
	now, overNow, err := what.show(ctx)
	if err != nil {
		return err
	}
	f := &following{stream: openStream(w), site: s, request: r, what: what, me: me, after: after}
	if r.Method == http.MethodHead {
		return nil
	}
	if !kept {
		f.beginNow(given, last, now)
		over = overNow
	}
	noteCause(ctx, f.run(ctx, over))
	return nil
}

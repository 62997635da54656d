package labeller_test

import (
	"errors"
	"net/http"
	"testing"

	"relabel"
	"relabel/labeller"
	"relabel/policy"
	"relabel/policy/scripted"
)

func TestARelabelingWhoseEndpointIsDownReleasesItsSlot(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, d := done(t)
	e := newEndpoint(t, scripted.Config{})
	e.before = func(_ int64, w http.ResponseWriter) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
	other := e.policy(t, s, "other")
	other.Limits.PatienceSeconds = 3600 // it would wait for as long as that
	_, err := s.RelabelTrajectory(ctx, d.Trajectories[0].ID, other.ID, 0)
	must(t, err)
	w := worker(s, s, "w", labeller.BatchBounds{})
	c, err := policy.Open(other, policy.Options{Record: s.RecordCall})
	must(t, err)
	w.World.Policy = func(relabel.Policy) (labeller.Policy, error) { return c, nil }
	w.World.Down = func(relabel.Policy) (string, <-chan struct{}) { return c.Down() }
	if err := w.Relabel(ctx); !errors.Is(err, labeller.ErrReleased) {
		t.Fatalf("error %v", err)
	}
	must(t, s.SeeEndpoints(ctx, "w", []relabel.EndpointStatus{{URL: e.url, Down: "503"}}))
	if err := w.Relabel(ctx); relabel.CodeOf(err) != relabel.CodeNotFound {
		t.Errorf("it is claimed while its endpoint is down: %v", err)
	}
}

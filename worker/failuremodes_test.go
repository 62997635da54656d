package worker_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/worker"
)

// refusing is a store of trajectories of which some cannot be classified.
type refusing struct {
	waiting, refused []relabel.ID
	done             *[]relabel.ID
}

func (r refusing) ClassifyNext(_ context.Context, except []relabel.ID, _ func(relabel.FailureEvidence, func(func(relabel.Turn)) error) (relabel.FailureFinding, error)) (relabel.ID, error) {
	for _, id := range r.waiting {
		switch {
		case slices.Contains(except, id) || slices.Contains(*r.done, id):
		case slices.Contains(r.refused, id):
			return id, errors.New("no row can hold it")
		default:
			*r.done = append(*r.done, id)
			return id, nil
		}
	}
	return relabel.ID{}, nil
}

func TestATrajectoryThatCannotBeClassifiedKeepsNoOtherWaiting(t *testing.T) {
	t.Parallel()
	ids := []relabel.ID{relabel.NewID(), relabel.NewID(), relabel.NewID()}
	var done []relabel.ID
	m, err := worker.NewFailureModes(worker.FailureModesConfig{Store: refusing{ids, ids[:1], &done}})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.RunNow(context.Background()); err == nil || !strings.Contains(err.Error(), ids[0].String()) {
		t.Errorf("the error is %v", err)
	}
	if !slices.Equal(done, ids[1:]) {
		t.Errorf("%v are classified, want %v", done, ids[1:])
	}
}

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

func TestTrajectoriesThatCannotBeClassifiedKeepNoOtherWaiting(t *testing.T) {
	t.Parallel()
	ids := make([]relabel.ID, 252)
	for i := range ids {
		ids[i] = relabel.NewID()
	}
	var done []relabel.ID
	m, err := worker.NewFailureModes(worker.FailureModesConfig{Store: refusing{ids, ids[:250], &done}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		err := m.RunNow(context.Background())
		if first := ids[100*i].String(); err == nil || !strings.Contains(err.Error(), first) || len(err.Error()) > 1000 {
			t.Errorf("call %d: the error is %v", i, err)
		}
	}
	if !slices.Equal(done, ids[250:]) {
		t.Errorf("%v are classified, want %v", done, ids[250:])
	}
}

package policy

import (
	"context"
	"errors"
	"testing"

	"relabel"
)

func TestAnAnswerMayBeReturnedBeforeItsCallIsRecorded(t *testing.T) {
	b := open(t, good, nil)
	record, may := b.record, make(chan struct{})
	b.record = func(ctx context.Context, c relabel.Call) error {
		<-may
		return record(ctx, c)
	}
	req := hello()
	req.Beside = true
	done, err := b.Complete(t.Context(), req)
	if err != nil || len(done.Raw) == 0 {
		t.Fatal(err)
	}
	close(may)
	if err := done.Recorded(); err != nil || b.ledger.only(t).Status != 200 {
		t.Error(err)
	}
	b.ledger.err = errors.New("no database")
	if done, err = b.Complete(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := done.Recorded(); relabel.CodeOf(err) != relabel.CodeUnavailable {
			t.Error(err)
		}
	}
}

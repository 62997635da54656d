package policy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
)

// drip yields a large body and then nothing more until it ends.
type drip struct {
	sent bytes.Reader
	held chan struct{}
	more chan struct{}
}

func newDrip() *drip {
	d := &drip{held: make(chan struct{}), more: make(chan struct{})}
	d.sent.Reset(make([]byte, usualAnswer+1))
	return d
}

func (d *drip) Read(p []byte) (int, error) {
	if n, err := d.sent.Read(p); err == nil {
		return n, nil
	}
	close(d.held)
	<-d.more
	return 0, errors.New("the connection broke")
}

func TestSlowAnswersDoNotDelayOthers(t *testing.T) {
	drips := make([]*drip, 2*largeAtOnce)
	ended := make(chan error, len(drips))
	for i := range drips {
		drips[i] = newDrip()
		go func() {
			_, free, err := readBody(context.Background(), drips[i], maxAnswer)
			free()
			ended <- err
		}()
		<-drips[i].held
	}
	want := bytes.Repeat([]byte("answer "), usualAnswer/4)
	got, free, err := readBody(context.Background(), bytes.NewReader(want), maxAnswer)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes of %d, %v", len(got), len(want), err)
	}
	free()
	for _, d := range drips {
		close(d.more)
	}
	for range drips {
		if err := <-ended; err == nil {
			t.Error("an answer that broke off is whole")
		}
	}
}

func TestNoMoreThanTheLimitIsReadOfALargeAnswer(t *testing.T) {
	got, free, err := readBody(context.Background(), io.LimitReader(zeros{}, 2*maxAnswer), maxAnswer)
	defer free()
	if err != nil || len(got) != maxAnswer+1 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

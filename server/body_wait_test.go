package server

import (
	"context"
	"testing"
	"testing/synctest"

	"relabel"
)

// TestAnUploadDoesNotWaitWithoutEndToBeParsed runs with a clock of its own.
func TestAnUploadDoesNotWaitWithoutEndToBeParsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slots := newBodySlots()
		leave, err := slots.beginParse(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := slots.beginParse(context.Background()); relabel.CodeOf(err) != relabel.CodeBusy {
			t.Errorf("while another file is parsed: %v", err)
		}
		leave()
		if _, err := slots.beginParse(context.Background()); err != nil {
			t.Errorf("after it: %v", err)
		}
	})
}

func TestFewBodiesAreReadConcurrently(t *testing.T) {
	t.Parallel()
	slots, ctx := newBodySlots(), context.Background()
	var leave []func()
	for range bodiesRead {
		l, err := slots.beginRead(ctx, smallBody)
		if err != nil {
			t.Fatal(err)
		}
		leave = append(leave, l)
	}
	if _, err := slots.beginRead(ctx, freeBody); err != nil {
		t.Errorf("a small body waits: %v", err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := slots.beginRead(gone, freeBody+1); err == nil {
		t.Error("one more body is read")
	}
	leave[0]()
	leave[0]() // twice is once
	if _, err := slots.beginRead(ctx, smallBody); err != nil {
		t.Error(err)
	}
	if _, err := slots.beginRead(gone, freeBody+1); err == nil {
		t.Error("a turn was released twice")
	}
}

func TestTheTurnToReadEndsWithTheReading(t *testing.T) {
	t.Parallel()
	slots := newBodySlots()
	leave, err := slots.beginRead(context.Background(), smallBody)
	if err != nil {
		t.Fatal(err)
	}
	endRead(context.WithValue(context.Background(), readKey{}, leave))
	if len(slots.read) != 0 {
		t.Error("the turn goes on while the request is carried out")
	}
}

// TestOneIterationIsDrawnAtATime runs with a clock of its own.
func TestOneIterationIsDrawnAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slots := newBodySlots()
		leave, err := slots.beginDraw(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := slots.beginDraw(context.Background()); relabel.CodeOf(err) != relabel.CodeBusy {
			t.Errorf("while another one is drawn: %v", err)
		}
		leave()
		if _, err := slots.beginDraw(context.Background()); err != nil {
			t.Errorf("after it: %v", err)
		}
	})
}

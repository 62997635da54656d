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

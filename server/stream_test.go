package server

import (
	"net/http/httptest"
	"testing"
)

// TestTheHeadOfAStreamIsSentAtOnce holds that a stream which goes on from a position keeps no
// turn to build an answer until something happens.
func TestTheHeadOfAStreamIsSentAtOnce(t *testing.T) {
	w, slots := httptest.NewRecorder(), newAnswerSlots()
	leave, err := slots.begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	openStream(&boundAnswer{ResponseWriter: w, leave: leave})
	if !w.Flushed || w.Header().Get("Content-Type") != "text/event-stream" || len(slots.building) > 0 {
		t.Errorf("flushed: %v, head %v, %d answers being built", w.Flushed, w.Header(), len(slots.building))
	}
}

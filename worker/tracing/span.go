package tracing

import (
	"time"

	"relabel"
)

// span is one span, whose times are known when it is sent.
type span struct {
	place      place
	id         spanID // zero: any
	parent     spanID
	name       string
	kind       kind
	begun      time.Time
	ended      time.Time
	attributes []attribute
	failed     relabel.Code // what went wrong; "" for nothing
	links      []link
}

// kind says what a span is of. The numbers are those of OTLP.
type kind uint64

const (
	kindInternal kind = 1
	kindClient   kind = 3 // a call of another process
)

// attribute is a property of a span. Its value is a string, an int, an int64, a float64 or a list of strings; any
// other value is sent as its text.
type attribute struct {
	key   string
	value any
}

// link refers to a span of another place.
type link struct {
	place place
	id    spanID
}

// limits bound what is sent of a span.
type limits struct {
	value      limit // characters of a text
	attributes limit
	links      limit
}

// limit is a largest number; a negative one is no limit.
type limit int

// of returns how many of n are within the limit.
func (l limit) of(n int) int {
	if l < 0 {
		return n
	}
	return min(n, int(l))
}

// cut returns the first characters of a text.
func (l limit) cut(s string) string {
	for i := range s {
		if l == 0 {
			return s[:i]
		}
		l--
	}
	return s
}

package jinja

import (
	"fmt"
	"strings"
)

// writeKey writes the hash key of a tuple's item so that different ones stay different.
func writeKey(b *strings.Builder, k any) {
	text := fmt.Sprintf("%T:%v", k, k)
	fmt.Fprintf(b, "%d:%s", len(text), text)
}

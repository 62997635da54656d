package e2e

import (
	"fmt"

	"relabel/e2e/e2etest"
)

var (
	noError    = e2etest.NoError
	eventually = e2etest.Eventually
	bounded    = e2etest.Bounded
	listenFor  = e2etest.Listen
	write      = e2etest.Write
	git        = e2etest.Git
)

// truth formats a value that may be nil.
func truth(b *bool) string {
	if b == nil {
		return "nil"
	}
	return fmt.Sprint(*b)
}

package shardtest

import (
	"testing"

	"relabel/shard/tokenizers"
)

// Tokenizers opens any folder of this machine by its path, such as Student's.
func Tokenizers(t testing.TB) *tokenizers.Opener {
	t.Helper()
	opener, err := tokenizers.NewOpener(nil, "/")
	if err != nil {
		t.Fatal(err)
	}
	return opener
}

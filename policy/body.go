package policy

import (
	"context"
	"io"
	"os"
)

// Limits of an answer, in bytes.
const (
	maxAnswer    = 32 << 20 // prompt ids and logprobs of a full context take some MB
	usualAnswer  = 4 << 20  // a larger one is decoded while at most largeAtOnce are
	largeAtOnce  = 2
	maxErrorRead = 1 << 20
	maxErrorKept = 8 << 10
)

// large is a semaphore for answers larger than usualAnswer. It bounds the memory of the process,
// whatever endpoints send.
var large = make(chan struct{}, largeAtOnce)

// readBody reads at most limit+1 bytes. The caller must call free after decoding the body. It receives
// the part beyond usualAnswer into a file and acquires the semaphore afterwards, so that an endpoint
// that sends slowly does not delay others.
func readBody(ctx context.Context, from io.Reader, limit int64) (body []byte, free func(), err error) {
	free = func() {}
	body, err = io.ReadAll(io.LimitReader(from, min(usualAnswer, limit+1)))
	if err != nil || len(body) < usualAnswer {
		return body, free, err
	}
	rest, err := receive(io.LimitReader(from, limit+1-int64(len(body))))
	if err != nil {
		return body, free, err
	}
	defer rest.Close()
	select {
	case large <- struct{}{}:
	case <-ctx.Done():
		return body, free, ctx.Err()
	}
	more, err := io.ReadAll(rest)
	return append(body, more...), func() { <-large }, err
}

// receive copies from into a temporary file without a name, and rewinds it.
func receive(from io.Reader) (file *os.File, err error) {
	if file, err = os.CreateTemp("", "relabel-answer-"); err != nil {
		return nil, err
	}
	err = os.Remove(file.Name())
	if err == nil {
		_, err = io.Copy(file, from)
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

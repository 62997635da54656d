package policy

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"time"

	"relabel"
)

// try sends the request to base once. The status is 0 without an answer.
//
// The request is encoded for each try and released when it is sent: a state is long, and thousands of
// calls may wait for their answers.
func (c *Client) try(ctx context.Context, base string, ask relabel.ChatRequest, secret string) (relabel.Completion, int, *failure) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(c.policy.Limits.TimeoutSeconds)*time.Second)
	defer cancel()
	sent := time.Now()
	resp, fail := c.post(ctx, base+"/chat/completions", func() []byte { return appendRequest(nil, c.policy, ask) }, secret)
	if fail != nil {
		return relabel.Completion{}, 0, fail
	}
	defer resp.Body.Close()
	done, fail := c.read(resp, secret)
	done.Took = time.Since(sent)
	return done, resp.StatusCode, fail
}

// post sends a body, which encode may have to encode again.
func (c *Client) post(ctx context.Context, address string, encode func() []byte, secret string) (*http.Response, *failure) {
	write := func() *sending { return &sending{rest: encode()} }
	body := write()
	length := int64(len(body.rest))
	req, err := newRequest(ctx, http.MethodPost, address, body, secret)
	if err != nil {
		return nil, &failure{err: c.failed("its address cannot be used in a request").Because(err), outcome: useless}
	}
	req.ContentLength = length
	req.GetBody = func() (io.ReadCloser, error) { return write(), nil } // if a reused connection was closed
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.noAnswer(err, secret)
	}
	return resp, nil
}

// newRequest makes a request with JSON to an endpoint, with its key.
func newRequest(ctx context.Context, method, address string, body io.Reader, secret string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "relabel")
	if secret != "" {
		req.Header.Set("Authorization", "Bearer "+secret)
	}
	return req, nil
}

// sending is a body that releases its bytes after it was read.
type sending struct{ rest []byte }

func (s *sending) Read(p []byte) (int, error) {
	n := copy(p, s.rest)
	if s.rest = s.rest[n:]; len(s.rest) > 0 {
		return n, nil
	}
	s.rest = nil
	return n, io.EOF
}

func (s *sending) Close() error { return nil }

// read decodes a response.
func (c *Client) read(resp *http.Response, secret string) (relabel.Completion, *failure) {
	limit := int64(maxAnswer)
	if resp.StatusCode != http.StatusOK {
		limit = maxErrorRead
	}
	body, free, err := readBody(resp.Request.Context(), resp.Body, limit)
	defer free()
	if resp.StatusCode != http.StatusOK {
		return relabel.Completion{}, c.refused(resp, body, secret) // an incomplete body is better than none
	}
	f := &failure{outcome: useless}
	switch {
	case err != nil:
		f = c.noAnswer(err, secret)
	case int64(len(body)) > limit:
		f.err = c.failed("its answer is larger than %d MiB", maxAnswer>>20)
	default:
		done, problem := decodeAnswer(body)
		if problem == "" {
			return done, nil
		}
		f.err, f.retries = c.failed("%s", problem), always
		if reply := readError(body); reply.overflow() {
			f.err, f.retries = c.overflow(reply, secret), 0
		}
	}
	f.body = keptBody(body, secret)
	return relabel.Completion{}, f
}

// addressRefused returns why an address was refused; "" if the error has another cause.
func addressRefused(err error) string {
	var refused *relabel.Error
	if errors.As(err, &refused) && refused.Code == relabel.CodeAddressRefused {
		return refused.Message
	}
	return ""
}

// noAnswer is the failure of a connection that broke or of a server that took too long.
func (c *Client) noAnswer(err error, secret string) *failure {
	if why := addressRefused(err); why != "" { // retrying does not help
		return &failure{err: c.failed("%s", why).Because(err), outcome: useless}
	}
	cause := errors.New(scrub(err.Error(), secret))
	if local := (*fs.PathError)(nil); errors.As(err, &local) { // the endpoint is not the cause
		return &failure{err: c.failed("its answer cannot be written to the temporary folder; free some space there").Because(cause), outcome: abandoned, retries: always}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &failure{err: c.failed("no complete answer within %d s", c.policy.Limits.TimeoutSeconds).Because(cause), outcome: slow, retries: always}
	}
	return &failure{err: c.failed("the connection failed").Because(cause), outcome: down, retries: always}
}

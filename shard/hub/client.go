package hub

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Limits of requests.
const (
	mostAttempts = 5                // of one request
	reachTime    = 30 * time.Second // of a request that transfers no file
	slowest      = 256 << 10        // lowest accepted transfer rate, in bytes per second
	mostJSON     = 64 << 20         // bytes of an answer that is read
)

// Client speaks with one Hub. It is safe for concurrent use.
type Client struct {
	Endpoint string       // URL of the Hub, without a slash at its end
	Token    string       // "": none
	HTTP     *http.Client // nil: the default one
	Agent    string       // name and version of this program
	// Patience is the longest time that one request waits for a busy Hub before it fails, as the Hub
	// asks by Retry-After. Pause is the wait before a request's second attempt, which doubles for each further one;
	// 0: a second.
	Patience time.Duration
	Pause    time.Duration

	attempts int // of one request; 0: mostAttempts
}

// request is a request that can be repeated.
type request struct {
	method, address string
	header          map[string]string
	body            func() (io.ReadCloser, error) // nil: none
	size            int64                         // of the body, in bytes
	anonymous       bool                          // whether the token is not sent
	head            bool                          // whether redirects are not followed
}

// api returns the address of a path of the REST interface. Segments must be escaped.
func (c *Client) api(segments ...string) string {
	return c.Endpoint + "/api/" + strings.Join(segments, "/")
}

// repo returns the address of a repository's part of the REST interface.
func (c *Client) repo(p Place, segments ...string) string {
	return c.api(append([]string{"datasets", p.Repo}, segments...)...)
}

// jsonBody returns a request's body, which is v as JSON.
func jsonBody(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// with sets the body of a request.
func (r request) with(kind string, body []byte) request {
	r.body = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	r.size = int64(len(body))
	header := map[string]string{"Content-Type": kind}
	for name, value := range r.header {
		header[name] = value
	}
	r.header = header
	return r
}

// call sends a request and decodes the answer into v, unless v is nil. It repeats what failed for a
// reason that passes.
func (c *Client) call(ctx context.Context, r request, v any) (http.Header, error) {
	var header http.Header
	err := c.repeat(ctx, func() error {
		ctx, cancel := context.WithTimeout(ctx, reachTime+time.Duration(r.size/slowest)*time.Second)
		defer cancel()
		answer, err := c.send(ctx, r)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		header = answer.Header
		if v == nil {
			_, err = io.Copy(io.Discard, io.LimitReader(answer.Body, mostJSON))
			return unanswered(r, err)
		}
		body, err := io.ReadAll(io.LimitReader(answer.Body, mostJSON))
		if err != nil {
			return unanswered(r, err)
		}
		if err := json.Unmarshal(body, v); err != nil {
			return &Error{Status: answer.StatusCode, Message: "the answer is not the JSON that the Hub's protocol has", where: where(r), cause: err}
		}
		return nil
	})
	return header, err
}

// post sends JSON and decodes the answer.
func (c *Client) post(ctx context.Context, address string, in, out any) error {
	body, err := jsonBody(in)
	if err != nil {
		return err
	}
	_, err = c.call(ctx, request{method: http.MethodPost, address: address}.with("application/json", body), out)
	return err
}

// send sends a request once. The answer has a status below 300, or for a head below 400; others are an *Error.
func (c *Client) send(ctx context.Context, r request) (*http.Response, error) {
	var body io.ReadCloser
	if r.body != nil {
		opened, err := r.body()
		if err != nil {
			return nil, err
		}
		body = opened
	}
	q, err := http.NewRequestWithContext(ctx, r.method, r.address, body)
	if err != nil {
		return nil, &Error{Message: "the Hub gave an address that is not a URL", where: where(r), cause: err}
	}
	if body != nil {
		q.ContentLength = r.size
	}
	q.Header.Set("User-Agent", c.Agent)
	for name, value := range r.header {
		q.Header.Set(name, value)
	}
	if c.Token != "" && !r.anonymous && c.own(q.URL) {
		q.Header.Set("Authorization", "Bearer "+c.Token)
	}
	answer, err := c.client(r).Do(q)
	if err != nil {
		return nil, unanswered(r, err)
	}
	if answer.StatusCode >= http.StatusBadRequest || answer.StatusCode >= http.StatusMultipleChoices && !r.head {
		defer answer.Body.Close()
		return nil, c.refusal(r, answer)
	}
	return answer, nil
}

// mostRedirects bounds the redirects of one request.
const mostRedirects = 10

// client returns the HTTP client of a request. A redirect to another server, such as the store that keeps the
// files in LFS, does not get the token.
func (c *Client) client(r request) *http.Client {
	client := http.Client{}
	if c.HTTP != nil {
		client = *c.HTTP
	}
	client.CheckRedirect = func(next *http.Request, earlier []*http.Request) error {
		switch {
		case r.head || len(earlier) > mostRedirects:
			return http.ErrUseLastResponse
		case c.allowed(next.URL.String()) != nil:
			return c.allowed(next.URL.String())
		case !c.own(next.URL):
			next.Header.Del("Authorization")
		}
		return nil
	}
	return &client
}

// own reports whether an address is the Hub's, which may receive the token.
func (c *Client) own(u *url.URL) bool {
	hub, err := url.Parse(c.Endpoint)
	return err == nil && u.Scheme == hub.Scheme && strings.EqualFold(u.Host, hub.Host)
}

// repeat calls do until it succeeds, fails for a reason that lasts, or has failed too often.
func (c *Client) repeat(ctx context.Context, do func() error) error {
	pause := c.firstPause()
	for attempt := 1; ; attempt++ {
		err := do()
		if err == nil || ctx.Err() != nil || attempt == cmp.Or(c.attempts, mostAttempts) || !passes(err) {
			return err
		}
		wait := max(pause, retryAfter(err))
		if wait > max(c.Patience, pause) {
			return err
		}
		pause *= 2
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// firstPause is the wait before a second attempt.
func (c *Client) firstPause() time.Duration { return cmp.Or(c.Pause, time.Second) }

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

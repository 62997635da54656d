package policy

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"relabel"
)

// prober asks an endpoint one thing after the other, without retrying.
type prober struct {
	policy        relabel.Policy
	http          *http.Client
	secret        string
	report        *Report
	refusedExtras bool // the server refuses the fields that its kind is asked with
}

// reply is what became of one request.
type reply struct {
	done    relabel.Completion // where ok
	body    []byte
	status  int // 0 when no answer came
	ok      bool
	text    bool   // tool_format text was asked for
	problem string // where not ok
	took    time.Duration
}

// answer is the word for a request that gave nothing.
func (r reply) answer() Answer {
	switch r.status {
	case 0, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return Busy
	}
	return Refused
}

// ask sends req as the client does for a policy p; extra are further fields of the body,
// each led by a comma.
func (b *prober) ask(ctx context.Context, p relabel.Policy, req relabel.ChatRequest, extra string) reply {
	body := appendRequest(nil, p, req)
	body = append(append(body[:len(body)-1], extra...), '}')
	begin := time.Now()
	r := b.send(ctx, http.MethodPost, "/chat/completions", body)
	r.took, r.text = time.Since(begin), p.ToolFormat == relabel.ToolsText
	if r.status != http.StatusOK {
		return r
	}
	var problem string
	if r.done, problem = decodeAnswer(r.body); problem != "" {
		r.problem = problem
		return r
	}
	r.ok, r.done = true, understood(p, req, r.done)
	return r
}

// sends is how often a request is sent whose connection breaks before an answer; the pause
// before each further time is probePause longer.
const (
	sends      = 3
	probePause = 200 * time.Millisecond
)

// send sends a request and reads the whole answer. A connection that is refused or breaks is
// retried: one that was reset says little of the endpoint.
func (b *prober) send(ctx context.Context, method, path string, body []byte) reply {
	for n := 1; ; n++ {
		begun := time.Now()
		r := b.sendOnce(ctx, method, path, body)
		timedOut := time.Since(begun) >= time.Duration(b.policy.Limits.TimeoutSeconds)*time.Second
		if r.status != 0 || timedOut || n == sends || ctx.Err() != nil {
			return r
		}
		select {
		case <-ctx.Done():
			return r
		case <-time.After(time.Duration(n) * probePause):
		}
	}
}

// sendOnce is send without a second try.
func (b *prober) sendOnce(ctx context.Context, method, path string, body []byte) reply {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(b.policy.Limits.TimeoutSeconds)*time.Second)
	defer cancel()
	b.report.Requests++
	req, err := newRequest(ctx, method, strings.TrimRight(b.policy.BaseURL, "/")+path, bytes.NewReader(body), b.secret)
	if err != nil {
		return reply{problem: "its address cannot be used in a request"}
	}
	resp, err := b.http.Do(req)
	if why := addressRefused(err); why != "" {
		return reply{problem: why}
	}
	if err != nil {
		return reply{problem: scrub(err.Error(), b.secret)}
	}
	defer resp.Body.Close()
	b.report.Reachable = true
	r := reply{status: resp.StatusCode}
	if r.body, err = io.ReadAll(io.LimitReader(resp.Body, usualAnswer)); err != nil {
		return reply{status: 0, problem: "the answer broke off: " + scrub(err.Error(), b.secret)}
	}
	if r.status != http.StatusOK {
		r.problem = "HTTP " + resp.Status + ": " + readError(r.body).shown(b.secret)
		r.problem = strings.Replace(r.problem, http.StatusText(r.status)+": "+http.StatusText(r.status), http.StatusText(r.status), 1)
	}
	return r
}

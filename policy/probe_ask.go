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

// prober asks an endpoint one question after the other, without retries.
type prober struct {
	policy        relabel.Policy
	http          *http.Client
	secret        string
	report        *Report
	refusedExtras bool // the server refuses the optional fields of its kind
}

// reply is the result of one request.
type reply struct {
	done    relabel.Completion // if ok
	body    []byte
	status  int // 0 without an answer
	ok      bool
	text    bool   // the request had tool_format text
	problem string // if not ok
	took    time.Duration
}

// answer is the finding of a request that failed.
func (r reply) answer() Answer {
	switch r.status {
	case 0, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return Busy
	}
	return Refused
}

// note reports the answer to a question, or the failure of its request.
func (b *prober) note(q Question, got reply, a Answer, detail string) {
	if !got.ok {
		a, detail = got.answer(), got.problem
	}
	b.report.found(q, a, detail)
}

// ask sends req as a client of policy p does; extra has further fields of the body, each after a comma.
func (b *prober) ask(ctx context.Context, p relabel.Policy, req relabel.ChatRequest, extra string) reply {
	body := appendRequest(nil, p, req)
	body = append(append(body[:len(body)-1], extra...), '}')
	begin := time.Now()
	r := b.send(ctx, http.MethodPost, "/chat/completions", body)
	r.took, r.text = time.Since(begin), p.ToolFormat == relabel.ToolsText
	if r.status != http.StatusOK {
		return r
	}
	if r.done, r.problem = decodeAnswer(r.body); r.problem != "" {
		return r
	}
	r.ok, r.done = true, understood(p, req, r.done)
	return r
}

// A request whose connection breaks before an answer is sent up to sends times; each pause before is
// probePause longer.
const (
	sends      = 3
	probePause = 200 * time.Millisecond
)

// send sends a request and reads the whole answer. It retries a connection that is refused or breaks,
// which shows little about the endpoint.
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

// sendOnce is send without retries.
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
		return reply{status: 0, problem: "the answer is incomplete: " + scrub(err.Error(), b.secret)}
	}
	if r.status != http.StatusOK {
		r.problem = "HTTP " + resp.Status + ": " + readError(r.body).shown(b.secret)
		r.problem = strings.Replace(r.problem, http.StatusText(r.status)+": "+http.StatusText(r.status), http.StatusText(r.status), 1)
	}
	return r
}

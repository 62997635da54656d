package tracing

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const (
	firstPause = 5 * time.Second // before the second try, on average; each further one is longer by half
	mostAnswer = 64 << 10        // bytes that are read of an answer
	mostReason = 1 << 10         // bytes of it that are logged
	// mostHeaders bounds the bytes before an answer. Errors have a first line that is none of HTTP.
	mostHeaders = 16 << 10
)

// collector sends batches by OTLP over HTTP.
type collector struct {
	settings
	envelope
	client *http.Client
	agent  string
}

func newCollector(s settings, e envelope, version string) *collector {
	return &collector{settings: s, envelope: e, agent: "relabel/" + version, client: &http.Client{
		Timeout:   s.timeout,
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: s.tls, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: mostHeaders},
		// A redirect is never followed: it would get the headers, which may have a key.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// post sends a batch until ctx ends.
func (c *collector) post(ctx context.Context, spans [][]byte) (lost int64, err error) {
	all := int64(len(spans))
	body, err := c.pack(c.request(spans))
	if err != nil {
		return all, err
	}
	for pause := firstPause; ; pause += pause / 2 {
		text, kind, err := c.try(ctx, body)
		var later *retryable
		switch {
		case err == nil:
			return rejected(text, kind, all)
		case !errors.As(err, &later):
			return all, err
		}
		select {
		case <-ctx.Done():
			return all, err
		case <-time.After(max(later.after, pause/2+rand.N(pause))):
		}
	}
}

// pack compresses a body if the settings ask for that.
func (c *collector) pack(body []byte) ([]byte, error) {
	if !c.compressed {
		return body, nil
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(body) // Close has its error
	err := w.Close()
	return packed.Bytes(), err
}

// try makes one request. It returns the collector's answer and its media type.
func (c *collector) try(ctx context.Context, body []byte) (answer []byte, kind string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	req.Header.Set("User-Agent", c.agent)
	for name, value := range c.headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("Content-Type", mediaProtobuf)
	if c.compressed {
		req.Header.Set("Content-Encoding", "gzip")
	}
	res, err := c.client.Do(req)
	if err != nil {
		return nil, "", connectionError(err)
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(res.Body, mostAnswer))
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return nil, "", statusOf(res, answer)
	}
	return answer, res.Header.Get("Content-Type"), err
}

// retryable is a failure that a later try may not have.
type retryable struct {
	error
	after time.Duration // the collector's Retry-After
}

// connectionError is the error of a request without an answer: a collector may start again, but certificates stay
// wrong. It does not name the address, which may have a key.
func connectionError(err error) error {
	if of, ok := errors.AsType[*url.Error](err); ok {
		err = of.Err
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	of, ok := errors.AsType[*net.OpError](err)
	if untrusted || ok && of.Op == "remote error" { // an alert of TLS
		return err
	}
	return &retryable{error: err}
}

// statusOf is the error of an answer that is not a success.
func statusOf(res *http.Response, answer []byte) error {
	err := fmt.Errorf("the collector answered %.100s: %s", res.Status, reason(string(answer)))
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return &retryable{error: err, after: retryAfter(res.Header.Get("Retry-After"))}
	}
	return err
}

// reason is the part of a collector's text that is logged.
func reason(text string) string { return plain(text[:min(len(text), mostReason)]) }

// retryAfter reads seconds or a date. A longer wait than sendLimit is as long as that.
func retryAfter(header string) time.Duration {
	if seconds, err := strconv.Atoi(header); err == nil {
		return time.Duration(min(seconds, int(sendLimit/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return time.Until(at)
	}
	return 0
}

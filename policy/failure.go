package policy

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"relabel"
)

// always allows as many retries as the policy does.
const always = math.MaxInt

// failure is a try without an answer.
type failure struct {
	err     *relabel.Error
	outcome outcome
	body    []byte        // of the answer, truncated and without the secret
	retries int           // retries that may help, before the policy's limit
	after   time.Duration // the server's Retry-After; 0 without one
}

// failed makes a CodeEndpoint error that names the policy.
func (c *Client) failed(format string, args ...any) *relabel.Error {
	return relabel.Errorf(relabel.CodeEndpoint, c.policy.Name+": "+format, args...)
}

// overflow makes the error that ends a trajectory as "context".
func (c *Client) overflow(reply serverError, secret string) *relabel.Error {
	return relabel.Errorf(relabel.CodeContextOverflow, "%s: the state is too long for the model: %s", c.policy.Name, reply.shown(secret))
}

// refused is the failure of an answer that is not 200. Servers answer 500 for some of the
// caller's own mistakes and for calls cut by max_tokens, so a 500 is retried once. A busy server is
// retried as often as the policy allows; the rest is final.
func (c *Client) refused(resp *http.Response, body []byte, secret string) *failure {
	f := &failure{body: keptBody(body, secret), outcome: ofStatus(resp.StatusCode)}
	reply := readError(body)
	switch s := resp.StatusCode; {
	case s >= 300 && s < 400:
		f.err = c.failed("HTTP %d: it redirects to %s; redirects are not followed, so set the address itself", s, redirectHost(resp))
		return f
	case s != http.StatusTooManyRequests && reply.overflow():
		f.err = c.overflow(reply, secret)
		return f
	case reply.code == "insufficient_quota":
		f.outcome = useless // waiting does not help
	case s == http.StatusInternalServerError:
		f.retries = 1
	case s > 500 && s != http.StatusNotImplemented, s == http.StatusTooManyRequests,
		s == http.StatusRequestTimeout, s == http.StatusConflict, s == http.StatusTooEarly:
		f.retries = always
		f.after = retryAfter(resp.Header.Get("Retry-After"), time.Now())
	}
	f.err = c.failed("HTTP %d: %s", resp.StatusCode, reply.shown(secret))
	if hint := c.hint(resp.StatusCode, reply); hint != "" {
		f.err = c.failed("HTTP %d: %s (%s)", resp.StatusCode, reply.shown(secret), hint)
	}
	return f
}

// hint returns a likely cause of a refusal, given the kind of server; "" if it has none.
func (c *Client) hint(status int, reply serverError) string {
	switch {
	case status == http.StatusInternalServerError && c.policy.Server == relabel.ServerTransformers && reply.kind == "" && c.policy.ToolFormat != relabel.ToolsText:
		return "this server gives this answer if max_tokens cuts a tool call, which tool_format text avoids, and to some mistakes of the caller"
	case (status == http.StatusBadRequest || status == http.StatusUnprocessableEntity) && sendsExtras(c.policy):
		return "relabel doctor --policy " + c.policy.Name + " shows what it accepts"
	}
	return ""
}

// redirectHost names where a redirect points, without path or query.
func redirectHost(resp *http.Response) string {
	u, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || u.Host == "" {
		return "another path"
	}
	return u.Scheme + "://" + u.Host
}

// serverError is the content of an error body.
type serverError struct {
	message string // the whole body if it has no known form
	kind    string // error.type
	code    string // error.code, if it is a string
}

// readError understands {"error":{…}} (OpenAI, llama.cpp, vLLM), {"error":"…"},
// {"object":"error","message":…} (SGLang, older vLLM), {"detail":…} (FastAPI) and text.
func readError(body []byte) serverError {
	var w struct {
		Error   json.RawMessage `json:"error"`
		Detail  json.RawMessage `json:"detail"`
		Message json.RawMessage `json:"message"`
		Type    json.RawMessage `json:"type"`
	}
	if json.Unmarshal(body, &w) != nil {
		return serverError{message: strings.TrimSpace(string(body))}
	}
	var inner struct {
		Message json.RawMessage `json:"message"`
		Type    json.RawMessage `json:"type"`
		Code    json.RawMessage `json:"code"`
	}
	switch {
	case json.Unmarshal(w.Error, &inner) == nil && len(inner.Message) > 0:
		return serverError{message: optionalText(inner.Message), kind: optional[string](inner.Type), code: optional[string](inner.Code)}
	case len(w.Error) > 0:
		return serverError{message: optionalText(w.Error)}
	case len(w.Message) > 0:
		return serverError{message: optionalText(w.Message), kind: optional[string](w.Type)}
	case len(w.Detail) > 0:
		return serverError{message: optionalText(w.Detail)}
	}
	return serverError{message: strings.TrimSpace(string(body))}
}

// tooLong matches the messages of servers without a code for a prompt that does not fit. Each
// alternative needs a number or the server's exact wording, so that a validation error that quotes the
// conversation does not match.
var tooLong = regexp.MustCompile(`(?i)maximum context length (of|is) \d+` + // vLLM, SGLang, OpenAI
	`|longer than the (maximum model length|model's context length|model's maximum context)` + // vLLM, SGLang
	`|context length is only \d+` + // vLLM
	`|exceeds the available context size` + // llama.cpp
	`|exceed context window of \d+` + // llama-cpp-python
	`|prompt is too long: \d+ tokens` + // Anthropic
	`|input token count \(?\d+\)? exceeds the maximum` + // Gemini
	`|too large for model with \d+ maximum context length` + // Mistral
	`|must be <= \d+\. Given: \d+ .inputs. tokens`) // TGI

// overflow reports whether the state does not fit the model.
func (e serverError) overflow() bool {
	return e.kind == "exceed_context_size_error" || e.code == "context_length_exceeded" ||
		tooLong.MatchString(clip(e.message, 500))
}

// shown is the message for an error: one short line without the secret.
func (e serverError) shown(secret string) string {
	s := strings.Join(strings.Fields(scrub(e.message, secret)), " ")
	if s == "" {
		return "without a message"
	}
	return clip(s, 300)
}

// keptBody is the stored part of an error body. It removes the secret first, since the cut could leave
// half of it.
func keptBody(body []byte, secret string) []byte {
	body = []byte(scrub(string(body), secret))
	return bytes.Clone(body[:min(len(body), maxErrorKept)])
}

// validText replaces what is not UTF-8 by U+FFFD.
func validText(s string) string {
	if utf8.ValidString(s) { // fast: states are long
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// clip cuts s to at most n bytes of valid UTF-8.
func clip(s string, n int) string {
	s = validText(s)
	if len(s) <= n {
		return s
	}
	return head(s, n) + "…"
}

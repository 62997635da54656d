package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"relabel"
	"relabel/safetext"
)

// Error is a request that failed.
type Error struct {
	Status  int    // of the answer; 0: there was none
	Code    string // X-Error-Code, such as RepoNotFound; "": none
	Message string // what the Hub says, or what happened, as one plain line
	// RetryAfter is how long the Hub asks to wait; 0: it does not say.
	RetryAfter time.Duration

	where string // method and path, without the signature in a query
	token bool   // whether there was a token
	cause error
}

// Error implements error.
func (e *Error) Error() string {
	text := e.where
	if e.Status != 0 {
		text += fmt.Sprintf(": %d", e.Status)
	}
	if e.cause != nil {
		return text + ": " + e.Message + ": " + e.cause.Error()
	}
	return text + ": " + e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

// Refused reports whether the request will fail until someone changes something.
func (e *Error) Refused() bool { return e.Status != 0 && !passes(e) }

// Words says what happened and what to do.
func (e *Error) Words() string {
	said := ""
	if e.Message != "" {
		said = ": " + e.Message
	}
	switch {
	case e.Status == 0:
		return e.Message
	case e.Status == http.StatusUnauthorized && !e.token, e.Code == repoNotFound && !e.token:
		return "there is no such data set that everyone may read, and there is no token: set HF_TOKEN in relabel's environment to one with access to it"
	case e.Status == http.StatusUnauthorized:
		return "the token was rejected" + said + ": set HF_TOKEN in relabel's environment to a valid one"
	case e.Code == repoNotFound:
		return "there is no such data set, or the token may not see it"
	case e.Code == "RevisionNotFound":
		return "the data set has no such revision"
	case e.Code == "GatedRepo":
		return "the data set is gated" + said + ": ask for access with the account of the token"
	case e.Status == http.StatusForbidden:
		return "the Hub forbids it" + said + ": HF_TOKEN must be a token with write access to this data set, whose account has storage"
	case e.Status == http.StatusNotFound:
		return "it answered 404" + said
	case e.Status == http.StatusRequestEntityTooLarge:
		return "the request is too large for it" + said + ": export fewer states, or to several folders"
	case e.Status == http.StatusTooManyRequests && e.RetryAfter > 0:
		return fmt.Sprintf("too many requests%s: it asks to wait %s", said, e.RetryAfter)
	}
	return fmt.Sprintf("it answered %d%s", e.Status, said)
}

// repoNotFound is the code of a repository that does not exist or that the token may not see.
const repoNotFound = "RepoNotFound"

// passes reports whether a failure may be gone at the next attempt.
func passes(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	var known *relabel.Error // an address that must not be dialled
	switch e.Status {
	case 0:
		return !errors.As(err, &known)
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

func retryAfter(err error) time.Duration {
	var e *Error
	if errors.As(err, &e) {
		return e.RetryAfter
	}
	return 0
}

// statusOf returns the status of a failed request; 0: there was no answer, or err is something else.
func statusOf(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.Status
	}
	return 0
}

// where describes a request without its query, which may be signed.
func where(r request) string {
	u, err := url.Parse(r.address)
	if err != nil {
		return r.method
	}
	return r.method + " " + u.Host + u.Path
}

// unanswered returns the error of a request without an answer; nil for nil.
func unanswered(r request, err error) error {
	var name *net.DNSError
	var line net.Error
	var known *relabel.Error
	var told *Error
	var local *fs.PathError // of a file on this machine
	e := &Error{where: where(r), cause: withoutURL(err)}
	switch {
	case err == nil:
		return nil
	case errors.As(err, &told):
		return told
	case errors.Is(err, context.Canceled), errors.As(err, &local):
		return err
	case errors.As(err, &known):
		e.Message = known.Message
	case errors.As(err, &name):
		e.Message = "its host name does not resolve"
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Message = "connection refused"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &line) && line.Timeout():
		e.Message = "it did not answer in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		e.Message = "the connection was lost"
	default:
		e.Message = "the connection failed"
	}
	return e
}

// withoutURL returns the cause of a client's error, whose text has the address with its signature.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// refusal returns the error of an answer with a status from 400.
func (c *Client) refusal(r request, answer *http.Response) *Error {
	body, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10)) // what is lost is only the server's explanation
	e := &Error{Status: answer.StatusCode, Code: answer.Header.Get("X-Error-Code"), RetryAfter: waitOf(answer.Header), where: where(r), token: c.Token != ""}
	e.Message = c.plain(message(answer.Header, body))
	return e
}

// message returns what the Hub says about a failure.
func message(header http.Header, body []byte) string {
	var told struct {
		Error   any    `json:"error"`
		Message string `json:"message"` // of LFS
		Errors  []struct {
			Message string `json:"message"`
		} `json:"errors"` // of cards
	}
	_ = json.Unmarshal(body, &told) // many answers are no JSON
	text, is := told.Error.(string)
	switch {
	case len(told.Errors) > 0:
		return told.Errors[0].Message
	case header.Get("X-Error-Message") != "":
		return header.Get("X-Error-Message")
	case is:
		return text
	case told.Message != "":
		return told.Message
	case strings.HasPrefix(header.Get("Content-Type"), "text/plain"):
		return string(body)
	}
	return ""
}

// mostMessage bounds what is shown of a server's message, in characters.
const mostMessage = 300

// plain returns a server's text as one harmless line without the token.
func (c *Client) plain(text string) string {
	if c.Token != "" {
		text = strings.ReplaceAll(text, c.Token, "[secret]")
	}
	text = strings.TrimRight(safetext.Plain(strings.Join(strings.Fields(text), " ")), ". ")
	if r := []rune(text); len(r) > mostMessage {
		return string(r[:mostMessage]) + "…"
	}
	return text
}

// resetForm matches the seconds after which a limit of the Hub's begins anew: "api";r=0;t=55.
var resetForm = regexp.MustCompile(`;\s*r=0\s*;\s*t=([0-9]{1,6})\b`)

// waitOf returns how long an answer asks to wait; 0: it does not say.
func waitOf(header http.Header) time.Duration {
	text := header.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(max(0, seconds)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at).Round(time.Second))
	}
	if found := resetForm.FindStringSubmatch(header.Get("RateLimit")); found != nil {
		seconds, _ := strconv.Atoi(found[1]) // at most six digits
		return time.Duration(seconds) * time.Second
	}
	return 0
}

package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"relabel"
	"relabel/api"
)

// The codes that only HTTP has.
const (
	codeMethod    relabel.Code = "method_not_allowed"  // the path is right, the method is not
	codeTooLarge  relabel.Code = "too_large"           // the body is over the limit
	codeMediaType relabel.Code = "unsupported_media"   // the body is of a kind that is not read
	codeTimeout   relabel.Code = "timeout"             // the body arrived too slowly
	codeRange     relabel.Code = "range_unsatisfiable" // the requested range is outside the file
	codeCondition relabel.Code = "precondition_failed" // If-Match and its kin do not hold
)

// statuses is the one table from codes to HTTP statuses.
var statuses = map[relabel.Code]int{
	relabel.CodeInvalid:         http.StatusUnprocessableEntity,
	relabel.CodeNotFound:        http.StatusNotFound,
	relabel.CodeConflict:        http.StatusConflict,
	relabel.CodeIdempotency:     http.StatusConflict,
	relabel.CodeUnauthorized:    http.StatusUnauthorized,
	relabel.CodeForbidden:       http.StatusForbidden,
	relabel.CodeDisk:            http.StatusConflict,
	relabel.CodeLeaseLost:       http.StatusConflict,
	relabel.CodeImageMissing:    http.StatusUnprocessableEntity,
	relabel.CodeEnvironment:     http.StatusServiceUnavailable,
	relabel.CodeContextOverflow: http.StatusUnprocessableEntity,
	relabel.CodeAddressRefused:  http.StatusUnprocessableEntity,
	relabel.CodeEndpoint:        http.StatusBadGateway,
	relabel.CodeSecretMissing:   http.StatusUnprocessableEntity,
	relabel.CodeUnavailable:     http.StatusServiceUnavailable,
	relabel.CodeBusy:            http.StatusTooManyRequests,
	relabel.CodeInternal:        http.StatusInternalServerError,
	api.CodeMalformed:           http.StatusBadRequest,
	codeMethod:                  http.StatusMethodNotAllowed,
	codeTooLarge:                http.StatusRequestEntityTooLarge,
	codeMediaType:               http.StatusUnsupportedMediaType,
	codeTimeout:                 http.StatusRequestTimeout,
	codeRange:                   http.StatusRequestedRangeNotSatisfiable,
	codeCondition:               http.StatusPreconditionFailed,
}

// codeOfStatus is the table read backwards, for errors that huma makes itself.
func codeOfStatus(status int) relabel.Code {
	switch status {
	case http.StatusUnprocessableEntity:
		return relabel.CodeInvalid
	case http.StatusConflict:
		return relabel.CodeConflict
	case http.StatusServiceUnavailable:
		return relabel.CodeUnavailable
	}
	for code, s := range statuses {
		if s == status {
			return code
		}
	}
	if status < http.StatusInternalServerError {
		return api.CodeMalformed
	}
	return relabel.CodeInternal
}

// mostErrors is how many errors of a request are listed.
const mostErrors = 100

func newProblem(code relabel.Code, detail, field string) *api.Problem {
	status, ok := statuses[code]
	if !ok {
		status = http.StatusInternalServerError
	}
	return &api.Problem{Type: "urn:relabel:problem:" + string(code), Title: http.StatusText(status), Status: status, Code: code, Detail: detail, Field: field}
}

// problem converts an error to its public form and keeps the error for the log.
func problem(ctx context.Context, err error) *api.Problem {
	noteCause(ctx, err)
	var p *api.Problem
	if errors.As(err, &p) {
		return p
	}
	var e *relabel.Error
	switch {
	case errors.As(err, &e) && e.Code != relabel.CodeInternal:
		p = newProblem(e.Code, e.Message, e.Field)
		if e.Field != "" {
			p.Detail = e.Field + ": " + e.Message
			p.Errors = []api.ProblemField{{Location: e.Field, Message: e.Message}}
		}
		return p
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return newProblem(relabel.CodeUnavailable, "the request was not answered in time", "")
	}
	return newProblem(relabel.CodeInternal, "something went wrong here; the server's log says more", "")
}

// retryAfter is the number of seconds after which a client may ask an overloaded server
// again.
const retryAfter = "5"

// refuse answers with a problem outside of huma.
func (s *site) refuse(w http.ResponseWriter, r *http.Request, err error) {
	p := problem(r.Context(), err)
	w.Header().Set("Content-Type", p.ContentType(""))
	if p.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", retryAfter)
	}
	var wait *waitError
	if errors.As(err, &wait) {
		w.Header().Set("Retry-After", strconv.Itoa(wait.seconds()))
	}
	w.WriteHeader(p.Status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(p) // a client that is gone reads nothing
}

// misplaced matches messages that name a field which the location does not name: an absent one
// (huma's) or one of the wrong type (jsonFormat's).
var misplaced = regexp.MustCompile(`^(?:expected required property (\S+) to be present|(\S+): (a .* does not fit .*))$`)

func init() {
	huma.ValidateStrictCasing = true // SEED is not seed
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		return problemOf(status, message, errs)
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, message string, errs ...error) huma.StatusError {
		if status >= http.StatusInternalServerError {
			noteCause(ctx.Context(), errors.Join(append(errs, errors.New(message))...))
			return newProblem(relabel.CodeInternal, "something went wrong here; the server's log says more", "")
		}
		return problemOf(status, message, errs)
	}
}

// problemOf makes a problem of what huma found wrong. Values are not sent back: they
// may be secrets, and they may be large.
func problemOf(status int, message string, errs []error) *api.Problem {
	p := newProblem(codeOfStatus(status), message, "")
	p.Status, p.Title = status, http.StatusText(status)
	for _, err := range errs[:min(len(errs), mostErrors)] {
		var d huma.ErrorDetailer
		f := api.ProblemField{Message: "not valid"}
		if errors.As(err, &d) {
			f = api.ProblemField{Location: d.ErrorDetail().Location, Message: d.ErrorDetail().Message}
		}
		if status == http.StatusUnsupportedMediaType {
			f.Message += "; send JSON with Content-Type: application/json"
		}
		if m := misplaced.FindStringSubmatch(f.Message); m != nil {
			f.Location += "." + m[1] + m[2]
			f.Message = cmp.Or(m[3], f.Message)
		}
		p.Errors = append(p.Errors, f)
	}
	if len(p.Errors) > 0 {
		_, field, ok := strings.Cut(p.Errors[0].Location, ".")
		if !ok {
			field = p.Errors[0].Location
		}
		p.Field, p.Detail = field, field+": "+p.Errors[0].Message
	}
	return p
}

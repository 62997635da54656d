package relabel

import (
	"errors"
	"fmt"
)

// Code is a stable, machine-readable reason for an error. Codes are part of the
// REST interface: they are added to, never renamed.
type Code string

// The codes. server maps each to one HTTP status.
const (
	CodeInvalid         Code = "invalid"           // the request is malformed or out of range
	CodeNotFound        Code = "not_found"         // the resource does not exist
	CodeConflict        Code = "conflict"          // it already exists, or its state does not allow this
	CodeIdempotency     Code = "idempotency_reuse" // the Idempotency-Key was used with another body
	CodeUnauthorized    Code = "unauthorized"      // no token, or an unknown one
	CodeForbidden       Code = "forbidden"         // the token or the caller's origin does not allow this
	CodeLeaseLost       Code = "lease_lost"        // another worker owns the trajectory now
	CodeImageMissing    Code = "image_missing"     // the task's image is not present and cannot be pulled
	CodeEnvironment     Code = "environment"       // a sandbox or its engine failed, not the agent
	CodeDisk            Code = "disk"              // a sandbox's commands exceeded its disk limit
	CodeContextOverflow Code = "context_overflow"  // the endpoint says the state is too long for the model
	CodeEndpoint        Code = "endpoint"          // a model endpoint failed after its retries
	CodeSecretMissing   Code = "secret_missing"    // a policy names a secret that does not exist
	CodeAddressRefused  Code = "address_refused"   // this process may not connect to the address
	CodeUnavailable     Code = "unavailable"       // a required part is not available; retry later
	CodeBusy            Code = "busy"              // too many concurrent requests; retry later
	CodeInternal        Code = "internal"          // a bug or an unexpected failure; details are in the log
)

// Error is an error with a code and a message that is safe to show to a user.
// Its cause is only logged.
type Error struct {
	Code    Code
	Message string
	Field   string // the input field, line or file that is wrong; empty if none is
	Cause   error  // never shown to a client
}

// Error returns the field, the safe message and the cause, for logs and terminals.
func (e *Error) Error() string {
	s := e.Message
	if e.Field != "" {
		s = e.Field + ": " + s
	}
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// On returns a copy of e that names the wrong field.
func (e *Error) On(field string) *Error {
	c := *e
	c.Field = field
	return &c
}

// Because returns a copy of e with a cause, which is logged but not shown.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.Cause = cause
	return &c
}

// Errorf makes an error whose formatted message is safe to show.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// CodeOf returns the code of the first *Error in err's chain, CodeInternal for
// other errors, and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}

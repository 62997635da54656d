package objects

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// Error is an answer that refuses a request.
type Error struct {
	Status int    // of HTTP
	Code   string // of the protocol, such as NoSuchBucket; "": none

	request string // its method and URL without the query
	message string
	pause   time.Duration // that the server asks for before a retry
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("%s: %d %.100s: %.1000s", e.request, e.Status, e.Code, e.message)
}

// IsMissing reports whether err says that an object or its bucket does not exist.
func IsMissing(err error) bool {
	var refused *Error
	var keys *KeysError
	return !errors.As(err, &keys) && errors.As(err, &refused) && refused.Status == http.StatusNotFound
}

// mostRefusal bounds the bytes that are read of an error's document.
const mostRefusal = 64 << 10

// refusal is the error of an answer without success.
func refusal(q *http.Request, a *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(a.Body, mostRefusal)) // the status says enough
	e := &Error{Status: a.StatusCode, request: shown(q)}
	if seconds, err := strconv.Atoi(a.Header.Get("Retry-After")); err == nil {
		e.pause = time.Duration(seconds) * time.Second
	}
	e.Code, e.message = explained(body)
	e.Code = cmp.Or(a.Header.Get("X-Ms-Error-Code"), e.Code)
	return e
}

// lateRefusal is the error in an answer that began with success, as S3 does while it joins parts.
func lateRefusal(q *http.Request, body []byte) error {
	var document struct{ XMLName xml.Name }
	if xml.Unmarshal(body, &document) != nil || document.XMLName.Local != "Error" {
		return nil
	}
	e := &Error{Status: http.StatusInternalServerError, request: shown(q)}
	e.Code, e.message = explained(body)
	return e
}

// explained returns the code and the message of an error's document: the XML of S3, STS and Azure, or the JSON of OAuth.
func explained(body []byte) (code, message string) {
	var document struct {
		Code, Message string
		Error         struct{ Code, Message string }
	}
	if xml.Unmarshal(body, &document) == nil {
		return cmp.Or(document.Code, document.Error.Code), cmp.Or(document.Message, document.Error.Message)
	}
	var oauth struct {
		Code    string `json:"error"`
		Message string `json:"error_description"`
	}
	if json.Unmarshal(body, &oauth) == nil {
		return oauth.Code, oauth.Message
	}
	return "", ""
}

// shown is a request as errors name it.
func shown(q *http.Request) string {
	return q.Method + " " + q.URL.Scheme + "://" + q.URL.Host + q.URL.EscapedPath()
}

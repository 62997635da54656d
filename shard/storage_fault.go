package shard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"relabel"
	"relabel/shard/objects"
)

// destinationFault is a failed operation on a bucket.
type destinationFault struct {
	words   string // what happened and what to do; safe to show
	refused bool   // it will fail until someone changes something
	cause   error
}

// Error implements error. It is for the log, and a server may have chosen the text.
func (f *destinationFault) Error() string { return fmt.Sprintf("%.2000v", f.cause) }

// Unwrap returns the cause.
func (f *destinationFault) Unwrap() error { return f.cause }

// fault converts an error of a bucket into one that is safe to show. Errors that have a code
// already, and cancellation, are returned unchanged.
func (b *bucket) fault(err error) error {
	var known *relabel.Error
	switch {
	case errors.As(err, &known) && known.Code == relabel.CodeAddressRefused: // from the dialer
		return relabel.Errorf(known.Code, "%s: %s", b.name, known.Message).On("destination").Because(err)
	case err == nil, known != nil, errors.Is(err, context.Canceled):
		return err
	}
	f := &destinationFault{cause: err}
	f.words, f.refused = b.diagnose(err)
	return relabel.Errorf(relabel.CodeUnavailable, "%s: %s", b.name, f.words).On("destination").Because(f)
}

// refusedAtOnce changes the code of a permanent refusal by the destination to CodeInvalid, so
// that it is not retried.
func refusedAtOnce(err error) error {
	var known *relabel.Error
	var f *destinationFault
	if errors.As(err, &known) && errors.As(err, &f) && f.refused {
		refused := *known
		refused.Code = relabel.CodeInvalid
		return &refused
	}
	return err
}

// diagnose returns what happened and what to do, and whether the failure lasts until someone
// does that.
func (b *bucket) diagnose(err error) (words string, refused bool) {
	var setting objects.SettingError
	var keys *objects.KeysError
	var answer *objects.Error
	if errors.As(err, &answer) {
		words, refused = b.explain(answer)
	} else {
		words, refused = unanswered(err)
	}
	switch {
	case errors.As(err, &setting):
		return setting.Error(), true
	case errors.Is(err, objects.ErrNoKeys):
		return fmt.Sprintf("there are no keys on %s: %s", b.machine, b.keys()), true
	case errors.As(err, &keys) && answer != nil && refused:
		return fmt.Sprintf("the identity on %s was rejected%s: check its role or application in relabel's environment there", b.machine, said(answer)), true
	case errors.As(err, &keys):
		return "the server that gives keys: " + words, refused
	}
	return words, refused
}

// said is the error code of an answer as messages show it.
func said(answer *objects.Error) string {
	if plainWord.MatchString(answer.Code) {
		return " (" + answer.Code + ")"
	}
	return ""
}

// explain explains an answer.
func (b *bucket) explain(answer *objects.Error) (words string, refused bool) {
	status, word, said := answer.Status, answer.Code, said(answer)
	switch {
	case word == "RequestTimeTooSkewed":
		return fmt.Sprintf("the clock on %s is wrong%s: set it", b.machine, said), true
	case status == http.StatusUnauthorized, status == http.StatusForbidden, slices.Contains(ofKeys, word):
		return fmt.Sprintf("the keys on %s were rejected%s: %s", b.machine, said, b.keys()), true
	case status == http.StatusNotFound && word == "NoSuchUpload":
		return fmt.Sprintf("the upload in parts was removed before its end%s", said), false
	case status == http.StatusNotFound:
		return fmt.Sprintf("the bucket does not exist%s: create it, or start the export with another destination", said), true
	case slices.Contains(ofCollisions[status], word):
		return fmt.Sprintf("concurrent requests to the same object conflicted at every attempt%s", said), false
	case status == http.StatusConflict:
		return fmt.Sprintf("it answered 409%s: an existing object conflicts; start the export with another prefix or bucket", said), true
	case status >= http.StatusInternalServerError, status == http.StatusRequestTimeout, status == http.StatusTooManyRequests:
		return fmt.Sprintf("it answered %d%s", status, said), false
	}
	return fmt.Sprintf("it answered %d%s: check the region and the other parameters of the destination", status, said), true
}

// ofKeys lists error codes for rejected keys that come with other statuses than 401 and 403.
var ofKeys = []string{"ExpiredToken", "InvalidToken", "TokenRefreshRequired", "RequestExpired", "XAdminUserNotFound"}

// ofCollisions lists, by status, the error codes of requests that conflicted with a
// concurrent one. In Azure, the first writer to commit a file discards the blocks of all
// others, and a container that is being deleted is gone, or created again, soon.
var ofCollisions = map[int][]string{
	http.StatusConflict:           {"OperationAborted", "ConditionalRequestConflict", "ContainerBeingDeleted", "PendingCopyOperation"},
	http.StatusPreconditionFailed: {"PreconditionFailed", "ConditionNotMet"},
	http.StatusBadRequest:         {"InvalidBlockList"},
}

// plainWord matches error codes of servers that are safe to show.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_]{1,60}$`)

// unanswered explains why there was no response.
func unanswered(err error) (words string, refused bool) {
	var name *net.DNSError
	var line net.Error
	switch {
	case errors.As(err, &name):
		return "its host name does not resolve", false
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused", false
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &line) && line.Timeout():
		return "it did not answer in time", false
	case errors.As(err, &line), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return "the connection was lost", false
	}
	return "it cannot be reached: check the region, the endpoint and the other parameters of the destination", true
}

// keys explains which keys to set.
func (b *bucket) keys() string {
	if strings.HasPrefix(b.name, "azblob:") {
		return "set AZURE_STORAGE_ACCOUNT and AZURE_STORAGE_KEY (or AZURE_STORAGE_SAS_TOKEN) in relabel's environment there, with permission to write, list and delete"
	}
	return "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in relabel's environment there, with permission to write, list and delete"
}

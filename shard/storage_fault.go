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

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"gocloud.dev/gcerrors"

	"relabel"
)

// destinationFault is a failed operation on a bucket.
type destinationFault struct {
	words   string // what happened and what to do; safe to show
	refused bool   // it will fail until someone changes something
	cause   error
}

// Error implements error.
func (f *destinationFault) Error() string { return f.cause.Error() }

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
	status, word := answerOf(err)
	said := ""
	if plainWord.MatchString(word) {
		said = " (" + word + ")"
	}
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, slices.Contains(ofKeys, word):
		return fmt.Sprintf("the keys on %s were rejected%s: %s", b.machine, said, b.keys()), true
	case lacksKeys(err):
		return fmt.Sprintf("there are no keys on %s: %s", b.machine, b.keys()), true
	case status == http.StatusNotFound, gcerrors.Code(err) == gcerrors.NotFound:
		return fmt.Sprintf("the bucket does not exist%s: create it, or start the export with another destination", said), true
	case slices.Contains(ofCollisions[status], word):
		return fmt.Sprintf("concurrent requests to the same object conflicted at every attempt%s", said), false
	case status == http.StatusConflict:
		return fmt.Sprintf("it answered 409%s: an existing object conflicts; start the export with another prefix or bucket", said), true
	case status >= http.StatusInternalServerError, status == http.StatusRequestTimeout, status == http.StatusTooManyRequests:
		return fmt.Sprintf("it answered %d%s", status, said), false
	case status != 0:
		return fmt.Sprintf("it answered %d%s: check the region and the other parameters of the destination", status, said), true
	}
	return unanswered(err)
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
var plainWord = regexp.MustCompile(`^[A-Za-z0-9]{1,60}$`)

// answerOf returns the status of a server's response, 0 if there was none, and its error
// code.
func answerOf(err error) (status int, word string) {
	var azure *azcore.ResponseError
	if errors.As(err, &azure) {
		return azure.StatusCode, azure.ErrorCode
	}
	var coded interface{ ErrorCode() string }
	if errors.As(err, &coded) {
		word = coded.ErrorCode()
	}
	var answered interface{ HTTPStatusCode() int }
	if errors.As(err, &answered) {
		status = answered.HTTPStatusCode()
	}
	return status, word
}

// lacksKeys reports whether there were no keys to sign the request with.
func lacksKeys(err error) bool {
	text := err.Error()
	return errors.Is(err, errNoAzureKeys) || strings.Contains(text, "get credentials") || strings.Contains(text, "DefaultAzureCredential")
}

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

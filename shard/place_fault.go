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

// destinationFault is what a bucket did not do.
type destinationFault struct {
	words   string // what happened, and what to do: safe to show
	refused bool   // it will go on so until somebody does something
	cause   error
}

// Error implements error.
func (f *destinationFault) Error() string { return f.cause.Error() }

// Unwrap returns the cause.
func (f *destinationFault) Unwrap() error { return f.cause }

// fault says in words that are safe to show why a bucket did not do what was asked. What
// has a code already, and what was stopped from outside, stays as it is.
func (b *bucket) fault(err error) error {
	var known *relabel.Error
	switch {
	case errors.As(err, &known) && known.Code == relabel.CodeAddressRefused: // by the dialler
		return relabel.Errorf(known.Code, "%s: %s", b.name, known.Message).On("destination").Because(err)
	case err == nil, known != nil, errors.Is(err, context.Canceled):
		return err
	}
	f := &destinationFault{cause: err}
	f.words, f.refused = b.diagnose(err)
	return relabel.Errorf(relabel.CodeUnavailable, "%s: %s", b.name, f.words).On("destination").Because(f)
}

// refusedAtOnce makes of a destination that refuses an error that trying again does not help.
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

// diagnose says what happened and what to do, and whether it will go on so until somebody
// does that.
func (b *bucket) diagnose(err error) (words string, refused bool) {
	status, word := answerOf(err)
	said := ""
	if plainWord.MatchString(word) {
		said = " (" + word + ")"
	}
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, slices.Contains(ofKeys, word):
		return fmt.Sprintf("the keys on %s are not taken%s: %s", b.machine, said, b.keys()), true
	case lacksKeys(err):
		return fmt.Sprintf("there are no keys for it on %s: %s", b.machine, b.keys()), true
	case status == http.StatusNotFound, gcerrors.Code(err) == gcerrors.NotFound:
		return fmt.Sprintf("it is not there%s: make the bucket, or start the export with another destination", said), true
	case slices.Contains(ofCollisions[status], word):
		return fmt.Sprintf("other requests were at the same object each time%s", said), false
	case status == http.StatusConflict:
		return fmt.Sprintf("it answered 409%s: another object is in the way; start the export with another prefix or bucket", said), true
	case status >= http.StatusInternalServerError, status == http.StatusRequestTimeout, status == http.StatusTooManyRequests:
		return fmt.Sprintf("it answered %d%s", status, said), false
	case status != 0:
		return fmt.Sprintf("it answered %d%s: check the region and the other parameters of the destination", status, said), true
	}
	return unanswered(err)
}

// ofKeys are words for keys that are not taken, which come with other statuses.
var ofKeys = []string{"ExpiredToken", "InvalidToken", "TokenRefreshRequired", "RequestExpired", "XAdminUserNotFound"}

// ofCollisions are the words, by status, for a request that another one at the same time kept
// from being done: of S3, and of Azure, where a writer that commits a file first drops the blocks
// of every other one, and a container that is being deleted is gone or made again soon.
var ofCollisions = map[int][]string{
	http.StatusConflict:           {"OperationAborted", "ConditionalRequestConflict", "ContainerBeingDeleted", "PendingCopyOperation"},
	http.StatusPreconditionFailed: {"PreconditionFailed", "ConditionNotMet"},
	http.StatusBadRequest:         {"InvalidBlockList"},
}

// plainWord is what of a server's own words may be shown.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9]{1,60}$`)

// answerOf returns the status of what a server answered, 0 where it did not, and its word
// for what happened.
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

// lacksKeys reports whether there were no keys to sign a request with.
func lacksKeys(err error) bool {
	text := err.Error()
	return errors.Is(err, errNoAzureKeys) || strings.Contains(text, "get credentials") || strings.Contains(text, "DefaultAzureCredential")
}

// unanswered says why there was no answer.
func unanswered(err error) (words string, refused bool) {
	var name *net.DNSError
	var line net.Error
	switch {
	case errors.As(err, &name):
		return "its host has no address here", false
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens there", false
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &line) && line.Timeout():
		return "it did not answer in time", false
	case errors.As(err, &line), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return "the line to it broke", false
	}
	return "it cannot be reached so: check the region, the endpoint and the other parameters of the destination", true
}

// keys says where keys come from.
func (b *bucket) keys() string {
	if strings.HasPrefix(b.name, "azblob:") {
		return "set AZURE_STORAGE_ACCOUNT and AZURE_STORAGE_KEY (or AZURE_STORAGE_SAS_TOKEN) in the environment of relabel there, with the right to write, list and delete"
	}
	return "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment of relabel there, with the right to write, list and delete"
}

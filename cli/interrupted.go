package cli

import (
	"context"
	"errors"
	"fmt"

	"relabel/safetext"
)

// interrupted is the error of a command that a signal ended while the awaited work continues.
type interrupted struct{ text string }

func (e interrupted) Error() string { return e.text }

// Unwrap returns context.Canceled, which determines the exit code.
func (interrupted) Unwrap() error { return context.Canceled }

// Interruptedf returns an interrupted error that names the continuing work and its server.
func Interruptedf(format string, args ...any) error {
	return interrupted{"interrupted; " + fmt.Sprintf(format, args...)}
}

// elsewhere names the server that continues the work when the command stops waiting.
func (c *Session) elsewhere() string {
	if c.local != nil {
		return "with the workers of this database"
	}
	return "at the server"
}

// Message returns the message of a command's error, or a short one for a plain
// interruption.
func Message(err error) string {
	var told interrupted
	switch {
	case errors.As(err, &told):
		return safetext.TerminalLine(told.text)
	case errors.Is(err, context.Canceled):
		return "interrupted"
	}
	return safetext.Terminal(err.Error())
}

// ErrSomeFailed is the error of a command that has already printed the failures.
var ErrSomeFailed = errors.New("some operations failed; see above")

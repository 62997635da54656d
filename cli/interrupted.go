package cli

import (
	"context"
	"errors"
	"fmt"

	"relabel/safetext"
)

// interrupted ends a command that a signal ended while what it waited for goes on.
type interrupted struct{ text string }

func (e interrupted) Error() string { return e.text }

// Unwrap makes it the end of a context, which decides the exit code.
func (interrupted) Unwrap() error { return context.Canceled }

// Interruptedf says what goes on, and where.
func Interruptedf(format string, args ...any) error {
	return interrupted{"interrupted; " + fmt.Sprintf(format, args...)}
}

// elsewhere says who goes on with what a command of this client does not wait for.
func (c *Session) elsewhere() string {
	if c.local != nil {
		return "with the workers of this database"
	}
	return "at the server"
}

// Message is what a command's error says. Of a bare end by a signal there is no more to
// say than that.
func Message(err error) string {
	var told interrupted
	switch {
	case errors.As(err, &told):
		return told.text
	case errors.Is(err, context.Canceled):
		return "interrupted"
	}
	return safetext.Terminal(err.Error())
}

// ErrSomeFailed ends a command that has already said what failed.
var ErrSomeFailed = errors.New("not everything went well; see above")

package main

import (
	"io"
	"os"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/term"
)

// quietLog logs only warnings and errors.
func quietLog() zerolog.Logger { return newLog().Level(zerolog.WarnLevel) }

// newLog logs readable lines on a terminal and JSON lines elsewhere.
func newLog() zerolog.Logger {
	var out io.Writer = os.Stderr
	if term.IsTerminal(int(os.Stderr.Fd())) {
		out = zerolog.ConsoleWriter{Out: os.Stderr, TimeFormat: time.TimeOnly}
	}
	return zerolog.New(out).Level(zerolog.InfoLevel).With().Timestamp().Logger()
}

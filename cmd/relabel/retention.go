package main

import (
	"time"

	"relabel"
)

// retentionFlags are the retention times of what a worker purges.
type retentionFlags struct {
	KeepEvents time.Duration `default:"720h" env:"RELABEL_KEEP_EVENTS" help:"How long events are kept."`
	KeepCalls  time.Duration `default:"0" env:"RELABEL_KEEP_CALLS" help:"How long individual model calls are kept; their usage stays counted. 0: for ever."`
	KeepAudit  time.Duration `default:"8760h" env:"RELABEL_KEEP_AUDIT" help:"How long the audit log is kept. 0: for ever."`
}

// check refuses times that are too short to be meant.
func (f retentionFlags) check() error {
	for _, c := range []struct {
		flag    string
		keep    time.Duration
		forever bool
	}{{"--keep-events", f.KeepEvents, false}, {"--keep-calls", f.KeepCalls, true}, {"--keep-audit", f.KeepAudit, true}} {
		if c.keep < time.Minute && !(c.forever && c.keep == 0) {
			return relabel.Errorf(relabel.CodeInvalid, "is %s; it must be at least a minute", c.keep).On(c.flag)
		}
	}
	return nil
}

package remote

import (
	"time"

	"relabel"
	"relabel/envs/wire"
)

const (
	// answerTime is how long sandboxd may take for what has no deadline of its own: to answer a
	// request for a file, and to answer after a command's deadline, when it has ended the command
	// and sends its output. Before its first answer it may copy git, which takes a minute at most.
	answerTime = 2 * time.Minute
	// treeTime is how long sandboxd may take for the fingerprint or the patch of a working tree.
	treeTime = 10 * time.Minute
)

// deadlineOf returns how long sandboxd may take to answer a request: a sandbox that takes longer
// hangs, though sandboxd answers pings. 0 is for ever: a command without a deadline.
func deadlineOf(req wire.Request) time.Duration {
	switch {
	case req.Op == wire.OpFingerprint, req.Op == wire.OpPatch:
		return treeTime
	case req.Op != wire.OpRun:
		return answerTime
	case req.Timeout > 0:
		return req.Timeout + answerTime
	}
	return 0
}

// hung is the error of a request that sandboxd did not answer in time.
func hung(op wire.Op, after time.Duration) error {
	return relabel.Errorf(relabel.CodeEnvironment, "the sandbox hangs: it did not answer %q within %s", op, after)
}

package remote

import (
	"time"

	"relabel/envs/wire"
)

const (
	// answerTime bounds requests without a deadline of their own, and the answer after a command's
	// deadline. Before its first answer sandboxd may copy git, which takes a minute at most.
	answerTime = 2 * time.Minute
	// treeTime bounds the fingerprint and the patch of a working tree.
	treeTime = 10 * time.Minute
)

// deadlineOf returns how long sandboxd may take to answer a request. A sandbox that takes longer
// hangs, even if sandboxd answers pings. 0 means no limit, for a command without a deadline.
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

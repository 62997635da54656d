package relabel

import (
	"context"
	"time"
)

// ExportPush is a push of a finished export to the Hugging Face Hub. Its states are those of exports.
type ExportPush struct {
	Number       int         `json:"number" doc:"Its number among the pushes of the export, from 1."`
	Destination  string      `json:"destination" doc:"The place that was named: hf://organisation/name, with a branch and a folder if there are any."`
	AllowSecrets []string    `json:"allow_secrets,omitempty" doc:"Rules of secrets that the text may have; absent: none."`
	State        ExportState `json:"state" doc:"queued, running, done, failed or cancelled."`
	SentBytes    int64       `json:"sent_bytes" doc:"Bytes of large files that were uploaded so far; when it is done, bytes."`
	Bytes        int64       `json:"bytes" doc:"Bytes of all files; 0 before it runs."`
	Place        string      `json:"place,omitempty" doc:"Where it is on the Hub, with the commit: hf://organisation/name@COMMIT; absent before it is done."`
	Failure      string      `json:"failure,omitempty" doc:"Why it failed."`
	Waiting      string      `json:"waiting,omitempty" doc:"Reason of the current wait: the Hub is busy or unreachable, or a quota is used up."`
	WaitingSince *time.Time  `json:"waiting_since,omitempty" doc:"When the wait began."`
	CreatedAt    time.Time   `json:"created_at" doc:"When it was requested."`
	EndedAt      *time.Time  `json:"ended_at,omitempty" doc:"When it ended."`
}

// Open reports whether the push is queued or running.
func (p ExportPush) Open() bool { return p.State == ExportQueued || p.State == ExportRunning }

// OpenPush returns the push of the export that is queued or running, nil if there is none.
func (e Export) OpenPush() *ExportPush {
	for i := range e.Pushes {
		if e.Pushes[i].Open() {
			return &e.Pushes[i]
		}
	}
	return nil
}

// Push returns the push with a number; CodeNotFound if there is none.
func (e Export) Push(number int) (ExportPush, error) {
	for _, p := range e.Pushes {
		if p.Number == number {
			return p, nil
		}
	}
	return ExportPush{}, Errorf(CodeNotFound, "the export has no push %d", number)
}

// ExportPushStore stores pushes of exports.
type ExportPushStore interface {
	// CreatePush stores a queued push with the next number, and queues its job, in one transaction. It returns
	// the number. If a push of the export to the same place is open, it returns that. CodeConflict if a push to another
	// place is open, or the export is not done.
	CreatePush(ctx context.Context, export ID, p ExportPush) (number int, err error)
	// CancelPush cancels the open push of an export: CodeConflict if there is none.
	CancelPush(ctx context.Context, export ID) error
}

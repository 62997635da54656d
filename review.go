package relabel

import (
	"context"
	"strings"
	"time"
)

// Review is a person's remark on a trajectory or one of its turns: a flag, a note, or both. A
// trajectory may have many.
type Review struct {
	ID           ID         `json:"id" doc:"Its id."`
	TrajectoryID ID         `json:"trajectory_id" doc:"The reviewed trajectory."`
	RunID        ID         `json:"run_id" doc:"The trajectory's run."`
	InstanceID   string     `json:"instance_id" doc:"The trajectory's task."`
	T            *int       `json:"t,omitempty" doc:"The reviewed turn; absent: the whole trajectory."`
	Flag         string     `json:"flag,omitempty" doc:"The flag, by which lists and exports filter; absent: only a note."`
	Note         string     `json:"note,omitempty" doc:"The note."`
	Author       string     `json:"author,omitempty" doc:"The author, as given."`
	CreatedAt    time.Time  `json:"created_at" doc:"When it was written."`
	EditedAt     *time.Time `json:"edited_at,omitempty" doc:"When it was last changed; absent: never."`
}

// longestFlag is the maximum length of a flag, in characters.
const longestFlag = 60

// AnyFlag stands for every flag in filters.
const AnyFlag = "*"

// Validate returns a CodeInvalid error if a review is empty or its flag is malformed.
func (r Review) Validate() error {
	switch {
	case r.Flag == "" && strings.TrimSpace(r.Note) == "":
		return Errorf(CodeInvalid, "a review needs a flag, a note, or both").On("flag")
	case r.Flag != "" && !IsFlag(r.Flag):
		return Errorf(CodeInvalid, "a flag must have 1 to %d characters of a-z, 0-9, hyphen, dot and underscore, and begin with a letter or a digit, for example wrong-label", longestFlag).On("flag")
	}
	return nil
}

// IsFlag reports whether name can be a flag. There is only one way to write a flag, so that a
// filter finds all its uses.
func IsFlag(name string) bool {
	for i := range len(name) {
		c := name[i]
		inner := c == '-' || c == '.' || c == '_'
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || inner && i > 0) {
			return false
		}
	}
	return name != "" && len(name) <= longestFlag
}

// ReviewFilter narrows a list of reviews. Zero fields do not narrow.
type ReviewFilter struct {
	RunID        *ID
	TrajectoryID *ID
	Flag         string // AnyFlag: any flag
}

// FlaggedState is a flagged state.
type FlaggedState struct {
	T    int    `json:"t"` // its turn; 0: the whole trajectory
	Flag string `json:"flag"`
}

// FlagCount is the number of reviews with a flag.
type FlagCount struct {
	Flag  string
	Count int
}

// ReviewStore stores reviews.
type ReviewStore interface {
	// CreateReview returns CodeNotFound if there is no such trajectory, CodeInvalid if it has no
	// such turn. EditReview replaces the review's flag, note and author.
	CreateReview(ctx context.Context, r Review) error
	EditReview(ctx context.Context, r Review) (Review, error)
	FindReview(ctx context.Context, trajectory, id ID) (Review, error)
	DeleteReview(ctx context.Context, trajectory, id ID) error
	ListReviews(ctx context.Context, f ReviewFilter, p Page) (list []Review, next string, err error)
}

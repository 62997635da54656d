package relabel

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"
)

// Review is what a person says of a trajectory, or of one of its turns: a flag, a note,
// or both. A trajectory may have many.
type Review struct {
	ID           ID         `json:"id" doc:"Its id."`
	TrajectoryID ID         `json:"trajectory_id" doc:"The trajectory that it is about."`
	RunID        ID         `json:"run_id" doc:"The trajectory's run."`
	InstanceID   string     `json:"instance_id" doc:"The trajectory's task."`
	T            *int       `json:"t,omitempty" doc:"The turn that it is about; absent: the whole trajectory."`
	Flag         string     `json:"flag,omitempty" doc:"The flag, by which lists and exports filter; absent: it is a note alone."`
	Note         string     `json:"note,omitempty" doc:"What there is to say."`
	Author       string     `json:"author,omitempty" doc:"Who said it, as given."`
	CreatedAt    time.Time  `json:"created_at" doc:"When it was written."`
	EditedAt     *time.Time `json:"edited_at,omitempty" doc:"When it was last changed; absent: never."`
}

// Bounds of a review's texts, in characters.
const (
	longestFlag   = 60
	longestNote   = 10_000
	longestAuthor = 100
)

// AnyFlag stands for every flag where flags are named to filter by them.
const AnyFlag = "*"

// Validate refuses a review that says nothing, or too much. CodeInvalid, with the field.
func (r Review) Validate() error {
	switch {
	case r.Flag == "" && strings.TrimSpace(r.Note) == "":
		return Errorf(CodeInvalid, "a review has a flag, a note, or both").On("flag")
	case r.Flag != "" && !IsFlag(r.Flag):
		return Errorf(CodeInvalid, "a flag is 1 to %d of a-z, 0-9, hyphen, dot and underscore, and begins with a letter or a digit, such as wrong-label", longestFlag).On("flag")
	case utf8.RuneCountInString(r.Note) > longestNote:
		return Errorf(CodeInvalid, "a note has at most %d characters", longestNote).On("note")
	case utf8.RuneCountInString(r.Author) > longestAuthor:
		return Errorf(CodeInvalid, "an author's name has at most %d characters", longestAuthor).On("author")
	case r.T != nil && *r.T < 1:
		return Errorf(CodeInvalid, "turns count from 1").On("t")
	}
	return nil
}

// IsFlag reports whether name can be a flag. The same word is always written in the same
// way, so that a filter by it finds all.
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
	Flag         string // AnyFlag: those that have one
}

// FlaggedState is a state that a flag speaks of.
type FlaggedState struct {
	T    int    `json:"t"` // its turn; 0: all of the trajectory
	Flag string `json:"flag"`
}

// FlagCount is how many reviews have a flag.
type FlagCount struct {
	Flag  string
	Count int
}

// ReviewStore stores reviews.
type ReviewStore interface {
	// CreateReview: CodeNotFound where there is no such trajectory, CodeInvalid where it has
	// no such turn. EditReview puts what r says in the place of what was said.
	CreateReview(ctx context.Context, r Review) error
	EditReview(ctx context.Context, r Review) (Review, error)
	FindReview(ctx context.Context, trajectory, id ID) (Review, error)
	DeleteReview(ctx context.Context, trajectory, id ID) error
	ListReviews(ctx context.Context, f ReviewFilter, p Page) (list []Review, next string, err error)
}

package api

import "relabel"

// NewReview is what a reviewer says.
type NewReview struct {
	T      *int   `json:"t,omitempty" name:"turn" placeholder:"N" minimum:"1" help:"Number of the turn that the review is about. Default: the whole trajectory." doc:"The turn that it is about; absent: the whole trajectory."`
	Flag   string `json:"flag,omitempty" maxLength:"60" doc:"A name of your choice, such as leak or wrong-label: a-z, 0-9, hyphen, dot and underscore. Lists and exports filter by it."`
	Note   string `json:"note,omitempty" maxLength:"10000" doc:"Text of the note."`
	Author string `json:"author,omitempty" env:"RELABEL_AUTHOR,USER" maxLength:"100" doc:"The author's name as shown. It is not checked."`
}

// Of is the review of a trajectory, with a new id. CodeInvalid if it cannot be stored.
func (n NewReview) Of(trajectory relabel.ID) (relabel.Review, error) {
	r := relabel.Review{ID: relabel.NewID(), TrajectoryID: trajectory, T: n.T, Flag: n.Flag, Note: n.Note, Author: n.Author}
	return r, r.Validate()
}

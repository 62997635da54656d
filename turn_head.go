package relabel

import "time"

// TurnHead is a turn without its texts: what tells it from its neighbours in an overview
// of a whole trajectory, read without touching what may be as large as a megabyte.
type TurnHead struct {
	T            int
	Executor     Role
	Label        ActionStatus // of the label: Had where the teacher executed; "" in an evaluation
	LabelReason  string       // of a missing one, its first 300 characters
	Agrees       *bool        // of a student's turn whose label is there: does it do the same?
	Parse        ParseOutcome // of the executed action
	FinishReason string
	Tools        []string // that were called, as far as there are observations; the first 60 bytes of each
	Failed       int      // observations whose tool failed
	ExitCode     *int     // the first that is not 0; nil where there is none
	Usage        *Usage   // of the executed action
	ActionBytes  int      // of the executed action's message
	LabelBytes   int      // of the label's, where it is another one
	OutputBytes  int64    // of all observations
	StartedAt    time.Time
	EndedAt      time.Time
}

// TurnExcerpt is a turn whose observations are cut: of each there is the beginning and
// the end.
type TurnExcerpt struct {
	Turn // its Observations hold what each begins with
	// Tails and Lengths belong to the observations in their order: what each ends with, ""
	// where its beginning is all of it, and how many bytes it has.
	Tails   []string
	Lengths []int
	// ActionBytes and LabelBytes are the lengths of messages that are left out because they
	// are longer than MostActionBytes; 0 for those that are there.
	ActionBytes, LabelBytes int
}

// MostActionBytes is how long a message may be to be part of an excerpt: far more than an
// endpoint's limit of tokens lets through.
const MostActionBytes = 2 << 20

package relabel

import "time"

// Spending is what the calls to one policy for one iteration of a run have used.
type Spending struct {
	IterationID ID
	PolicyID    ID
	Spent
}

// RunSpending is what a run's calls to one policy have used.
type RunSpending struct {
	RunID     ID
	RunName   string
	CreatedAt time.Time // of the run
	Spent
}

package api

import "relabel"

// WeightChecks are checks of weights.
type WeightChecks struct {
	Checks []relabel.WeightCheck `json:"checks" nullable:"false" doc:"The checks, newest first."`
}

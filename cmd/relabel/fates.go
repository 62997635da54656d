package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/rs/zerolog"

	"relabel"
)

// namedFates is how many trajectories of a state are named one by one.
const namedFates = 50

// sayWhatIsThere logs how many trajectories are in each state, and names those that
// have not come to their end: at start, at stop, and so after every interruption.
func sayWhatIsThere(ctx context.Context, db *database, log zerolog.Logger) error {
	counts, err := db.CountStates(ctx)
	if err != nil {
		return err
	}
	var parts []string
	for _, state := range relabel.TrajectoryStates {
		n := counts[state]
		if n == 0 {
			continue
		}
		parts = append(parts, fmt.Sprintf("%d %s", n, state))
		if err := nameUnfinished(ctx, db, state, n, log); err != nil {
			return err
		}
	}
	if len(parts) == 0 {
		parts = []string{"none yet"}
	}
	log.Info().Msg("trajectories: " + strings.Join(parts, ", "))
	return nil
}

// nameUnfinished logs a line for each trajectory of a state that is not terminal.
func nameUnfinished(ctx context.Context, db *database, state relabel.TrajectoryState, n int, log zerolog.Logger) error {
	if state.Terminal() {
		return nil
	}
	list, err := db.ListTrajectories(ctx, relabel.TrajectoryFilter{State: state}, relabel.Newest, relabel.Page{Limit: namedFates})
	if err != nil {
		return err
	}
	for _, j := range list.Items {
		log.Info().Stringer("trajectory", j.ID).Str("instance", j.InstanceID).Int("iteration", j.Iteration).
			Int("attempts", j.Attempt).Msg("is " + string(state))
	}
	if more := n - len(list.Items); more > 0 {
		log.Info().Msgf("and %d more are %s", more, state)
	}
	return nil
}

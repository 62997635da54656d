package worker

import (
	"context"
	"fmt"
	"strings"

	"github.com/rs/zerolog"

	"relabel"
)

// namedPerState bounds how many trajectories of a state are logged one by one.
const namedPerState = 50

// SummaryStore reads trajectories.
type SummaryStore interface {
	CountStates(ctx context.Context) (map[relabel.TrajectoryState]int, error)
	ListTrajectories(ctx context.Context, f relabel.TrajectoryFilter, sort relabel.TrajectorySort, page relabel.Page) (relabel.TrajectoryPage, error)
}

// LogCounts logs how many trajectories are in each state and lists the unfinished ones.
// Processes call it at the start and at the stop.
func LogCounts(ctx context.Context, store SummaryStore, log zerolog.Logger) error {
	counts, err := store.CountStates(ctx)
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
		if state.Terminal() {
			continue
		}
		list, err := store.ListTrajectories(ctx, relabel.TrajectoryFilter{State: state}, relabel.Newest, relabel.Page{Limit: namedPerState})
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
	}
	if len(parts) == 0 {
		parts = []string{"none yet"}
	}
	log.Info().Msg("trajectories: " + strings.Join(parts, ", "))
	return nil
}

package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
	"relabel/labelrule"
)

// labelledSelect reads the turns of a run's done collect trajectories with their labels, one trajectory
// after the other, and with $2 the log-probabilities of the student's tokens.
const labelledSelect = `SELECT tr.id, tr.iteration_id, tr.task_id, ta.instance_id, tr.generation, tr.executors,
		l.status, tu.agrees, l.prompt_tokens, l.completion_tokens, l.cached_tokens,
		EXISTS (SELECT 1 FROM observations o WHERE (o.trajectory_id, o.attempt, o.t) = (tu.trajectory_id, tu.attempt, tu.t - 1) AND (o.failed OR o.exit_code <> 0)),
		CASE WHEN $2 AND tu.executor = 'student' THEN (SELECT a.logprobs FROM actions a WHERE (a.trajectory_id, a.attempt, a.t, a.policy_id, a.sample)
			= (tu.trajectory_id, tu.attempt, tu.t, tu.executor_policy_id, tu.executor_sample)) END
	FROM trajectories tr JOIN tasks ta ON ta.id = tr.task_id JOIN iterations it ON it.id = tr.iteration_id
	JOIN turns tu ON tu.trajectory_id = tr.id AND tu.attempt = tr.trail
	JOIN actions l ON (l.trajectory_id, l.attempt, l.t, l.policy_id, l.sample) = (tu.trajectory_id, tu.attempt, tu.t, tu.label_policy_id, tu.label_sample)
	WHERE tr.run_id = $1 AND tr.kind = 'collect' AND tr.state = 'done'
	ORDER BY it.number, it.id, ta.instance_id, tr.generation, tr.id, tu.t`

// ListLabelledTrajectories lists the done trajectories of a run's collect iterations that have turns. It
// keeps an uncertainty of the log-probabilities, which it reads one turn at a time.
func (s *Store) ListLabelledTrajectories(ctx context.Context, run relabel.ID, logprobs bool) ([]relabel.LabelledTrajectory, error) {
	var all []relabel.LabelledTrajectory
	err := s.read(ctx, func(tx pgx.Tx) error {
		var tr relabel.LabelledTrajectory
		var state relabel.LabelledState
		var id, last relabel.ID
		var prompt, completion, cached *int
		var tokens []float32
		rows, _ := tx.Query(ctx, labelledSelect, run, logprobs)
		_, err := pgx.ForEachRow(rows, []any{&id, &tr.IterationID, &tr.TaskID, &tr.InstanceID, &tr.Generation, &tr.Executors,
			&state.Status, &state.Agrees, &prompt, &completion, &cached, &state.AfterFailure, &tokens}, func() error {
			if id != last {
				all = append(all, tr)
				last = id
			}
			state.Usage, state.Uncertainty = nil, labelrule.Uncertainty(tokens)
			if prompt != nil {
				state.Usage = &relabel.Usage{PromptTokens: *prompt, CompletionTokens: *completion, CachedTokens: *cached}
			}
			of := &all[len(all)-1]
			of.States = append(of.States, state)
			return nil
		})
		return err
	})
	return all, err
}

package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"relabel"
	"relabel/labelrule"
)

// labelledAtOnce is how many trajectories are read in one statement: some thousand states.
const labelledAtOnce = 100

// labelledSelect reads the turns of trajectories with their labels, one trajectory after the other, and
// with $2 the log-probabilities of the student's tokens.
const labelledSelect = `SELECT tr.id, tr.iteration_id, tr.task_id, ta.instance_id, tr.generation, tr.executors, tr.verdict = 'cut', tu.t,
		l.status, tu.agrees, l.prompt_tokens, l.completion_tokens, l.cached_tokens,
		EXISTS (SELECT 1 FROM observations o WHERE (o.trajectory_id, o.attempt, o.t) = (tu.trajectory_id, tu.attempt, tu.t - 1) AND (o.failed OR o.exit_code <> 0)),
		CASE WHEN $2 AND tu.executor = 'student' THEN (SELECT a.logprobs FROM actions a WHERE (a.trajectory_id, a.attempt, a.t, a.policy_id, a.sample)
			= (tu.trajectory_id, tu.attempt, tu.t, tu.executor_policy_id, tu.executor_sample)) END
	FROM trajectories tr JOIN tasks ta ON ta.id = tr.task_id
	JOIN turns tu ON tu.trajectory_id = tr.id AND tu.attempt = tr.trail
	JOIN actions l ON (l.trajectory_id, l.attempt, l.t, l.policy_id, l.sample) = (tu.trajectory_id, tu.attempt, tu.t, tu.label_policy_id, tu.label_sample)
	WHERE tr.id = ANY ($1) AND tr.state = 'done'
	ORDER BY tr.id, tu.t`

// EachLabelledTrajectory visits the done trajectories of a run's collect iterations that have turns, in the
// order of their ids. It keeps an uncertainty of the log-probabilities, which it reads one turn at a time.
// CodeInternal if a turn has no label, which no change of the store does.
func (s *Store) EachLabelledTrajectory(ctx context.Context, run relabel.ID, logprobs bool, visit func(relabel.LabelledTrajectory) error) error {
	ids, err := readColumn[relabel.ID](ctx, s.pool, "SELECT id FROM trajectories WHERE run_id = $1 AND kind = 'collect' AND state = 'done' ORDER BY id", run)
	if err != nil {
		return classify(err)
	}
	for part := range slices.Chunk(ids, labelledAtOnce) {
		list, err := s.readLabelled(ctx, part, logprobs)
		if err != nil {
			return err
		}
		for _, tr := range list {
			if err := visit(tr); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Store) readLabelled(ctx context.Context, ids []relabel.ID, logprobs bool) ([]relabel.LabelledTrajectory, error) {
	var all []relabel.LabelledTrajectory
	var tr relabel.LabelledTrajectory
	var state relabel.LabelledState
	var id, last relabel.ID
	var t int
	var prompt, completion, cached *int
	var tokens []float32
	rows, _ := s.pool.Query(ctx, labelledSelect, ids, logprobs)
	_, err := pgx.ForEachRow(rows, []any{&id, &tr.IterationID, &tr.TaskID, &tr.InstanceID, &tr.Generation, &tr.Executors, &tr.Cut, &t,
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
		if of.States = append(of.States, state); t != len(of.States) {
			return relabel.Errorf(relabel.CodeInternal, "turn %d of trajectory %s has no label", len(of.States), id)
		}
		return nil
	})
	return all, classify(err)
}

package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
	"relabel/stats"
)

// ListDivergences compares the students of a run's iterations with a teacher, by kind and number. It reads
// all scores of both, one turn at a time.
func (s *Store) ListDivergences(ctx context.Context, run, teacher relabel.ID) ([]relabel.Divergence, error) {
	var all []relabel.Divergence
	err := s.read(ctx, func(tx pgx.Tx) error {
		var err error
		if all, err = readCompared(ctx, tx, run, teacher); err != nil {
			return err
		}
		at := make(map[relabel.ID]*relabel.Divergence, len(all))
		for i := range all {
			at[all[i].IterationID] = &all[i]
		}
		if err := addTools(ctx, tx, run, at); err != nil {
			return err
		}
		return addKL(ctx, tx, run, teacher, at)
	})
	return all, err
}

// readCompared reads the run's iterations with a turn of a student, without their scores.
func readCompared(ctx context.Context, tx pgx.Tx, run, teacher relabel.ID) ([]relabel.Divergence, error) {
	rows, _ := tx.Query(ctx, `SELECT it.id, it.kind, it.number, it.student_id, sum(tr.turns - tr.teacher_turns), sum(tr.compared), sum(tr.agreed)
		FROM iterations it JOIN trajectories tr ON tr.iteration_id = it.id AND tr.state = 'done' AND tr.turns > tr.teacher_turns
		WHERE it.run_id = $1 GROUP BY it.id ORDER BY it.kind, it.number, it.id`, run)
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (relabel.Divergence, error) {
		d := relabel.Divergence{TeacherID: teacher, Tools: []relabel.ToolAgreement{}}
		err := row.Scan(&d.IterationID, &d.Kind, &d.Number, &d.StudentID, &d.Unscored, &d.Compared, &d.Agreed)
		return d, err
	})
}

// addTools adds the agreement by the tool that the student called first.
func addTools(ctx context.Context, tx pgx.Tx, run relabel.ID, at map[relabel.ID]*relabel.Divergence) error {
	rows, _ := tx.Query(ctx, `SELECT tr.iteration_id, substr(o.tool, 1, 60), count(*), count(*) FILTER (WHERE tu.agrees)
		FROM trajectories tr JOIN turns tu ON tu.trajectory_id = tr.id AND tu.attempt = tr.trail AND tu.agrees IS NOT NULL
		LEFT JOIN LATERAL (SELECT tool FROM observations o WHERE (o.trajectory_id, o.attempt, o.t) = (tu.trajectory_id, tu.attempt, tu.t) ORDER BY k LIMIT 1) o ON true
		WHERE tr.run_id = $1 AND tr.state = 'done' GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2`, run)
	var iteration relabel.ID
	var tool []byte
	var of relabel.ToolAgreement
	_, err := pgx.ForEachRow(rows, []any{&iteration, &tool, &of.Compared, &of.Agreed}, func() error {
		d := at[iteration]
		if d == nil {
			return nil
		}
		of.Tool = validUTF8(string(tool))
		if len(d.Tools) < relabel.MaxDivergenceTools {
			d.Tools = append(d.Tools, of)
			return nil
		}
		if len(d.Tools) == relabel.MaxDivergenceTools {
			d.Tools = append(d.Tools, relabel.ToolAgreement{Rest: true})
		}
		rest := &d.Tools[relabel.MaxDivergenceTools]
		rest.Compared += of.Compared
		rest.Agreed += of.Agreed
		return nil
	})
	return err
}

// pairSelect reads the scores of a student's turns under the student and under a teacher, the turns of a
// trajectory one after the other.
const pairSelect = `SELECT tr.iteration_id, tr.id, st.logprobs, st.top_k, st.top_ids, st.top_logprobs, te.logprobs, te.top_k, te.top_ids, te.top_logprobs
	FROM trajectories tr JOIN turns tu ON tu.trajectory_id = tr.id AND tu.attempt = tr.trail AND tu.executor = 'student'
	JOIN scores st ON (st.trajectory_id, st.attempt, st.t, st.policy_id) = (tu.trajectory_id, tu.attempt, tu.t, tu.executor_policy_id) AND st.reason IS NULL
	JOIN scores te ON (te.trajectory_id, te.attempt, te.t, te.policy_id) = (tu.trajectory_id, tu.attempt, tu.t, $2) AND te.reason IS NULL
	WHERE tr.run_id = $1 AND tr.state = 'done' ORDER BY tr.iteration_id, tr.id, tu.t`

// addKL adds the estimates of scores.
func addKL(ctx context.Context, tx pgx.Tx, run, teacher relabel.ID, at map[relabel.ID]*relabel.Divergence) error {
	var iteration, trajectory, last relabel.ID
	var pair [2]storedScore
	fields := append([]any{&iteration, &trajectory}, append(pair[0].fields(), pair[1].fields()...)...)
	sums := map[relabel.ID][]stats.KL{} // by iteration, one per trajectory
	rows, _ := tx.Query(ctx, pairSelect, run, teacher)
	_, err := pgx.ForEachRow(rows, fields, func() error {
		if trajectory != last || len(sums[iteration]) == 0 {
			sums[iteration] = append(sums[iteration], stats.KL{})
			last = trajectory
		}
		addPair(&sums[iteration][len(sums[iteration])-1], pair[0].score(), pair[1].score())
		if d := at[iteration]; d != nil {
			d.Turns++
			d.Unscored--
		}
		return nil
	})
	for id, of := range sums {
		if d := at[id]; d != nil {
			estimate(d, of)
		}
	}
	return err
}

// storedScore are the columns of a score in a pair.
type storedScore struct {
	logprobs, topIDs, topLogprobs []byte
	topK                          int
}

func (s *storedScore) fields() []any {
	return []any{&s.logprobs, &s.topK, &s.topIDs, &s.topLogprobs}
}

func (s *storedScore) score() relabel.Score {
	return relabel.Score{Logprobs: floatsOf(s.logprobs), TopK: s.topK, TopIDs: intsOf(s.topIDs), TopLogprobs: floatsOf(s.topLogprobs)}
}

// addPair adds the tokens of a turn. Both scores are of the same tokens.
func addPair(k *stats.KL, student, teacher relabel.Score) {
	for i := range min(len(student.Logprobs), len(teacher.Logprobs)) {
		if !k.Add(float64(student.Logprobs[i]), float64(teacher.Logprobs[i])) || student.TopK == 0 || teacher.TopK == 0 {
			continue
		}
		own, ownLogprobs := student.Top(i)
		theirs, theirLogprobs := teacher.Top(i)
		k.AddTop(stats.LumpedKL(own, ownLogprobs, theirs, theirLogprobs))
	}
}

// estimate computes the means of an iteration's trajectories.
func estimate(d *relabel.Divergence, of []stats.KL) {
	var k1, k3, top []stats.MeanCluster
	for _, k := range of {
		d.Trajectories++
		d.Tokens += k.Tokens
		d.Impossible += k.Impossible
		d.TopTokens += k.TopTokens
		k1 = append(k1, stats.MeanCluster{Sum: k.K1, N: k.Tokens})
		k3 = append(k3, stats.MeanCluster{Sum: k.K3, N: k.Tokens})
		top = append(top, stats.MeanCluster{Sum: k.Top, N: k.TopTokens})
	}
	if d.Tokens > 0 {
		d.ByToken = &relabel.KLEstimate{K1: meanOf(stats.ClusteredMean(k1)), K3: meanOf(stats.ClusteredMean(k3))}
		d.ByTrajectory = &relabel.KLEstimate{K1: meanOf(stats.MeanOfMeans(k1)), K3: meanOf(stats.MeanOfMeans(k3))}
	}
	if d.TopTokens > 0 {
		mean := meanOf(stats.ClusteredMean(top))
		d.Top = &mean
	}
}

func meanOf(mean float64, interval stats.Interval, known bool) relabel.Mean {
	m := relabel.Mean{Mean: mean}
	if known {
		m.Low, m.High = &interval.Low, &interval.High
	}
	return m
}

package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
	"relabel/stats"
)

// ListDivergences compares the students of a run's iterations with a teacher, by kind and number. It reads
// the scores of a trajectory only if it has new ones since the last time.
func (s *Store) ListDivergences(ctx context.Context, run, teacher relabel.ID) ([]relabel.Divergence, error) {
	if err := s.sumDivergences(ctx, run, teacher); err != nil {
		return nil, err
	}
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
		if len(all) > 0 && all[0].Agreement != nil {
			if err := addTools(ctx, tx, run, at); err != nil {
				return err
			}
		}
		return addKL(ctx, tx, run, teacher, at)
	})
	return all, err
}

// readCompared reads the run's iterations with a turn of a student, without their scores.
func readCompared(ctx context.Context, tx pgx.Tx, run, teacher relabel.ID) ([]relabel.Divergence, error) {
	rows, _ := tx.Query(ctx, `SELECT it.id, it.kind, it.number, it.benchmark_id, coalesce(be.name, ''), it.student_id, po.name || '@' || po.version,
			it.kind = 'evaluate' OR po.temperature = 0, sum(tr.turns - tr.teacher_turns), sum(tr.compared), sum(tr.agreed), coalesce(ru.teacher_id = $2, false), it.label_rule
		FROM iterations it JOIN runs ru ON ru.id = it.run_id JOIN policies po ON po.id = it.student_id LEFT JOIN benchmarks be ON be.id = it.benchmark_id
		JOIN trajectories tr ON tr.iteration_id = it.id AND tr.state = 'done' AND tr.turns > tr.teacher_turns
		WHERE it.run_id = $1 GROUP BY it.id, ru.id, po.id, be.id ORDER BY it.kind, it.number, it.id`, run, teacher)
	rounds := map[string]int{}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (relabel.Divergence, error) {
		d := relabel.Divergence{TeacherID: teacher}
		labels := relabel.LabelAgreement{Tools: []relabel.ToolAgreement{}}
		ofTeacher := false
		err := row.Scan(&d.IterationID, &d.Kind, &d.Number, &d.BenchmarkID, &d.Benchmark, &d.StudentID, &d.Student, &d.Greedy, &d.Unscored, &labels.Compared, &labels.Agreed, &ofTeacher, &labels.LabelRule)
		if ofTeacher {
			d.Agreement = &labels
		}
		d.Round = roundOf(d, rounds)
		return d, err
	})
}

// roundOf is the round of the next iteration in order; last has the ones before by kind and benchmark.
func roundOf(d relabel.Divergence, last map[string]int) int {
	if d.Kind.Labelled() {
		return d.Number
	}
	on := string(d.Kind)
	if d.BenchmarkID != nil {
		on += d.BenchmarkID.String()
	}
	last[on]++
	return last[on]
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
		labels := d.Agreement
		if len(labels.Tools) < relabel.MaxDivergenceTools {
			labels.Tools = append(labels.Tools, of)
			return nil
		}
		if len(labels.Tools) == relabel.MaxDivergenceTools {
			labels.Tools = append(labels.Tools, relabel.ToolAgreement{Rest: true})
		}
		rest := &labels.Tools[relabel.MaxDivergenceTools]
		rest.Compared += of.Compared
		rest.Agreed += of.Agreed
		return nil
	})
	return err
}

// addKL adds the estimates of scores from the sums of trajectories.
func addKL(ctx context.Context, tx pgx.Tx, run, teacher relabel.ID, at map[relabel.ID]*relabel.Divergence) error {
	var iteration relabel.ID
	var turns int
	var k stats.KL
	sums := map[relabel.ID][]stats.KL{} // by iteration, one per trajectory
	rows, _ := tx.Query(ctx, `SELECT tr.iteration_id, ds.turns, ds.tokens, ds.impossible, ds.k1, ds.k3, ds.top_tokens, ds.top
		FROM trajectories tr JOIN divergence_sums ds ON ds.trajectory_id = tr.id AND ds.teacher_id = $2 AND ds.attempt = tr.trail AND ds.turns > 0
		WHERE tr.run_id = $1 AND tr.state = 'done' ORDER BY tr.iteration_id, tr.id`, run, teacher)
	_, err := pgx.ForEachRow(rows, []any{&iteration, &turns, &k.Tokens, &k.Impossible, &k.K1, &k.K3, &k.TopTokens, &k.Top}, func() error {
		if d := at[iteration]; d != nil {
			d.Turns += turns
			d.Unscored -= turns
			sums[iteration] = append(sums[iteration], k)
		}
		return nil
	})
	for id, of := range sums {
		estimate(at[id], of)
	}
	return err
}

// estimate computes the means of an iteration's trajectories: k1 and k3 only of sampled tokens.
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
	if d.Tokens > 0 && !d.Greedy {
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

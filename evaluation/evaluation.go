// Package evaluation computes the figures of evaluations from the results of their tasks, with 95%
// intervals.
package evaluation

import (
	"cmp"
	"slices"

	"relabel"
	"relabel/stats"
)

// Of returns the results of an iteration from those of its tasks. The caller adds names and pass@k.
func Of(it relabel.Iteration, tasks []relabel.TaskResults) relabel.Results {
	e := relabel.Results{RunID: it.RunID, IterationID: it.ID, Kind: it.Kind, Number: it.Number, State: it.State, CreatedAt: it.CreatedAt,
		StudentID: it.StudentID, Generations: it.Generations, Tasks: len(tasks), Repositories: []relabel.RepositoryResults{}}
	var submitted ByTask
	for _, t := range tasks {
		if t.Hinted {
			e.Hinted++
		}
		e.Unverified += t.Unverified
		e.Infrastructure += t.Infrastructure
		e.Cancelled += t.Cancelled
		e.Open += t.Open
		submitted.Add(t.TaskID, t.Submitted, t.Graded)
	}
	e.Submitted = submitted.Proportion()
	e.MeanReward = meanReward(tasks)
	e.Ungraded, e.Resolved = resolved(tasks)
	for _, of := range byRepository(tasks) {
		r := relabel.RepositoryResults{Repository: of[0].Repository, Tasks: len(of)}
		r.Ungraded, r.Resolved = resolved(of)
		e.Repositories = append(e.Repositories, r)
	}
	return e
}

// meanReward is the mean reward of the trajectories that have one; nil without any.
func meanReward(tasks []relabel.TaskResults) *float64 {
	n, sum := 0, 0.0
	for _, t := range tasks {
		n, sum = n+t.Rewarded, sum+t.Rewards
	}
	if n == 0 {
		return nil
	}
	return new(sum / float64(n))
}

// resolved is the share of resolved trajectories, and the number of tasks that it lacks.
func resolved(tasks []relabel.TaskResults) (ungraded int, p relabel.Proportion) {
	var sum ByTask
	for _, t := range tasks {
		if t.Graded == 0 {
			ungraded++
			continue
		}
		sum.Add(t.TaskID, t.Resolved, t.Graded)
	}
	return ungraded, sum.Proportion()
}

// byRepository groups tasks by repository, in the order of their names.
func byRepository(tasks []relabel.TaskResults) (groups [][]relabel.TaskResults) {
	sorted := slices.Clone(tasks)
	slices.SortStableFunc(sorted, func(a, b relabel.TaskResults) int { return cmp.Compare(a.Repository, b.Repository) })
	for len(sorted) > 0 {
		n := slices.IndexFunc(sorted, func(t relabel.TaskResults) bool { return t.Repository != sorted[0].Repository })
		if n < 0 {
			n = len(sorted)
		}
		groups, sorted = append(groups, sorted[:n]), sorted[n:]
	}
	return groups
}

// bootstrapSeed makes the interval of a comparison the same each time.
const bootstrapSeed = 1

// Compare compares the results of an evaluation with those of another one on the same benchmark.
func Compare(tasks, with []relabel.TaskResults) relabel.Comparison {
	other := make(map[relabel.ID]relabel.TaskResults, len(with))
	for _, t := range with {
		other[t.TaskID] = t
	}
	c := relabel.Comparison{}
	single := true
	var differences [][]float64
	for _, a := range tasks {
		b := other[a.TaskID]
		delete(other, a.TaskID)
		if a.Graded == 0 || b.Graded == 0 {
			c.Ungraded++
			continue
		}
		single = single && a.Graded == 1 && b.Graded == 1
		difference := share(a) - share(b)
		if difference > 0 {
			c.Better++
		}
		if difference < 0 {
			c.Worse++
		}
		if difference != 0 {
			c.Changed = append(c.Changed, relabel.ChangedTask{TaskID: a.TaskID, InstanceID: a.InstanceID, Resolved: a.Resolved, Graded: a.Graded, WithResolved: b.Resolved, WithGraded: b.Graded})
		}
		differences = append(differences, []float64{difference})
	}
	c.Tasks, c.Ungraded = len(differences), c.Ungraded+len(other)
	if c.Tasks == 0 {
		return c
	}
	if single {
		c.P = new(stats.McNemar(c.Better, c.Worse))
	}
	sum := 0.0
	for _, d := range differences {
		sum += d[0]
	}
	c.Difference = new(sum / float64(c.Tasks))
	if intervals, known := bootstraps.of(differences, stats.BootstrapMeans); known {
		c.Low, c.High = &intervals[0].Low, &intervals[0].High
	}
	return c
}

func share(t relabel.TaskResults) float64 { return float64(t.Resolved) / float64(t.Graded) }

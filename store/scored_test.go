package store_test

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"relabel"
	"relabel/evaluation"
	"relabel/store"
	"relabel/store/storetest"
)

// seedScored stores a run to localise with an evaluation of three rollouts of one task: a score of 0.5 with two
// hits, one of 0 without, and one without an answer; a fourth, of another task, is queued.
func seedScored(t *testing.T, s *store.Store) (d storetest.Seeded, evaluation relabel.PlannedIteration) {
	t.Helper()
	d = storetest.SeedLocalise(t, s, 2)
	p := evaluationOf(d, 1, d.Tasks[0], d.Tasks[0], d.Tasks[0], d.Tasks[1])
	p.Iteration.Generations = 3
	for i := range p.Trajectories {
		p.Trajectories[i].Generation = i % 3
	}
	must(t, s.CreateIteration(context.Background(), p))
	claim := func(i int) relabel.Claim { return storetest.Claim(t, s, p.Trajectories[i].ID, "w") }
	storetest.Localise(t, s, claim(0), 0.5, "a.py::f", "b.go::g")
	storetest.Localise(t, s, claim(1), 0, "c.py::h")
	storetest.Localise(t, s, claim(2), 0)
	return d, p
}

func TestScoresAreCountedAndNeverAsUnresolved(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	d, p := seedScored(t, s)
	it, progress, err := s.FindIteration(ctx, p.Iteration.ID)
	must(t, err)
	scored := func(name string, p relabel.Progress) {
		t.Helper()
		if p.Scored != 3 || p.Hit != 1 || p.MeanScore == nil || math.Abs(*p.MeanScore-0.5/3) > 1e-12 || p.Submitted != 2 || p.Resolved != 0 || p.Verified != 0 || p.PassedUnsubmitted != 0 || p.Unverified != 0 {
			t.Errorf("%s: %+v, mean %v", name, p, p.MeanScore)
		}
	}
	scored("the iteration", progress)
	all, err := s.Overview(ctx)
	must(t, err)
	scored("the overview", all.Total)
	figures, err := s.ListFigures(ctx, d.Run.ID)
	must(t, err)
	f := figures[1]
	scored("its figures", f.Progress)
	if len(f.Unresolved) != 0 || len(f.UnresolvedEnds) != 0 || f.UnresolvedSubmitted != 0 || f.Resolution() != nil || f.Verdicts[relabel.VerdictScore] != 3 {
		t.Errorf("%+v", f)
	}
	g, _, err := s.ListGrid(ctx, d.Run.ID, "", relabel.Page{})
	must(t, err)
	if c := g.Rows[0].Cells[1]; c != (relabel.GridCell{Hit: 1, Missed: 2}) || c.Generations() != 3 {
		t.Errorf("the grid's cell: %+v", c)
	}
	results, err := s.ListTaskResults(ctx, it.ID)
	must(t, err)
	if r := results[0]; r.Graded != 0 || r.Submitted != 0 || r.Infrastructure != 0 || r.Unverified != 0 {
		t.Errorf("the results of a task: %+v", r)
	}
	pass, err := s.ListPassAtK(ctx, it)
	if must(t, err); pass != nil {
		t.Errorf("pass@k %+v", pass)
	}
	var told struct {
		Scored, Hit int
		Mean        float64 `json:"mean_score"`
	}
	must(t, json.Unmarshal(value[json.RawMessage](t, s, "SELECT webhook_trajectories($1)", it.ID), &told))
	if told.Scored != 3 || told.Hit != 1 || math.Abs(told.Mean-0.5/3) > 1e-12 {
		t.Errorf("webhooks are told %+v", told)
	}
}

func TestAnswersToLocaliseHaveNoFailureModeAndAreNotGradedAgain(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	d, _ := seedScored(t, s)
	for {
		id, err := s.ClassifyNext(ctx, nil, func(e relabel.FailureEvidence, _ func(func(relabel.Turn)) error) (relabel.FailureFinding, error) {
			if e.Kind != relabel.Localise {
				t.Errorf("the evidence is of a task of kind %q", e.Kind)
			}
			return relabel.FailureFinding{Rules: relabel.FailureRules, Turns: []int{}, ToolTurns: []int{}}, nil
		})
		if must(t, err); id == (relabel.ID{}) {
			break
		}
	}
	tallies, err := s.ListFailureTallies(ctx, d.Run.ID)
	if must(t, err); len(tallies) != 0 {
		t.Errorf("tallies of failure modes: %+v", tallies)
	}
	sel := relabel.JudgeSelection{RunID: d.Run.ID}
	wantCode(t, s.StartJudging(ctx, sel, storetest.Policy(t, s, "judge").ID, judgePrompt, 0), relabel.CodeConflict)
	_, err = s.Regrade(ctx, relabel.RegradeSelection{RunID: d.Run.ID, All: true})
	wantCode(t, err, relabel.CodeConflict)
	if n := value[int](t, s, "SELECT count(*) FROM regradings"); n != 0 {
		t.Errorf("%d regradings", n)
	}
}

// A rollout whose prompt was too long is no failure of its student.
func TestARolloutWithATooLongPromptIsNotGraded(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	d := storetest.Seed(t, s, 1)
	p := evaluationOf(d, 1, d.Tasks[0])
	must(t, s.CreateIteration(ctx, p))
	c := storetest.Claim(t, s, p.Trajectories[0].ID, "w")
	must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndPromptTooLong}))
	must(t, s.BeginVerifying(ctx, c.Fence))
	must(t, s.FinishUnverified(ctx, c.Fence))
	results, err := s.ListTaskResults(ctx, p.Iteration.ID)
	must(t, err)
	if r := results[0]; r.Graded != 0 || r.Infrastructure != 0 {
		t.Errorf("%+v", r)
	}
}

func TestTrajectoriesAreListedByScoreAndHit(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	_, p := seedScored(t, s)
	storetest.Localise(t, s, storetest.Claim(t, s, p.Trajectories[3].ID, "w"), 0.25, "b.go::g")
	nth := map[relabel.ID]int{}
	for i, tr := range p.Trajectories {
		nth[tr.ID] = i
	}
	yes, no, quarter, zero := true, false, 0.25, 0.0
	for _, c := range []struct {
		name   string
		filter relabel.TrajectoryFilter
		sort   relabel.TrajectorySort
		want   []int
	}{
		{"hit", relabel.TrajectoryFilter{Hit: &yes}, relabel.LowestScore, []int{3, 0}},
		{"no hit", relabel.TrajectoryFilter{Hit: &no}, relabel.LowestScore, []int{1, 2}},
		{"at least 0.25", relabel.TrajectoryFilter{MinScore: &quarter}, relabel.HighestScore, []int{0, 3}},
		{"at most 0.25", relabel.TrajectoryFilter{MaxScore: &quarter}, relabel.HighestScore, []int{3, 2, 1}},
		{"0", relabel.TrajectoryFilter{MinScore: &zero, MaxScore: &zero}, relabel.Oldest, []int{1, 2}},
		{"scored", relabel.TrajectoryFilter{Verdict: relabel.VerdictScore}, relabel.HighestScore, []int{0, 3, 2, 1}},
		{"not answered", relabel.TrajectoryFilter{VerdictReason: relabel.VerdictNoAnswer}, relabel.Newest, []int{2}},
		{"hit", relabel.TrajectoryFilter{Hit: &yes, MinScore: &quarter}, relabel.Newest, []int{3, 0}},
	} {
		for limit := 1; limit <= 4; limit++ { // pages follow each other
			var got []int
			for p := (relabel.Page{Limit: limit}); ; {
				page, err := s.ListTrajectories(ctx, c.filter, c.sort, p)
				must(t, err)
				if page.Total != len(c.want) || !page.Exact {
					t.Errorf("%s: %d counted", c.name, page.Total)
				}
				for _, tr := range page.Items {
					got = append(got, nth[tr.ID])
				}
				if p.After = page.Next; p.After == "" {
					break
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s by %s, pages of %d: %v, not %v", c.name, c.sort, limit, got, c.want)
			}
		}
	}
}

// An export keeps the scores of its cut, by which it selects and weighs trajectories.
func TestAnExportKnowsTheScoresOfItsCut(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	d := storetest.SeedLocalise(t, s, 3)
	p := relabel.PlannedIteration{Iteration: d.Iteration}
	p.Iteration.ID, p.Iteration.Number, p.Iteration.Generations = relabel.NewID(), 2, 2
	scores := [][]float64{{0.25, 0.75}, {0.5, 0.5}, {0, 0}}
	for i, group := range scores {
		for g := range group {
			p.Trajectories = append(p.Trajectories, relabel.Trajectory{ID: relabel.NewID(), TaskID: d.Tasks[i].ID, Kind: relabel.Sample, Generation: g, Executors: "sss"})
		}
	}
	must(t, s.CreateIteration(ctx, p))
	for i, tr := range p.Trajectories {
		list := []string{"a.py::f"}
		if i == 5 {
			list = nil // no answer, and reward 0
		}
		storetest.Localise(t, s, storetest.Claim(t, s, tr.ID, "w"), scores[i/2][i%2], list...)
	}
	half := 0.5
	e := relabel.Export{ID: relabel.NewID(), Destination: "s3://b", Selection: relabel.ExportSelection{RunID: d.Run.ID, Iteration: 2, Submitted: true, Hit: true, MinScore: &half, MixedRewards: true}}
	must(t, s.CreateExport(ctx, e))
	must(t, s.CutExport(ctx, e.ID, 1<<40))
	stored, err := s.FindExport(ctx, e.ID)
	must(t, err)
	if sel := stored.Selection; !sel.Hit || sel.MinScore == nil || *sel.MinScore != half {
		t.Errorf("the selection is stored as %+v", sel)
	}
	part, err := s.FindExportPart(ctx, e.ID, 0)
	must(t, err)
	exec(t, s, "UPDATE trajectories SET score = 1, hits = 7 WHERE iteration_id = $1", p.Iteration.ID) // after the cut
	n := 0
	for tr, err := range s.ExportTrajectories(ctx, stored.Selection, part) {
		must(t, err)
		want, mixed, hits := scores[n/2][n%2], n < 2, 1
		if n == 5 {
			hits = 0
		}
		if got := tr.Trajectory; *got.Score != want || *got.Hits != hits || *got.Reward() != want || tr.Group.HasMixedRewards() != mixed || tr.Group.TooSmall() {
			t.Errorf("trajectory %d: score %v, %d hits, reward %v, group %+v", n, *got.Score, *got.Hits, *got.Reward(), tr.Group)
		}
		n++
	}
	if n != 6 {
		t.Errorf("%d trajectories", n)
	}
}

// A reward counts also without a submission, which is not resolved.
func TestRewardsOfTasksInATerminalAreSummedUp(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), t.Context()
	d := storetest.Seed(t, s, 3)
	p := evaluationOf(d, 1, d.Tasks...)
	must(t, s.CreateIteration(ctx, p))
	for i, reward := range []float64{1, 0.25, 1} {
		c := storetest.Claim(t, s, p.Trajectories[i].ID, "w")
		end := relabel.Ending{Reason: relabel.EndFinish, Patch: []byte("{}"), Submitted: true}
		if i == 2 {
			end.Reason, end.Submitted = relabel.EndMaxTurns, false
		}
		must(t, s.EndRollout(ctx, c.Fence, end))
		must(t, s.BeginVerifying(ctx, c.Fence))
		must(t, s.Finish(ctx, c.Fence, relabel.Verdict{Passed: reward == 1, Reason: relabel.VerdictReward, Score: &reward}))
	}
	results, err := s.ListTaskResults(ctx, p.Iteration.ID)
	must(t, err)
	if r := results[2]; len(results) != 3 || r.Graded != 1 || r.Rewarded != 1 || r.Rewards != 1 || r.Resolved != 0 {
		t.Errorf("%+v", results)
	}
	if e := evaluation.Of(p.Iteration, results); e.MeanReward == nil || *e.MeanReward != 0.75 || e.MeanRewardText() != "mean reward 0.750" {
		t.Errorf("%+v", e)
	}
}

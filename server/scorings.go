package server

import (
	"cmp"
	"context"
	"net/http"

	"relabel"
	"relabel/api"
)

func (s *site) addScorings() {
	add(s, action("/v1/runs/{id}/scores", "runs", "score-run", "Score the student's tokens of a run",
		"Queues the computation of log-probabilities of the tokens that students sampled in the run's done trajectories, under a policy at temperature 1. "+
			"The policy needs a server that returns them (vllm, sglang) and a registered tokenizer with the students' vocabulary. "+
			"A repeated request computes only missing scores."), s.scoreRun)
	add(s, operation(http.MethodGet, "/v1/runs/{id}/scores", "runs", "show-scores", "Show the progress of a run's scores",
		"Scorings by iteration and policy."), s.showScores)
	add(s, operation(http.MethodGet, "/v1/runs/{id}/scores/estimate", "runs", "estimate-scores", "Estimate the cost of scoring a run",
		"Turns, tokens, bytes and cost of the scores that a policy has not computed yet. Nothing is queued."), s.estimateScores)
	add(s, action("/v1/runs/{id}/scores/cancel", "runs", "cancel-scores", "Cancel scoring a run",
		"Cancels queued and running scorings. Stored scores stay; a new request computes the remaining ones."), s.cancelScores)
	add(s, operation(http.MethodGet, "/v1/trajectories/{id}/scores", "trajectories", "list-scores", "List a trajectory's scores",
		"A policy's log-probabilities of the tokens that the student sampled, by turn."), s.listScores)
	add(s, operation(http.MethodGet, "/v1/scorings", "trajectories", "list-scorings", "List scorings", "Matching scorings, newest first."), s.listScorings)
	add(s, operation(http.MethodGet, "/v1/scorings/{id}", "trajectories", "show-scoring", "Show a scoring", "One scoring with its progress."), s.showScoring)
}

// scoring is a policy that scores a selection of a run's trajectories.
type scoring struct {
	policy    relabel.Policy
	selection relabel.ScoreSelection
	skipped   []string // why turns of some students cannot be scored
}

// findScoring resolves a request to score, and refuses a policy that cannot.
func (s *site) findScoring(ctx context.Context, run relabel.ID, policy, iteration string) (scoring, error) {
	if _, err := s.Store.FindRun(ctx, run); err != nil {
		return scoring{}, err
	}
	of, err := iterationOf(iteration)
	if err != nil {
		return scoring{}, err
	}
	p, err := s.findPolicy(ctx, policy)
	if err != nil {
		return scoring{}, asField(err, "policy")
	}
	if err := relabel.CheckScorer(p); err != nil {
		return scoring{}, err
	}
	sel := relabel.ScoreSelection{RunID: run, IterationID: of.id, Iteration: of.number}
	skipped, err := s.checkStudents(ctx, p, sel)
	return scoring{p, sel, skipped}, err
}

// checkStudents refuses a scorer that can score none of the students that acted in the selection, and
// returns why it cannot score some of them.
func (s *site) checkStudents(ctx context.Context, scorer relabel.Policy, sel relabel.ScoreSelection) (skipped []string, err error) {
	hash, err := s.Tokenizers.Vocabulary(ctx, scorer)
	if err != nil {
		return nil, err
	}
	students, err := s.Store.ListScoredStudents(ctx, sel)
	if err != nil {
		return nil, err
	}
	var refused error
	for _, student := range students {
		err := s.checkStudentOf(ctx, scorer, hash, student)
		switch {
		case err == nil:
			continue
		case relabel.CodeOf(err) != relabel.CodeInvalid:
			return nil, err
		}
		refused = cmp.Or(refused, err)
		skipped = append(skipped, relabel.Shown(err))
	}
	if len(students) > 0 && len(skipped) == len(students) {
		return nil, refused
	}
	return skipped, nil
}

// checkStudentOf refuses a scorer whose vocabulary, with this hash, is not that of a student.
func (s *site) checkStudentOf(ctx context.Context, scorer relabel.Policy, hash string, student relabel.Policy) error {
	if err := relabel.CheckScoredStudent(student); err != nil {
		return err
	}
	own, err := s.Tokenizers.Vocabulary(ctx, student)
	if err != nil {
		return err
	}
	return relabel.CheckVocabularies(scorer, student, hash, own)
}

func (s *site) scoreRun(ctx context.Context, in *struct {
	IDPath
	Body api.NewScoring
}) (*of[api.ScoreProgresses], error) {
	ask, err := s.findScoring(ctx, in.ID, in.Body.Policy, in.Body.Iteration)
	if err != nil {
		return nil, err
	}
	if err := s.Store.StartScoring(ctx, ask.selection, ask.policy.ID, in.Body.TopK, in.Body.Priority); err != nil {
		return nil, err
	}
	all, err := s.Store.ScoreProgress(ctx, ask.selection)
	return one(api.ScoreProgresses{Items: orEmpty(all)}, err)
}

func (s *site) showScores(ctx context.Context, in *struct {
	IDPath
	api.ScoreQuery
}) (*of[api.ScoreProgresses], error) {
	if _, err := s.Store.FindRun(ctx, in.ID); err != nil {
		return nil, err
	}
	of, err := iterationOf(in.Iteration)
	if err != nil {
		return nil, err
	}
	all, err := s.Store.ScoreProgress(ctx, relabel.ScoreSelection{RunID: in.ID, IterationID: of.id, Iteration: of.number})
	return one(api.ScoreProgresses{Items: orEmpty(all)}, err)
}

func (s *site) estimateScores(ctx context.Context, in *struct {
	IDPath
	api.EstimateQuery
}) (*of[relabel.ScoreEstimate], error) {
	ask, err := s.findScoring(ctx, in.ID, in.Policy, in.Iteration)
	if err != nil {
		return nil, err
	}
	estimate, err := s.Store.EstimateScoring(ctx, ask.selection, ask.policy, in.TopK)
	estimate.Skipped = ask.skipped
	return one(estimate, err)
}

func (s *site) cancelScores(ctx context.Context, in *struct {
	IDPath
	Body api.CancelScorings
}) (*of[api.CancelledScorings], error) {
	if _, err := s.Store.FindRun(ctx, in.ID); err != nil {
		return nil, err
	}
	iteration, err := iterationOf(in.Body.Iteration)
	if err != nil {
		return nil, err
	}
	policy, err := s.optionalPolicy(ctx, in.Body.Policy)
	if err != nil {
		return nil, err
	}
	n, err := s.Store.CancelScorings(ctx, relabel.ScoreSelection{RunID: in.ID, IterationID: iteration.id, Iteration: iteration.number}, policy)
	return one(api.CancelledScorings{Cancelled: n}, err)
}

func (s *site) listScores(ctx context.Context, in *struct {
	IDPath
	api.PolicyQuery
}) (*of[api.Scores], error) {
	p, err := s.findPolicy(ctx, in.Policy)
	if err != nil {
		return nil, asField(err, "policy")
	}
	all, err := s.Store.ListScores(ctx, in.ID, p.ID)
	return one(api.Scores{Items: orEmpty(all)}, err)
}

func (s *site) listScorings(ctx context.Context, in *struct {
	api.ScoringQuery
	api.PageQuery
}) (*of[api.Page[relabel.Scoring]], error) {
	q := &queryReader{}
	filter := relabel.ScoringFilter{RunID: q.id("run", in.Run), IterationID: q.id("iteration", in.Iteration),
		TrajectoryID: q.id("trajectory", in.Trajectory), PolicyID: q.id("policy", in.Policy), State: in.State}
	if q.err != nil {
		return nil, q.err
	}
	return pageOf(s.Store.ListScorings(ctx, filter, page(in.PageQuery)))
}

func (s *site) showScoring(ctx context.Context, in *IDPath) (*of[relabel.Scoring], error) {
	return one(s.Store.FindScoring(ctx, in.ID))
}

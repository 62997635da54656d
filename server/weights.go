package server

import (
	"context"
	"net/http"

	"relabel"
	"relabel/api"
)

// weightChecksShown bounds a list of checks of weights.
const weightChecksShown = 200

func (s *site) addWeights() {
	add(s, operation(http.MethodGet, "/v1/iterations/{id}/weights", "runs", "list-iteration-weights", "List the checks of an iteration's student",
		"Checks whether the addresses of the student had the weights that they should have, newest first, at most 200."), s.listIterationWeights)
	add(s, operation(http.MethodGet, "/v1/policies/{policy}/weights", "policies", "list-policy-weights", "List the checks of a policy's weights",
		"Checks whether the addresses of a policy version had the weights that they should have, newest first, at most 200."), s.listPolicyWeights)
}

func (s *site) listIterationWeights(ctx context.Context, in *IDPath) (*of[api.WeightChecks], error) {
	if _, _, err := s.Store.FindIteration(ctx, in.ID); err != nil {
		return nil, err
	}
	return s.weightChecks(ctx, relabel.WeightFilter{IterationID: &in.ID})
}

func (s *site) listPolicyWeights(ctx context.Context, in *struct {
	Policy string `path:"policy" maxLength:"200" doc:"Its id, its name (then the newest version), or name@version."`
}) (*of[api.WeightChecks], error) {
	p, err := s.findPolicy(ctx, in.Policy)
	if err != nil {
		return nil, err
	}
	return s.weightChecks(ctx, relabel.WeightFilter{PolicyID: &p.ID})
}

func (s *site) weightChecks(ctx context.Context, f relabel.WeightFilter) (*of[api.WeightChecks], error) {
	checks, err := s.Store.ListWeightChecks(ctx, f, weightChecksShown)
	return one(api.WeightChecks{Checks: orEmpty(checks)}, err)
}

// newestWeights is the newest check of an iteration's student; nil without any.
func (s *site) newestWeights(ctx context.Context, iteration relabel.ID) (*relabel.WeightCheck, error) {
	checks, err := s.Store.ListWeightChecks(ctx, relabel.WeightFilter{IterationID: &iteration}, 1)
	if err != nil || len(checks) == 0 {
		return nil, err
	}
	return &checks[0], nil
}

// weightQuestion is a check of a student's weights.
type weightQuestion struct {
	run       relabel.Run
	iteration relabel.Iteration
	student   relabel.Policy
	measures  bool // the iteration only measures
	idle      bool // the student executes no turn
	occasion  relabel.WeightOccasion
	allowed   []relabel.WeightDoubt
}

// checkWeights compares the student's weights at all of its addresses with each other and with earlier ones.
// CodeConflict, on allow_weights, if a doubt is not allowed; nil if weights are not checked here.
func (s *site) checkWeights(ctx context.Context, q weightQuestion) (*relabel.WeightCheck, error) {
	if s.Weights == nil {
		return nil, nil
	}
	now, err := s.Weights.Fingerprints(ctx, q.student)
	if err != nil {
		now = relabel.NoFingerprints(q.student, err)
	}
	earlier, err := s.Store.ListEarlierWeights(ctx, q.run.ID, q.student.ID, q.except())
	if err != nil {
		return nil, err
	}
	rounds := q.iteration.Kind != relabel.Evaluate && !q.measures
	check := relabel.JudgeWeights(q.student, now, earlier, rounds)
	check.Occasion = q.occasion
	if q.occasion == "" {
		check.Occasion = relabel.WeightsAtStart
	}
	allowed := q.allowed
	if q.idle { // its server need not run yet
		allowed = append(allowed, relabel.WeightsUnchecked)
	}
	return &check, relabel.RefuseDoubts(check.Allow(allowed))
}

// except is the iteration whose own checks are no other round; nil before it exists.
func (q weightQuestion) except() *relabel.ID {
	if q.occasion == "" {
		return nil
	}
	return &q.iteration.ID
}

// recheckWeights checks the weights of a running iteration's student before it is resumed, and stores the check.
func (s *site) recheckWeights(ctx context.Context, it relabel.Iteration, allowed []relabel.WeightDoubt) error {
	if it.State != relabel.IterationRunning || s.Weights == nil {
		return nil
	}
	last, err := s.newestWeights(ctx, it.ID)
	if err != nil {
		return err
	}
	run, err := s.Store.FindRun(ctx, it.RunID)
	if err != nil {
		return err
	}
	student, err := s.Store.FindPolicy(ctx, it.StudentID)
	if err != nil {
		return err
	}
	if last != nil {
		allowed = append(allowed, last.AllowedDoubts()...)
	}
	check, err := s.checkWeights(ctx, weightQuestion{run: run, iteration: it, student: student, measures: it.BenchmarkID != nil,
		occasion: relabel.WeightsAtResume, allowed: allowed})
	if err != nil {
		return err
	}
	check.IterationID = &it.ID
	return s.Store.AddWeightCheck(ctx, *check)
}

// recheckRun checks the weights of the students of a run's running iterations before it is resumed.
func (s *site) recheckRun(ctx context.Context, run relabel.ID, allowed []relabel.WeightDoubt) error {
	its, err := s.Store.ListIterations(ctx, run)
	if err != nil {
		return err
	}
	for _, it := range its {
		if it.Paused != nil { // it stays paused
			continue
		}
		if err := s.recheckWeights(ctx, it, allowed); err != nil {
			return err
		}
	}
	return nil
}

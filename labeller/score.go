package labeller

import (
	"context"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"

	"relabel"
)

// Score claims a scoring and has its policy score every pending turn, with as many calls at once as the
// policy's limits allow. Its errors are those of Relabel.
func (l *Labeller) Score(ctx context.Context) error {
	var claim relabel.ScoreClaim
	since, err := l.begin(ctx, func(ctx context.Context) (err error) {
		claim, err = l.Store.ClaimScoring(ctx, l.Owner, l.Lease)
		return err
	})
	if err != nil {
		return err
	}
	life, releaseRequested, release := l.hold(ctx, since, claim.Policy, func(ctx context.Context, length time.Duration) (paused bool, err error) {
		return l.Store.RenewScoring(ctx, claim.ScoreFence, length)
	})
	defer release()
	return l.concludeScore(ctx, claim, l.score(life, claim, releaseRequested))
}

func (l *Labeller) concludeScore(ctx context.Context, c relabel.ScoreClaim, err error) error {
	log := l.Log.With().Stringer("scoring", c.ScoringID).Stringer("trajectory", c.Trajectory.ID).
		Str("policy", c.Policy.Name).Int("turns", len(c.Pending)).Logger()
	return conclude(ctx, err, ending{name: "scoring", log: log,
		finish:  func(ctx context.Context) error { return l.Store.FinishScoring(ctx, c.ScoreFence) },
		fail:    func(ctx context.Context, why string) error { return l.Store.FailScoring(ctx, c.ScoreFence, why) },
		release: func(ctx context.Context) error { return l.Store.ReleaseScoring(ctx, c.ScoreFence) }})
}

// score settles all pending turns, until its release is requested. Errors are as in relabel.
func (l *Labeller) score(life context.Context, c relabel.ScoreClaim, releaseRequested func() bool) error {
	policy, err := l.World.Policy(c.Policy)
	if err != nil {
		return &uncallable{err}
	}
	fit, unfit, err := l.scorable(life, c)
	if err != nil {
		return stopped(life, err)
	}
	if len(unfit) > 0 {
		if err := l.settleScores(life, c, unfit); err != nil {
			return stopped(life, err)
		}
	}
	g, ctx := errgroup.WithContext(life)
	g.SetLimit(max(c.Policy.Limits.Concurrency, 1))
	all, asked := joinTexts(c, fit), 0
	for _, req := range all {
		if ctx.Err() != nil || releaseRequested() {
			break
		}
		g.Go(func() error { return l.scoreText(ctx, c, policy, req) })
		asked++
	}
	if err := g.Wait(); err != nil {
		return stopped(life, err)
	}
	if asked < len(all) {
		return stopped(life, ErrReleased)
	}
	return nil
}

// joinTexts makes one request of turns whose text continues that of the turn before: a model scores all
// of them in one pass.
func joinTexts(c relabel.ScoreClaim, turns []relabel.ScoreTurn) []relabel.ScoreRequest {
	var all []relabel.ScoreRequest
	for _, turn := range turns {
		last := len(all) - 1
		if last < 0 || !begins(turn.PromptIDs, all[last].IDs) {
			all = append(all, relabel.ScoreRequest{TopK: c.TopK, TrajectoryID: c.Trajectory.ID, Attempt: c.Trajectory.Attempt})
			last++
		}
		req := &all[last]
		req.Spans = append(req.Spans, relabel.ScoreSpan{T: turn.T, Start: len(turn.PromptIDs), Length: len(turn.TokenIDs)})
		req.IDs = append(append(make([]int32, 0, len(turn.PromptIDs)+len(turn.TokenIDs)), turn.PromptIDs...), turn.TokenIDs...)
		req.T = turn.T
	}
	return all
}

// begins reports whether ids begin with the ids of a head.
func begins(ids, head []int32) bool {
	if len(ids) < len(head) {
		return false
	}
	for i, id := range head {
		if ids[i] != id {
			return false
		}
	}
	return true
}

// scoreText has one text scored and stores the result. Of a text that is too long for the policy it tries
// again without the last turn, whose score is missing.
func (l *Labeller) scoreText(ctx context.Context, c relabel.ScoreClaim, policy Policy, req relabel.ScoreRequest) (err error) {
	defer func() {
		if p := recover(); p != nil {
			l.Log.Error().Interface("panic", p).Bytes("stack", debug.Stack()).Msg("a scoring panicked")
			err = &uncallable{relabel.Errorf(relabel.CodeInternal, "a bug in scoring; details are in the log")}
		}
	}()
	for len(req.Spans) > 0 {
		scores, err := l.ask(ctx, c.Policy, policy, req)
		switch code := relabel.CodeOf(err); {
		case err == nil:
			return l.settleScores(ctx, c, scores)
		case ctx.Err() != nil, code == relabel.CodeUnavailable:
			return err
		case code == relabel.CodeSecretMissing:
			return &uncallable{err}
		case code != relabel.CodeContextOverflow:
			return l.settleScores(ctx, c, missingScores(c, req.Spans, reasonOf(err)))
		}
		last := len(req.Spans) - 1
		if err := l.settleScores(ctx, c, missingScores(c, req.Spans[last:], reasonOf(err))); err != nil {
			return err
		}
		if req.Spans = req.Spans[:last]; last > 0 {
			end := req.Spans[last-1]
			req.IDs, req.T = req.IDs[:end.Start+end.Length], end.T
		}
	}
	return nil
}

// ask sends a text unless it is longer than the policy's context.
func (l *Labeller) ask(ctx context.Context, p relabel.Policy, policy Policy, req relabel.ScoreRequest) ([]relabel.Score, error) {
	const generated = 1 // servers generate a token after the text
	if limit := p.Limits.ContextTokens; limit > 0 && len(req.IDs)+generated > limit {
		return nil, relabel.Errorf(relabel.CodeContextOverflow, "the text has %d tokens, and the policy's context %d", len(req.IDs), limit)
	}
	return policy.Score(ctx, req)
}

// reasonOf is the reason of a missing score after an error, safe to show.
func reasonOf(err error) string { return string(relabel.CodeOf(err)) + ": " + relabel.Shown(err) }

func missingScores(c relabel.ScoreClaim, spans []relabel.ScoreSpan, reason string) []relabel.Score {
	var missing []relabel.Score
	for _, s := range spans {
		missing = append(missing, relabel.Score{T: s.T, PolicyID: c.Policy.ID, Reason: reason})
	}
	return missing
}

func (l *Labeller) settleScores(ctx context.Context, c relabel.ScoreClaim, scores []relabel.Score) error {
	return write(ctx, func(ctx context.Context) error {
		return l.Store.SettleScores(ctx, c.ScoreFence, scores)
	})
}

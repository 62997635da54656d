package labeller

import (
	"context"
	"runtime/debug"
	"time"

	"relabel"
	"relabel/chat"
	"relabel/judge"
)

const (
	// judgeRole is the role of the seeds of judgings.
	judgeRole relabel.Role = "judge"
	// judgedBytesPerToken is a low estimate: JSON with code has few bytes per token.
	judgedBytesPerToken = 3
	// leastAnswer is the least number of tokens that are left for a judge's answer, with its reasoning, in
	// a context of four times as many or more.
	leastAnswer = 4096
	// leastRecord is the length in bytes below which a record is not rendered again in half the length.
	leastRecord = 4000
)

// Judge claims a judging and has its policy judge the trajectory. Its errors are those of Relabel.
func (l *Labeller) Judge(ctx context.Context) error {
	var claim relabel.JudgeClaim
	since, err := l.begin(ctx, func(ctx context.Context) (err error) {
		claim, err = l.Store.ClaimJudging(ctx, l.Owner, l.Lease)
		return err
	})
	if err != nil {
		return err
	}
	life, releaseRequested, release := l.hold(ctx, since, claim.Policy, func(ctx context.Context, length time.Duration) (paused bool, err error) {
		return l.Store.RenewJudging(ctx, claim.JudgeFence, length)
	})
	defer release()
	j, err := l.judge(life, claim, releaseRequested)
	return l.concludeJudge(ctx, claim, j, err)
}

func (l *Labeller) concludeJudge(ctx context.Context, c relabel.JudgeClaim, j relabel.Judgement, err error) error {
	log := l.Log.With().Stringer("judging", c.JudgingID).Stringer("trajectory", c.Evidence.Trajectory.ID).
		Str("policy", c.Policy.Name).Str("outcome", string(j.Outcome)).Logger()
	return conclude(ctx, err, ending{name: "judging", log: log,
		finish:  func(ctx context.Context) error { return l.Store.FinishJudging(ctx, c.JudgeFence, j) },
		fail:    func(ctx context.Context, why string) error { return l.Store.FailJudging(ctx, c.JudgeFence, why) },
		release: func(ctx context.Context) error { return l.Store.ReleaseJudging(ctx, c.JudgeFence) }})
}

// judge asks about the trajectory, as long as it does not fit in half the length each time. Errors are as in
// relabel.
func (l *Labeller) judge(life context.Context, c relabel.JudgeClaim, releaseRequested func() bool) (j relabel.Judgement, err error) {
	defer func() {
		if p := recover(); p != nil {
			l.Log.Error().Interface("panic", p).Bytes("stack", debug.Stack()).Msg("a judging panicked")
			err = &uncallable{relabel.Errorf(relabel.CodeInternal, "a bug in judging; details are in the log")}
		}
	}()
	if c.Prompt.Version != judge.Version {
		return j, &uncallable{relabel.Errorf(relabel.CodeConflict, "its prompt has version %d, and this version of relabel renders trajectories for version %d: judge again", c.Prompt.Version, judge.Version)}
	}
	policy, err := l.World.Policy(c.Policy)
	if err != nil {
		return j, &uncallable{err}
	}
	record := judge.Record{ID: c.JudgingID, Task: c.Task, Evidence: c.Evidence, Turns: c.Turns, Gold: c.Prompt.Gold}
	for limit := recordBytes(c); ; limit /= 2 {
		shown, err := judge.Render(record, limit)
		if err == nil {
			j, err = l.askJudge(life, c, policy, shown, releaseRequested)
		}
		switch {
		case err == nil:
			return j, nil
		case relabel.CodeOf(err) != relabel.CodeContextOverflow:
			return j, stopped(life, err)
		case limit < leastRecord || shown.Text == "":
			return missingJudgement(shown, 0, err), nil
		}
	}
}

// recordBytes is the length that a record may have in the judge's context.
func recordBytes(c relabel.JudgeClaim) int {
	context := relabel.JudgeContext(c.Policy)
	answer := max(c.Policy.Sampling.MaxTokens, min(leastAnswer, context/4))
	return (context-answer)*judgedBytesPerToken - len(c.Prompt.Text)
}

// askJudge asks until an answer is valid, at most relabel.MostJudgeAnswers times. CodeContextOverflow if the
// record is too long; other errors are as in relabel.
func (l *Labeller) askJudge(ctx context.Context, c relabel.JudgeClaim, policy Policy, shown judge.Shown, releaseRequested func() bool) (relabel.Judgement, error) {
	rejected, last := "", ""
	for n := 1; n <= relabel.MostJudgeAnswers; n++ {
		if releaseRequested() {
			return relabel.Judgement{}, ErrReleased
		}
		done, err := l.completeJudge(ctx, c, policy, judge.Messages(c.Prompt, shown, rejected), n)
		switch code := relabel.CodeOf(err); {
		case err == nil:
		case ctx.Err() != nil, code == relabel.CodeUnavailable, code == relabel.CodeContextOverflow:
			return relabel.Judgement{}, err
		case code == relabel.CodeSecretMissing:
			return relabel.Judgement{}, &uncallable{err}
		default:
			return missingJudgement(shown, n-1, err), nil
		}
		last = done.Message.Content
		j, err := readJudgement(done, shown)
		if err == nil {
			j.Outcome = relabel.Judged
			return showing(j, shown, n, last), nil
		}
		rejected = err.Error()
	}
	return showing(relabel.Judgement{Outcome: relabel.JudgeInvalid, Reason: rejected}, shown, relabel.MostJudgeAnswers, last), nil
}

// completeJudge sends the prompt for answer n if it fits the judge's context.
func (l *Labeller) completeJudge(ctx context.Context, c relabel.JudgeClaim, policy Policy, messages []relabel.Message, n int) (relabel.Completion, error) {
	tr := c.Evidence.Trajectory
	seed := l.World.Seed(c.Run, tr, n, judgeRole)
	req := relabel.ChatRequest{Messages: messages, Sampling: c.Policy.Sampling, Seed: &seed,
		TrajectoryID: tr.ID, Attempt: tr.Attempt, Purpose: relabel.PurposeJudge}
	req, err := l.limit(c.Policy).Fit(ctx, req, chat.NewPromptSizes(messages, nil).Of(c.Policy.ID))
	if err != nil {
		return relabel.Completion{}, err
	}
	return policy.Complete(ctx, req)
}

// readJudgement reads a complete answer.
func readJudgement(done relabel.Completion, shown judge.Shown) (relabel.Judgement, error) {
	switch {
	case done.Truncated():
		return relabel.Judgement{}, relabel.Errorf(relabel.CodeInvalid, "the answer was cut at its length limit")
	case done.Refusal != "":
		return relabel.Judgement{}, relabel.Errorf(relabel.CodeInvalid, "the judge refused to answer")
	}
	return judge.Read(done.Message.Content, shown)
}

func missingJudgement(shown judge.Shown, answers int, err error) relabel.Judgement {
	return showing(relabel.Judgement{Outcome: relabel.JudgeMissing, Reason: reasonOf(err)}, shown, answers, "")
}

// showing adds what the judge was shown and how often it answered.
func showing(j relabel.Judgement, shown judge.Shown, answers int, last string) relabel.Judgement {
	j.HiddenTurns, j.ShortenedTexts, j.GoldShown = shown.Hidden(), shown.Shortened, shown.Gold
	j.Answers, j.Answer = answers, last
	return j
}

package labeller

import (
	"context"
	"runtime/debug"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"relabel"
	"relabel/chat"
)

// relabeller is the role of the seeds of relabelings: the run's own teacher should not only repeat its
// answers.
const relabeller relabel.Role = "relabeller"

// Relabel claims a relabeling and asks its policy at every pending state, as many at once as the policy's
// limits allow. It returns nil when all states are settled or the policy cannot be called; ErrReleased if
// ctx was cancelled, the run is paused, the endpoint is down or the worker drains; CodeNotFound without a
// relabeling; CodeLeaseLost if it was cancelled or taken over. Other errors are the store's.
func (l *Labeller) Relabel(ctx context.Context) error {
	var claim relabel.RelabelClaim
	since, err := l.begin(ctx, func(ctx context.Context) (err error) {
		claim, err = l.Store.ClaimRelabeling(ctx, l.Owner, l.Lease)
		return err
	})
	if err != nil {
		return err
	}
	life, releaseRequested, release := l.hold(ctx, since, claim.Policy, func(ctx context.Context, length time.Duration) (paused bool, err error) {
		return l.Store.RenewRelabeling(ctx, claim.RelabelFence, length)
	})
	defer release()
	return l.concludeRelabel(ctx, claim, l.relabel(life, claim, releaseRequested))
}

// relabel settles all pending states, until its release is requested. Errors are ErrReleased, the cause of
// life's end, uncallable, or the store's.
func (l *Labeller) relabel(life context.Context, c relabel.RelabelClaim, releaseRequested func() bool) error {
	policy, err := l.World.Policy(c.Policy)
	if err != nil {
		return &uncallable{err}
	}
	g, ctx := errgroup.WithContext(life)
	g.SetLimit(max(c.Policy.Limits.Concurrency, 1))
	state, asked := c.Run.Prompts.Opening(c.Task), 0
	sizes := chat.NewPromptSizes(state, c.Run.Prompts.Tools)
	for _, turn := range c.Turns {
		if slices.Contains(c.Pending, turn.T) {
			if ctx.Err() != nil || releaseRequested() {
				break
			}
			req := l.request(c.Run, c.Trajectory, c.Policy, state, turn.T, relabeller)
			estimate := sizes.Of(c.Policy.ID)
			g.Go(func() error { return l.answer(ctx, c, policy, req, estimate) })
			asked++
		}
		sizes.Add(turn)
		state = relabel.AppendTurn(state, turn)
	}
	if err := g.Wait(); err != nil {
		return stopped(life, err)
	}
	if asked < len(c.Pending) {
		return stopped(life, ErrReleased)
	}
	return nil
}

// uncallable means that a policy cannot be called at any state.
type uncallable struct{ cause error }

func (u *uncallable) Error() string { return relabel.Shown(u.cause) }
func (u *uncallable) Unwrap() error { return u.cause }

// request is the request for the action at the state of turn t.
func (l *Labeller) request(run relabel.Run, tr relabel.Trajectory, p relabel.Policy, state []relabel.Message, t int, role relabel.Role) relabel.ChatRequest {
	seed := l.World.Seed(run, tr, t, role)
	return relabel.ChatRequest{
		// Clipped: the state grows while a request is encoded.
		Messages: slices.Clip(state), Tools: run.Prompts.Tools, Sampling: p.Sampling, Seed: &seed,
		TrajectoryID: tr.ID, Attempt: tr.Attempt, T: t, Purpose: relabel.PurposeLabel,
	}
}

// limit bounds prompt and answer of a label by the policy's context.
func (l *Labeller) limit(p relabel.Policy) chat.PromptLimit {
	return chat.PromptLimit{Policy: p, Tokens: p.Limits.ContextTokens, Count: l.World.Count}
}

// answer asks at one state and stores the result. It does not send a state that does not fit the policy's
// context: the label is missing.
func (l *Labeller) answer(ctx context.Context, c relabel.RelabelClaim, policy Policy, req relabel.ChatRequest, estimate chat.PromptEstimate) (err error) {
	defer func() {
		if p := recover(); p != nil {
			l.Log.Error().Interface("panic", p).Bytes("stack", debug.Stack()).Msg("a relabeling panicked")
			err = &uncallable{relabel.Errorf(relabel.CodeInternal, "a bug in relabelling; details are in the log")}
		}
	}()
	req, err = l.limit(c.Policy).Fit(ctx, req, estimate)
	if err != nil && relabel.CodeOf(err) != relabel.CodeContextOverflow {
		return err
	}
	var done relabel.Completion
	if err == nil {
		done, err = policy.Complete(ctx, req)
	}
	var action relabel.Action
	switch code := relabel.CodeOf(err); {
	case err == nil:
		action = done.Action(c.Policy.ID, func(m relabel.Message) relabel.ParseOutcome { return l.World.Parse(c.Run, req.Messages, m) })
	case ctx.Err() != nil, code == relabel.CodeUnavailable:
		return err
	case code == relabel.CodeSecretMissing:
		return &uncallable{err}
	default:
		action = relabel.MissingAction(c.Policy.ID, err)
	}
	return write(ctx, func(ctx context.Context) error {
		return l.Store.SettleRelabel(ctx, c.RelabelFence, req.T, action)
	})
}

// concludeRelabel finishes, fails or releases the relabeling after relabel's error.
func (l *Labeller) concludeRelabel(ctx context.Context, c relabel.RelabelClaim, err error) error {
	log := l.Log.With().Stringer("relabeling", c.RelabelingID).Stringer("trajectory", c.Trajectory.ID).
		Str("policy", c.Policy.Name).Int("asked", len(c.Pending)).Logger()
	return conclude(ctx, err, ending{name: "relabeling", log: log,
		finish:  func(ctx context.Context) error { return l.Store.FinishRelabeling(ctx, c.RelabelFence) },
		fail:    func(ctx context.Context, why string) error { return l.Store.FailRelabeling(ctx, c.RelabelFence, why) },
		release: func(ctx context.Context) error { return l.Store.ReleaseRelabeling(ctx, c.RelabelFence) }})
}

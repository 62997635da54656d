package labeller

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"relabel"
	"relabel/chat"
	"relabel/lease"
)

// relabeller is the role under which the seeds of relabelings are drawn: the run's own
// teacher, asked once more, does not just say the same again.
const relabeller relabel.Role = "relabeller"

// Relabel claims a relabeling and asks its policy at every state about which it was not
// asked yet, as many at once as the policy's limits allow. It returns nil when all was
// asked or the policy cannot be called at all; ErrReleased when the lease was released because
// ctx was cancelled, its run paused, its endpoint is down or the worker drains; CodeNotFound when nothing is to be relabelled;
// CodeLeaseLost when it was cancelled or taken over on the way. Any other error is the
// store's.
func (l *Labeller) Relabel(ctx context.Context) error {
	if ctx.Err() != nil || closed(l.drains) {
		return ErrReleased
	}
	since := time.Now()
	var claim relabel.RelabelClaim
	err := write(ctx, func(ctx context.Context) (err error) {
		claim, err = l.Store.ClaimRelabeling(ctx, l.Owner, l.Lease)
		return err
	})
	if err != nil {
		return err
	}
	renew := func(ctx context.Context, length time.Duration) (paused bool, err error) {
		return l.Store.RenewRelabeling(ctx, claim.RelabelFence, length)
	}
	life, paused, release := lease.NewSingleKeeper(l.Lease, renew, l.Log).Keep(ctx, since)
	defer release()
	life, over := l.whileUp(life, claim.Policy)
	defer over()
	return l.concludeRelabel(ctx, claim, l.relabel(life, claim, func() bool { return closed(paused) || closed(l.drains) }))
}

// relabel asks for all that is pending, until its release is requested. Errors are ErrReleased, life's end, what makes the
// policy one that cannot be asked, or the store's.
func (l *Labeller) relabel(life context.Context, c relabel.RelabelClaim, releaseRequested func() bool) error {
	policy, err := l.World.Policy(c.Policy)
	if err != nil {
		return &unaskable{err}
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

// unaskable says that a policy cannot be asked, whatever the state.
type unaskable struct{ cause error }

func (u *unaskable) Error() string { return relabel.Shown(u.cause) }
func (u *unaskable) Unwrap() error { return u.cause }

// request asks for the action at the state of turn t.
func (l *Labeller) request(run relabel.Run, tr relabel.Trajectory, p relabel.Policy, state []relabel.Message, t int, role relabel.Role) relabel.ChatRequest {
	seed := l.World.Seed(run, tr, t, role)
	return relabel.ChatRequest{
		// Clipped: the state grows in place while a request is still read.
		Messages: slices.Clip(state), Tools: run.Prompts.Tools, Sampling: p.Sampling, Seed: &seed,
		TrajectoryID: tr.ID, Attempt: tr.Attempt, T: t, Purpose: relabel.PurposeLabel,
	}
}

// limit bounds prompt and answer of a label by the context of the policy that is asked.
func (l *Labeller) limit(p relabel.Policy) chat.PromptLimit {
	return chat.PromptLimit{Policy: p, Tokens: p.Limits.ContextTokens, Count: l.World.Count}
}

// answer asks at one state and stores what comes of it. A state that does not fit the policy's
// context is not sent: its label is missing.
func (l *Labeller) answer(ctx context.Context, c relabel.RelabelClaim, policy Policy, req relabel.ChatRequest, estimate chat.PromptEstimate) (err error) {
	defer func() {
		if p := recover(); p != nil {
			l.Log.Error().Interface("panic", p).Bytes("stack", debug.Stack()).Msg("a relabeling panicked")
			err = &unaskable{relabel.Errorf(relabel.CodeInternal, "a bug in relabelling; details are in the log")}
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
		action = done.Action(c.Policy.ID, func(m relabel.Message) relabel.ParseOutcome { return l.World.Parse(c.Run, m) })
	case ctx.Err() != nil, code == relabel.CodeUnavailable:
		return err
	case code == relabel.CodeSecretMissing:
		return &unaskable{err}
	default:
		action = relabel.MissingAction(c.Policy.ID, err)
	}
	return write(ctx, func(ctx context.Context) error {
		return l.Store.SettleRelabel(ctx, c.RelabelFence, req.T, action)
	})
}

// concludeRelabel makes of relabel's error what is to be known of the relabeling.
func (l *Labeller) concludeRelabel(ctx context.Context, c relabel.RelabelClaim, err error) error {
	log := l.Log.With().Stringer("relabeling", c.RelabelingID).Stringer("trajectory", c.Trajectory.ID).Str("policy", c.Policy.Name).Logger()
	var hopeless *unaskable
	switch {
	case lease.Lost(err):
		log.Warn().Msg("lease lost (cancelled or taken over): stopping the relabeling")
		return relabel.Errorf(relabel.CodeLeaseLost, "the relabeling was cancelled, or another worker has it")
	case err == nil:
		err = write(ctx, func(ctx context.Context) error { return l.Store.FinishRelabeling(ctx, c.RelabelFence) })
		if err == nil {
			log.Info().Int("asked", len(c.Pending)).Msg("relabelled")
		}
		return err
	case errors.As(err, &hopeless) && ctx.Err() == nil:
		log.Warn().Err(hopeless.cause).Msg("the policy cannot be called")
		return write(ctx, func(ctx context.Context) error {
			return l.Store.FailRelabeling(ctx, c.RelabelFence, hopeless.Error())
		})
	}
	why := err
	if ctx.Err() != nil || errors.Is(err, ErrReleased) {
		why = ErrReleased
	}
	err = write(ctx, func(ctx context.Context) error { return l.Store.ReleaseRelabeling(ctx, c.RelabelFence) })
	return errors.Join(why, err)
}

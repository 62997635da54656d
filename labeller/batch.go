package labeller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"relabel"
	"relabel/lease"
)

// BatchBounds are the limits of batches.
type BatchBounds struct {
	Lines  int           // of one file
	Bytes  int64         // of one file
	Rounds int           // how often a label is requested before it is missing
	Poll   time.Duration // longest time between two checks of a batch
	Again  time.Duration // before a further round, and after an unclear answer
	Age    time.Duration // of a batch without answers, until it counts as refused; endpoints promise answers within 24 hours
}

// DefaultBounds are within the limits of OpenAI's endpoint.
var DefaultBounds = BatchBounds{Lines: 50_000, Bytes: 190 << 20, Rounds: 3, Poll: 30 * time.Second, Again: time.Minute, Age: 48 * time.Hour}

// or returns the bounds with those of d for zero fields.
func (b BatchBounds) or(d BatchBounds) BatchBounds {
	return BatchBounds{Lines: cmp.Or(b.Lines, d.Lines), Bytes: cmp.Or(b.Bytes, d.Bytes), Rounds: cmp.Or(b.Rounds, d.Rounds),
		Poll: cmp.Or(b.Poll, d.Poll), Again: cmp.Or(b.Again, d.Again), Age: cmp.Or(b.Age, d.Age)}
}

// Batch claims a batch that is due and does its next step: send it, check whether it is over, or store its
// answers. It returns nil after the step, whatever its outcome; CodeNotFound if no batch is due;
// CodeLeaseLost if another worker has it; ErrReleased if ctx was cancelled. Other errors are the store's.
func (l *Labeller) Batch(ctx context.Context) error {
	if ctx.Err() != nil || closed(l.drains) {
		return ErrReleased
	}
	since := time.Now()
	var claim relabel.BatchClaim
	err := write(ctx, func(ctx context.Context) (err error) {
		claim, err = l.Store.ClaimBatch(ctx, l.Owner, l.Lease)
		return err
	})
	if err != nil {
		return err
	}
	renew := func(ctx context.Context, length time.Duration) (bool, error) {
		return false, l.Store.RenewBatch(ctx, claim.BatchFence, length)
	}
	life, _, release := lease.NewSingleKeeper(l.Lease, renew, l.Log).Keep(ctx, since)
	defer release()
	b := &batch{Labeller: l, claim: claim}
	return b.conclude(ctx, b.advance(life))
}

// batch is a batch that this worker has claimed.
type batch struct {
	*Labeller
	claim  relabel.BatchClaim
	remote Batches
}

// advance does the next step. Errors are the cause of life's end, the store's, or of an unavailable
// endpoint.
func (b *batch) advance(life context.Context) (err error) {
	if b.remote, err = b.World.Batches(b.claim.Policy); err != nil {
		return err
	}
	if len(b.claim.Items) == 0 {
		return b.endUnneeded(life)
	}
	switch b.claim.Batch.State {
	case relabel.BatchPrepared:
		return b.send(life)
	case relabel.BatchSending:
		return b.settleSending(life)
	}
	return b.check(life)
}

// conclude releases a batch after an error that may pass.
func (b *batch) conclude(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case lease.Lost(err):
		return relabel.Errorf(relabel.CodeLeaseLost, "another worker has the batch")
	case ctx.Err() != nil:
		return errors.Join(ErrReleased, b.putOff(ctx, "", "", 0))
	case b.tooOld():
		return b.refusedOr(ctx, b.late(relabel.Shown(err)))
	}
	b.Log.Warn().Err(err).Stringer("batch", b.claim.BatchID).Msg("the batch is postponed")
	if kept := b.putOff(ctx, "", relabel.Shown(err), b.Bound.Again); kept != nil {
		return errors.Join(err, kept)
	}
	return nil
}

func (b *batch) putOff(ctx context.Context, remoteState, detail string, pause time.Duration) error {
	return write(ctx, func(ctx context.Context) error {
		return b.Store.PutOffBatch(ctx, b.claim.BatchFence, remoteState, detail, pause)
	})
}

func (b *batch) end(ctx context.Context, as relabel.BatchState, remoteState, detail string) error {
	b.Log.Info().Stringer("batch", b.claim.BatchID).Str("state", string(as)).Str("remote", remoteState).Str("detail", detail).Msg("batch of labels")
	err := write(ctx, func(ctx context.Context) error {
		return b.Store.EndBatch(ctx, b.claim.BatchFence, as, remoteState, detail, b.Bound.Again)
	})
	if err == nil && b.World.Ended != nil {
		b.World.Ended(b.claim, as, remoteState)
	}
	return err
}

// endUnneeded ends a batch without pending labels: all are settled, or their trajectories were cancelled.
func (b *batch) endUnneeded(life context.Context) error {
	of := b.claim.Batch
	if of.Received+of.Missing == of.Labels {
		return b.end(life, relabel.BatchDone, "", of.Detail)
	}
	if err := b.recall(life); err != nil { // this costs money, but does no harm
		b.Log.Warn().Err(err).Stringer("batch", of.ID).Msg("the endpoint did not cancel the batch")
	}
	return b.end(life, relabel.BatchCancelled, "", "its trajectories are cancelled")
}

// recall cancels the batch at the endpoint, if that has it.
func (b *batch) recall(life context.Context) error {
	id := b.claim.Batch.RemoteID
	if b.claim.Batch.State == relabel.BatchSending {
		found, err := b.remote.Find(life, b.claim.BatchID.String())
		if err != nil || found == nil {
			return err
		}
		id = found.ID
	}
	if id == "" {
		return nil
	}
	return b.remote.Cancel(life, id)
}

// send uploads the file and then creates the batch. It first records that it is about to.
func (b *batch) send(life context.Context) error {
	if b.claim.Batch.RemoteFile == "" {
		file, err := b.upload(life)
		if err != nil {
			return b.refusedOr(life, err)
		}
		if len(b.claim.Items) == 0 {
			return b.end(life, relabel.BatchDone, "", "no label's prompt fits the policy's context")
		}
		err = write(life, func(ctx context.Context) error {
			return b.Store.KeepBatchFile(ctx, b.claim.BatchFence, file, b.claim.Items)
		})
		if err != nil {
			return err
		}
		b.claim.Batch.RemoteFile = file
	}
	err := write(life, func(ctx context.Context) error { return b.Store.SendingBatch(ctx, b.claim.BatchFence) })
	if err != nil {
		return err
	}
	return b.create(life)
}

// create creates the batch at the endpoint. After an unclear answer the batch stays in sending.
func (b *batch) create(life context.Context) error {
	made, err := b.remote.Create(life, b.claim.Batch.RemoteFile, b.claim.BatchID.String())
	if err != nil {
		return b.refusedOr(life, err)
	}
	return b.sent(life, made)
}

func (b *batch) sent(life context.Context, made relabel.RemoteBatch) error {
	err := write(life, func(ctx context.Context) error { return b.Store.SentBatch(ctx, b.claim.BatchFence, made.ID) })
	if err != nil {
		return err
	}
	b.Log.Info().Stringer("batch", b.claim.BatchID).Str("remote", made.ID).Int("labels", len(b.claim.Items)).Msg("the batch is sent")
	return b.putOff(life, made.Status, "", b.patience())
}

// patience is the wait before the next check: a quarter of the batch's age, so that short batches are not
// delayed much.
func (b *batch) patience() time.Duration {
	age := time.Duration(0)
	if at := b.claim.Batch.SentAt; at != nil {
		age = time.Since(*at)
	}
	return min(max(age/4, time.Second), b.Bound.Poll)
}

// settleSending checks whether the endpoint has the batch, and creates it otherwise.
func (b *batch) settleSending(life context.Context) error {
	found, err := b.remote.Find(life, b.claim.BatchID.String())
	switch {
	case err != nil:
		return b.refusedOr(life, err)
	case found != nil:
		return b.sent(life, *found)
	}
	return b.create(life)
}

// check collects the answers when the endpoint has finished the batch.
func (b *batch) check(life context.Context) error {
	remote, err := b.remote.Get(life, b.claim.Batch.RemoteID)
	switch {
	case err != nil:
		return b.refusedOr(life, err)
	case !remote.Over() && b.tooOld():
		if err := b.remote.Cancel(life, remote.ID); err != nil {
			b.Log.Warn().Err(err).Stringer("batch", b.claim.BatchID).Msg("the endpoint did not cancel the batch")
		}
		return b.refusedOr(life, b.late("it is still "+remote.Status))
	case !remote.Over():
		return b.putOff(life, remote.Status, "", b.patience())
	}
	return b.collect(life, remote)
}

// refusedOr ends the batch if err is a clear refusal. Its labels are requested again in the next round, or
// missing after the last one.
func (b *batch) refusedOr(life context.Context, err error) error {
	if relabel.CodeOf(err) != relabel.CodeEndpoint || life.Err() != nil {
		return stopped(life, err)
	}
	if b.lastRound() {
		for _, item := range b.claim.Items {
			if err := b.settle(life, item, relabel.MissingAction(b.claim.Policy.ID, err)); err != nil {
				return err
			}
		}
	}
	return b.end(life, relabel.BatchFailed, "", relabel.Shown(err))
}

// tooOld reports whether the batch has reached its maximum age, which bounds how often it is postponed.
func (b *batch) tooOld() bool { return time.Since(b.claim.Batch.CreatedAt) > b.Bound.Age }

// late is the error of a batch that is too old.
func (b *batch) late(why string) error {
	return relabel.Errorf(relabel.CodeEndpoint, "%s: the batch has no answers %s after its creation: %s", b.claim.Policy.Name, b.Bound.Age, why)
}

func (b *batch) lastRound() bool { return b.claim.Batch.Round >= b.Bound.Rounds }

func (b *batch) settle(life context.Context, item relabel.BatchItem, label relabel.Action) error {
	return write(life, func(ctx context.Context) error {
		return b.Store.SettleBatched(ctx, b.claim.BatchFence, item, label)
	})
}

// customID names the label in the batch's file.
func customID(item relabel.BatchItem) string {
	return fmt.Sprintf("%s/%d/%d", item.TrajectoryID, item.Attempt, item.T)
}

package labeller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"relabel"
	"relabel/lease"
)

// BatchBounds bounds batches.
type BatchBounds struct {
	Lines  int           // of one file
	Bytes  int64         // of one file
	Rounds int           // how often a label is asked for before it is missing
	Poll   time.Duration // between two looks at a batch, at most
	Again  time.Duration // before a round after the first, and before an unclear request is settled
	Age    time.Duration // of a batch without answers, before it counts as refused; endpoints promise them within 24 hours
}

// DefaultBounds are within what OpenAI's endpoint takes.
var DefaultBounds = BatchBounds{Lines: 50_000, Bytes: 190 << 20, Rounds: 3, Poll: 30 * time.Second, Again: time.Minute, Age: 48 * time.Hour}

// over puts the bounds that are set over the defaults.
func (b BatchBounds) over(d BatchBounds) BatchBounds {
	if b.Lines > 0 {
		d.Lines = b.Lines
	}
	if b.Bytes > 0 {
		d.Bytes = b.Bytes
	}
	if b.Rounds > 0 {
		d.Rounds = b.Rounds
	}
	if b.Poll > 0 {
		d.Poll = b.Poll
	}
	if b.Again > 0 {
		d.Again = b.Again
	}
	if b.Age > 0 {
		d.Age = b.Age
	}
	return d
}

// Batch claims a batch that is due and does what is next: sends it, looks whether it is
// over, takes its answers in. It returns nil when that is done, whatever came of it;
// CodeNotFound when no batch is due; CodeLeaseLost when another has it; ErrReleased when
// ctx was cancelled. Any other error is the store's.
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

// batch is a batch in this worker's hands.
type batch struct {
	*Labeller
	claim  relabel.BatchClaim
	remote Batches
}

// advance does the next step. An error that is no end of life and not the store's is the
// endpoint's: not to be had now.
func (b *batch) advance(life context.Context) (err error) {
	if b.remote, err = b.World.Batches(b.claim.Policy); err != nil {
		return err
	}
	if len(b.claim.Items) == 0 {
		return b.unwanted(life)
	}
	switch b.claim.Batch.State {
	case relabel.BatchPrepared:
		return b.send(life)
	case relabel.BatchSending:
		return b.settleSending(life)
	}
	return b.look(life)
}

// conclude lets go of a batch after an error that time may mend.
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
	return b.write(ctx, func(ctx context.Context) error {
		return b.Store.PutOffBatch(ctx, b.claim.BatchFence, remoteState, detail, pause)
	})
}

func (b *batch) write(ctx context.Context, do func(context.Context) error) error {
	return write(ctx, do)
}

func (b *batch) end(ctx context.Context, as relabel.BatchState, remoteState, detail string) error {
	b.Log.Info().Stringer("batch", b.claim.BatchID).Str("state", string(as)).Str("remote", remoteState).Str("detail", detail).Msg("batch of labels")
	return b.write(ctx, func(ctx context.Context) error {
		return b.Store.EndBatch(ctx, b.claim.BatchFence, as, remoteState, detail, b.Bound.Again)
	})
}

// unwanted ends a batch that nobody waits for: its labels are all there, or their
// trajectories were cancelled.
func (b *batch) unwanted(life context.Context) error {
	of := b.claim.Batch
	if of.Received+of.Missing == of.Labels {
		return b.end(life, relabel.BatchDone, "", of.Detail)
	}
	if err := b.recall(life); err != nil { // it works in vain, which costs, but does no harm
		b.Log.Warn().Err(err).Stringer("batch", of.ID).Msg("the endpoint does not cancel the batch")
	}
	return b.end(life, relabel.BatchCancelled, "", "its trajectories are cancelled")
}

// recall has the endpoint cancel the batch, if it has it.
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

// send gives the endpoint the file, and then asks for a batch of it. That it is about to
// is recorded first.
func (b *batch) send(life context.Context) error {
	if b.claim.Batch.RemoteFile == "" {
		file, err := b.upload(life)
		if err != nil {
			return b.refusedOr(life, err)
		}
		if len(b.claim.Items) == 0 {
			return b.end(life, relabel.BatchDone, "", "no label's prompt fits the policy's context")
		}
		err = b.write(life, func(ctx context.Context) error {
			return b.Store.KeepBatchFile(ctx, b.claim.BatchFence, file, b.claim.Items)
		})
		if err != nil {
			return err
		}
		b.claim.Batch.RemoteFile = file
	}
	err := b.write(life, func(ctx context.Context) error { return b.Store.SendingBatch(ctx, b.claim.BatchFence) })
	if err != nil {
		return err
	}
	return b.create(life)
}

// create asks for the batch. Where it is unclear whether the endpoint took it, the batch
// stays in sending.
func (b *batch) create(life context.Context) error {
	made, err := b.remote.Create(life, b.claim.Batch.RemoteFile, b.claim.BatchID.String())
	if err != nil {
		return b.refusedOr(life, err)
	}
	return b.sent(life, made)
}

func (b *batch) sent(life context.Context, made relabel.RemoteBatch) error {
	err := b.write(life, func(ctx context.Context) error { return b.Store.SentBatch(ctx, b.claim.BatchFence, made.ID) })
	if err != nil {
		return err
	}
	b.Log.Info().Stringer("batch", b.claim.BatchID).Str("remote", made.ID).Int("labels", len(b.claim.Items)).Msg("the batch is sent")
	return b.putOff(life, made.Status, "", b.patience())
}

// patience is how long to wait before the next look: a quarter of the batch's age, so
// that one that is soon over is not waited for long.
func (b *batch) patience() time.Duration {
	age := time.Duration(0)
	if at := b.claim.Batch.SentAt; at != nil {
		age = time.Since(*at)
	}
	return min(max(age/4, time.Second), b.Bound.Poll)
}

// settleSending finds out whether the endpoint took the batch, and asks for it again where
// it did not.
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

// look takes the answers in when the endpoint has done with the batch.
func (b *batch) look(life context.Context) error {
	remote, err := b.remote.Get(life, b.claim.Batch.RemoteID)
	switch {
	case err != nil:
		return b.refusedOr(life, err)
	case !remote.Over() && b.tooOld():
		if err := b.remote.Cancel(life, remote.ID); err != nil {
			b.Log.Warn().Err(err).Stringer("batch", b.claim.BatchID).Msg("the endpoint does not cancel the batch")
		}
		return b.refusedOr(life, b.late("it is still "+remote.Status))
	case !remote.Over():
		return b.putOff(life, remote.Status, "", b.patience())
	}
	return b.collect(life, remote)
}

// refusedOr ends the batch where err is a clear refusal. Its labels are asked for again,
// a bounded number of times.
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

// tooOld reports whether the batch has had its time. It bounds how often a batch is put off.
func (b *batch) tooOld() bool { return time.Since(b.claim.Batch.CreatedAt) > b.Bound.Age }

// late is the refusal that a batch that is too old counts as.
func (b *batch) late(why string) error {
	return relabel.Errorf(relabel.CodeEndpoint, "%s: the batch has no answers %s after it was made: %s", b.claim.Policy.Name, b.Bound.Age, why)
}

func (b *batch) lastRound() bool { return b.claim.Batch.Round >= b.Bound.Rounds }

func (b *batch) settle(life context.Context, item relabel.BatchItem, label relabel.Action) error {
	return b.write(life, func(ctx context.Context) error {
		return b.Store.SettleBatched(ctx, b.claim.BatchFence, item, label)
	})
}

// customID names the label in the batch's file.
func customID(item relabel.BatchItem) string {
	return fmt.Sprintf("%s/%d/%d", item.TrajectoryID, item.Attempt, item.T)
}

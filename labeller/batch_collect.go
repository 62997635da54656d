package labeller

import (
	"context"

	"github.com/google/uuid"

	"relabel"
)

// collect stores the answers of a batch that the endpoint has finished, completely or not. Labels
// without a good answer are requested again in the next round; after the last one they are missing.
func (b *batch) collect(life context.Context, remote relabel.RemoteBatch) error {
	open := make(map[string]relabel.BatchItem, len(b.claim.Items))
	for _, item := range b.claim.Items {
		open[customID(item)] = item
	}
	failed := map[string]error{}
	of := func(id string) relabel.ChatRequest {
		return relabel.ChatRequest{Tools: b.claim.Run.Prompts.Tools, T: open[id].T}
	}
	for _, file := range []string{remote.OutputFile, remote.ErrorFile} {
		if file == "" {
			continue
		}
		err := b.remote.Answers(life, file, of, func(a relabel.BatchAnswer) error {
			item, wanted := open[a.CustomID]
			if !wanted {
				return nil // a foreign line, or one that was settled before
			}
			settled, err := b.take(life, item, a)
			if settled {
				delete(open, a.CustomID)
			} else if a.Err != nil {
				failed[a.CustomID] = a.Err
			}
			return err
		})
		if err != nil {
			return b.refusedOr(life, err)
		}
	}
	if err := b.forgo(life, open, failed, remote); err != nil {
		return err
	}
	as := relabel.BatchDone
	if remote.Status != "completed" {
		as = relabel.BatchFailed
	}
	return b.end(life, as, remote.Status, remote.Problem)
}

// take settles the label of one line, unless another round may help.
func (b *batch) take(life context.Context, item relabel.BatchItem, a relabel.BatchAnswer) (settled bool, err error) {
	if err := b.record(life, item, a); err != nil {
		return false, err
	}
	if b.World.Answered != nil {
		b.World.Answered(b.claim, item, a)
	}
	var label relabel.Action
	switch {
	case a.Err == nil:
		state, err := b.before(life, item)
		if err != nil {
			return false, err
		}
		label = a.Completion.Action(b.claim.Policy.ID, func(m relabel.Message) relabel.ParseOutcome { return b.World.Parse(b.claim.Run, state, m) })
	case relabel.CodeOf(a.Err) == relabel.CodeContextOverflow:
		label = relabel.MissingAction(b.claim.Policy.ID, a.Err)
	default:
		return false, nil
	}
	return true, b.settle(life, item, label)
}

// before returns the turns before a label as messages. They matter only in a search, whose last action
// has no call; in other runs it returns nil.
func (b *batch) before(life context.Context, item relabel.BatchItem) ([]relabel.Message, error) {
	if b.claim.Run.TaskKind != relabel.Localise {
		return nil, nil
	}
	turns, err := b.turns(life, item.TrajectoryID, item.T-1)
	return relabel.State(nil, turns), err
}

// record stores the call of a line. A line that is read twice is one call.
func (b *batch) record(life context.Context, item relabel.BatchItem, a relabel.BatchAnswer) error {
	if b.World.Record == nil {
		return nil
	}
	call := relabel.Call{ID: uuid.NewSHA1(uuid.UUID(b.claim.BatchID), []byte(a.CustomID)), PolicyID: b.claim.Policy.ID,
		TrajectoryID: &item.TrajectoryID, Attempt: item.Attempt, T: item.T, Purpose: relabel.PurposeLabel, Tries: 1, Size: item.Size, Sampling: item.Sampling,
		FinishReason: a.Completion.FinishReason, Usage: a.Completion.Usage, Model: a.Completion.Model, Clamped: a.Completion.Clamped,
		CostMicros: b.claim.Policy.Price.OfBatches().CostMicros(a.Completion.Usage), BaseURL: b.claim.Policy.BaseURL}
	if a.Err != nil {
		call.Error = a.Err.Error()
	}
	return write(life, func(ctx context.Context) error { return b.World.Record(ctx, call) })
}

// forgo settles the labels that are open after the last round as missing.
func (b *batch) forgo(life context.Context, open map[string]relabel.BatchItem, failed map[string]error, remote relabel.RemoteBatch) error {
	if !b.lastRound() {
		return nil
	}
	for id, item := range open {
		why := failed[id]
		if why == nil {
			why = relabel.Errorf(relabel.CodeEndpoint, "%s: the batch is %s and has no answer for this state", b.claim.Policy.Name, remote.Status)
		}
		if err := b.settle(life, item, relabel.MissingAction(b.claim.Policy.ID, why)); err != nil {
			return err
		}
	}
	return nil
}

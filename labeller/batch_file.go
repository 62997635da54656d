package labeller

import (
	"bufio"
	"context"
	"io"
	"os"
	"slices"

	"relabel"
	"relabel/chat"
)

// upload writes the batch's requests to a file and uploads it. Requests beyond its bounds become another
// batch. Afterwards the batch has the items in the file. Without any, no prompt fits the teacher's context,
// and there is no file.
func (b *batch) upload(life context.Context) (id string, err error) {
	file, err := os.CreateTemp("", "relabel-batch-*.jsonl")
	if err != nil {
		return "", relabel.Errorf(relabel.CodeUnavailable, "cannot create the batch's file").Because(err)
	}
	defer func() {
		_ = file.Close() // it is no longer needed
		_ = os.Remove(file.Name())
	}()
	size, written, rest, err := b.writeLines(life, file)
	if err != nil {
		return "", err
	}
	if len(rest) > 0 {
		err := write(life, func(ctx context.Context) error { return b.Store.SplitBatch(ctx, b.claim.BatchFence, rest) })
		if err != nil {
			return "", err
		}
	}
	if b.claim.Items = written; len(written) == 0 {
		return "", nil
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return "", relabel.Errorf(relabel.CodeUnavailable, "cannot read the batch's file").Because(err)
	}
	return b.remote.Upload(life, "relabel-"+b.claim.BatchID.String()+".jsonl", file, size)
}

// writeLines writes as many of the batch's requests as the bounds allow, at least one if any fits the
// teacher's context. rest are the remaining items.
func (b *batch) writeLines(life context.Context, file io.Writer) (size int64, written, rest []relabel.BatchItem, err error) {
	out := bufio.NewWriterSize(file, 1<<20)
	items := b.claim.Items
	for from := 0; from < len(items); {
		to := from
		for to < len(items) && items[to].TrajectoryID == items[from].TrajectoryID {
			to++
		}
		fitting, lines, err := b.lines(life, items[from:to])
		if err != nil {
			return 0, nil, nil, err
		}
		for k, line := range lines {
			if len(written) > 0 && (len(written) >= b.Bound.Lines || size+int64(len(line)) > b.Bound.Bytes) {
				return size, written, slices.Concat(fitting[k:], items[to:]), writeError(out.Flush())
			}
			if _, err := out.Write(line); err != nil {
				return 0, nil, nil, writeError(err)
			}
			size += int64(len(line))
			written = append(written, fitting[k])
		}
		from = to
	}
	return size, written, nil, writeError(out.Flush())
}

// writeError is the error of a write to the batch's file.
func writeError(err error) error {
	if err == nil {
		return nil
	}
	return relabel.Errorf(relabel.CodeUnavailable, "the batch's file cannot be written").Because(err)
}

// lines returns a line for each item that fits the teacher's context, and these items. It settles the
// labels of the others as missing. The items are of one trajectory and in order.
func (b *batch) lines(life context.Context, items []relabel.BatchItem) (fitting []relabel.BatchItem, lines [][]byte, err error) {
	tr, err := b.Store.FindTrajectory(life, items[0].TrajectoryID)
	if err != nil {
		return nil, nil, err
	}
	task, err := b.Store.FindTaskOf(life, tr.ID)
	if err != nil {
		return nil, nil, err
	}
	turns, err := b.turns(life, tr.ID, items[len(items)-1].T)
	if err != nil {
		return nil, nil, err
	}
	state := b.claim.Run.Prompts.Opening(task)
	sizes := chat.NewPromptSizes(state, b.claim.Run.Prompts.Tools)
	for _, turn := range turns {
		if len(items) > 0 && items[0].T == turn.T {
			req := b.request(b.claim.Run, tr, b.claim.Policy, state, turn.T, relabel.Teacher)
			item, line, err := b.line(life, items[0], req, sizes.Of(b.claim.Policy.ID))
			if err != nil {
				return nil, nil, err
			}
			if line != nil {
				fitting, lines = append(fitting, item), append(lines, line)
			}
			items = items[1:]
		}
		sizes.Add(turn)
		state = relabel.AppendTurn(state, turn)
	}
	if len(items) > 0 {
		return nil, nil, relabel.Errorf(relabel.CodeInternal, "trajectory %s has no turn %d", tr.ID, items[0].T)
	}
	return fitting, lines, nil
}

// turns returns the turns 1 to last of a trajectory, or fewer if it has fewer.
func (b *batch) turns(life context.Context, trajectory relabel.ID, last int) ([]relabel.Turn, error) {
	var turns []relabel.Turn
	for next := 1; next <= last; {
		page, err := b.Store.ListTurns(life, trajectory, next, last-next+1)
		if err != nil {
			return nil, err
		}
		if len(page) == 0 {
			break
		}
		turns = append(turns, page...)
		next = page[len(page)-1].T + 1
	}
	return turns, nil
}

// line returns the line of an item, and the item with its prompt's size. If the prompt does not fit the
// teacher's context, the line is nil, and the label is settled as missing.
func (b *batch) line(life context.Context, item relabel.BatchItem, req relabel.ChatRequest, estimate chat.PromptEstimate) (relabel.BatchItem, []byte, error) {
	req, err := b.limit(b.claim.Policy).Fit(life, req, estimate)
	switch {
	case relabel.CodeOf(err) == relabel.CodeContextOverflow:
		return item, nil, b.settle(life, item, relabel.MissingAction(b.claim.Policy.ID, err))
	case err != nil:
		return item, nil, err
	}
	item.Size, item.Sampling = req.Size, &req.Sampling
	return item, b.remote.Line(customID(item), req), nil
}

package labeller

import (
	"bufio"
	"context"
	"io"
	"os"

	"relabel"
)

// allTurns is beyond the last turn of any trajectory.
const allTurns = 1 << 30

// upload writes the batch's requests into a file and gives the endpoint that. What does
// not fit goes into another batch.
func (b *batch) upload(life context.Context) (id string, err error) {
	file, err := os.CreateTemp("", "relabel-batch-*.jsonl")
	if err != nil {
		return "", relabel.Errorf(relabel.CodeUnavailable, "no room for the batch's file").Because(err)
	}
	defer func() {
		_ = file.Close() // it was read, or is of no use
		_ = os.Remove(file.Name())
	}()
	size, written, err := b.writeLines(life, file)
	if err != nil {
		return "", err
	}
	if rest := b.claim.Items[written:]; len(rest) > 0 {
		err := b.write(life, func(ctx context.Context) error { return b.Store.SplitBatch(ctx, b.claim.BatchFence, rest) })
		if err != nil {
			return "", err
		}
		b.claim.Items = b.claim.Items[:written]
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return "", relabel.Errorf(relabel.CodeUnavailable, "the batch's file is not to be read").Because(err)
	}
	return b.remote.Upload(life, "relabel-"+b.claim.BatchID.String()+".jsonl", file, size)
}

// writeLines writes as many of the batch's requests as its bounds allow, one at least.
func (b *batch) writeLines(life context.Context, file io.Writer) (size int64, written int, err error) {
	out := bufio.NewWriterSize(file, 1<<20)
	items := b.claim.Items
	for from := 0; from < len(items); {
		to := from
		for to < len(items) && items[to].TrajectoryID == items[from].TrajectoryID {
			to++
		}
		lines, err := b.lines(life, items[from:to])
		if err != nil {
			return 0, 0, err
		}
		for _, line := range lines {
			if written > 0 && (written >= b.Bound.Lines || size+int64(len(line)) > b.Bound.Bytes) {
				return size, written, flushed(out)
			}
			if _, err := out.Write(line); err != nil {
				return 0, 0, full(err)
			}
			size += int64(len(line))
			written++
		}
		from = to
	}
	return size, written, flushed(out)
}

func flushed(out *bufio.Writer) error {
	if err := out.Flush(); err != nil {
		return full(err)
	}
	return nil
}

func full(err error) error {
	return relabel.Errorf(relabel.CodeUnavailable, "the batch's file cannot be written").Because(err)
}

// lines returns a line for each of the items, which are of one trajectory and in order.
func (b *batch) lines(life context.Context, items []relabel.BatchItem) ([][]byte, error) {
	tr, err := b.Store.FindTrajectory(life, items[0].TrajectoryID)
	if err != nil {
		return nil, err
	}
	task, err := b.Store.FindTask(life, tr.TaskID)
	if err != nil {
		return nil, err
	}
	turns, err := b.Store.ListTurns(life, tr.ID, 1, allTurns)
	if err != nil {
		return nil, err
	}
	var lines [][]byte
	state := b.claim.Run.Prompts.Opening(task)
	for _, turn := range turns {
		if len(items) > 0 && items[0].T == turn.T {
			req := b.request(b.claim.Run, tr, b.claim.Policy, state, turn.T, relabel.Teacher)
			lines = append(lines, b.remote.Line(customID(items[0]), req))
			items = items[1:]
		}
		state = relabel.AppendTurn(state, turn)
	}
	if len(items) > 0 {
		return nil, relabel.Errorf(relabel.CodeInternal, "trajectory %s has no turn %d", tr.ID, items[0].T)
	}
	return lines, nil
}

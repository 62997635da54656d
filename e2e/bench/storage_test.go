package bench

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"relabel"
	"relabel/chat"
	"relabel/envs/scaffold/openhands"
	"relabel/store"
)

// storageTrajectories are enough that pages which are not full count for little.
const storageTrajectories = 40

// BenchmarkStorage stores trajectories of several lengths, half of whose turns are the
// student's, and compares what the database takes on disk, indexes and large values and
// records of calls included, with a JSONL line for each (state, label), plain and gzipped.
func BenchmarkStorage(b *testing.B) {
	for _, turns := range []int{10, 20, 40, 80} {
		b.Run(fmt.Sprint("turns=", turns), func(b *testing.B) {
			for b.Loop() {
				s := openStore(b, databaseURL(b))
				before := size(b, s)
				r := begin(b, s, roundOf{trajectories: storageTrajectories, turns: turns, beta: 0.5})
				var lines, zipped counter
				zip := gzip.NewWriter(&zipped)
				for i := range r.trajectories {
					c, err := s.ClaimNext(context.Background(), "worker", relabel.Repair, time.Hour)
					must(b, err)
					storeTurns(b, s, c, rand.New(rand.NewPCG(3, uint64(i))), io.MultiWriter(&lines, zip))
				}
				must(b, zip.Close())
				_, err := s.Pool().Exec(context.Background(), "VACUUM")
				must(b, err)
				stored, states := float64(size(b, s)-before), float64(storageTrajectories*turns)
				b.ReportMetric(stored/states/1024, "KiB/state")
				b.ReportMetric(float64(lines)/states/1024, "KiB-JSONL/state")
				b.ReportMetric(float64(zipped)/states/1024, "KiB-gzip/state")
				b.ReportMetric(float64(lines)/stored, "x-less")
				b.ReportMetric(stored/storageTrajectories/1024, "KiB/trajectory")
			}
		})
	}
}

// counter counts what is written to it, in bytes.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// size is what the schema's tables take on disk, with indexes and TOAST.
func size(b *testing.B, s *store.Store) int64 {
	b.Helper()
	return one[int64](b, s, `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
		WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'r'`, s.Schema())
}

// storeTurns rolls a claimed trajectory out without models, and writes its states and
// labels as JSONL.
func storeTurns(b *testing.B, s *store.Store, c relabel.Claim, r *rand.Rand, lines io.Writer) {
	b.Helper()
	ctx := context.Background()
	state := c.Run.Prompts.Opening(c.Task)
	for t := 1; t <= len(c.Trajectory.Executors); t++ {
		turn := makeTurn(c, t, r)
		line := chat.AppendMessages([]byte(`{"messages":`), state)
		line = append(line, `,"label":`...)
		_, err := lines.Write(append(append(line, turn.Label.Raw...), "}\n"...))
		must(b, err)
		for range 2 { // of a student's turn there are two calls
			must(b, s.RecordCall(ctx, relabel.Call{PolicyID: turn.Action.PolicyID, TrajectoryID: &c.TrajectoryID, Attempt: c.Attempt, T: t, Purpose: relabel.PurposeAct,
				Millis: 900, Tries: 1, Status: 200, FinishReason: "tool_calls", Usage: turn.Action.Usage, Model: "m", BaseURL: "http://127.0.0.1:8000/v1"}))
			if turn.Executor == relabel.Teacher {
				break
			}
		}
		must(b, s.CommitTurn(ctx, c.Fence, turn))
		state = relabel.AppendTurn(state, turn)
	}
}

// makeTurn is a turn of a real length, with its label.
func makeTurn(c relabel.Claim, t int, r *rand.Rand) relabel.Turn {
	exit := 0
	turn := relabel.Turn{T: t, Executor: c.Trajectory.Executors.At(t), Tree: fmt.Sprintf("%040x", t), Observations: []relabel.Observation{{
		CallID: relabel.CallID(t, 0), Tool: "execute_bash", Content: piece(r, observationLength), ExitCode: &exit, Millis: 300}}}
	label := had(c, c.Teacher.ID, r)
	turn.Label, turn.Action = &label, label
	if turn.Executor == relabel.Student {
		turn.Action = had(c, c.Student.ID, r)
	}
	return turn
}

// had is an action that a policy said.
func had(c relabel.Claim, policy relabel.ID, r *rand.Rand) relabel.Action {
	m := say(r)
	return relabel.Action{PolicyID: policy, Status: relabel.Received, Raw: chat.AppendMessage(nil, m), Message: m, FinishReason: "tool_calls",
		Parse: openhands.Parse(c.Run.Prompts.Tools, m), Usage: &relabel.Usage{PromptTokens: 20000, CompletionTokens: 150}, Model: "m"}
}

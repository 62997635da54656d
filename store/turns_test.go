package store_test

import (
	"bytes"
	"context"
	"math"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"relabel"
	"relabel/chat"
	"relabel/store/storetest"
)

func TestACommittedTurnAgainIsOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	c := storetest.Claim(t, s, storetest.Seed(t, s, 1).Trajectories[0].ID, "w")
	turn := storetest.Turn(c, 1, nil)
	must(t, s.CommitTurn(ctx, c.Fence, turn))
	before := fingerprint(t, s, rolloutTables...)
	must(t, s.CommitTurn(ctx, c.Fence, turn))
	if !reflect.DeepEqual(before, fingerprint(t, s, rolloutTables...)) {
		t.Error("the second commit changed something")
	}
	must(t, s.SettleLabel(ctx, c.Fence, 1, storetest.Received(c.Teacher.ID, "late")))
	must(t, s.CommitTurn(ctx, c.Fence, turn)) // its label came since
	other := turn
	other.Tree = "another tree"
	wantCode(t, s.CommitTurn(ctx, c.Fence, other), relabel.CodeConflict)
	other = turn
	other.Action = storetest.Received(c.Student.ID, "another action")
	wantCode(t, s.CommitTurn(ctx, c.Fence, other), relabel.CodeConflict)
}

func TestTurnsCommitInOrderByTheDrawnExecutor(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	c := storetest.Claim(t, s, storetest.Seed(t, s, 1).Trajectories[0].ID, "w") // sTsTsT
	wantCode(t, s.CommitTurn(ctx, c.Fence, storetest.Turn(c, 2, nil)), relabel.CodeConflict)
	wrong := storetest.Turn(c, 1, nil)
	wrong.Executor, wrong.Action = relabel.Teacher, storetest.Received(c.Teacher.ID, "mine")
	wantCode(t, s.CommitTurn(ctx, c.Fence, wrong), relabel.CodeInvalid)
	for i := 1; i <= 6; i++ {
		must(t, s.CommitTurn(ctx, c.Fence, storetest.Turn(c, i, nil)))
	}
	beyond := storetest.Turn(c, 5, nil)
	beyond.T = 7
	wantCode(t, s.CommitTurn(ctx, c.Fence, beyond), relabel.CodeInvalid)
}

func TestAnInvalidTurnLeavesNothing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	c := storetest.Claim(t, s, storetest.Seed(t, s, 1).Trajectories[0].ID, "w")
	before := fingerprint(t, s, rolloutTables...)
	pending := storetest.Turn(c, 1, nil)
	pending.Action = relabel.Action{PolicyID: c.Student.ID, Status: relabel.Pending}
	wantCode(t, s.CommitTurn(ctx, c.Fence, pending), relabel.CodeInvalid)
	unknown := storetest.Turn(c, 1, nil)
	unknown.Action.PolicyID = relabel.NewID()
	wantCode(t, s.CommitTurn(ctx, c.Fence, unknown), relabel.CodeInvalid)
	empty := storetest.Turn(c, 1, nil)
	empty.Action.Raw = nil
	wantCode(t, s.CommitTurn(ctx, c.Fence, empty), relabel.CodeInvalid)
	if !reflect.DeepEqual(before, fingerprint(t, s, rolloutTables...)) {
		t.Error("something is left")
	}
}

func TestAnyBytesAreKeptWithoutLoss(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.Custom(func(rt *rapid.T) string {
			return string(rapid.SliceOf(rapid.SampledFrom([]byte("a\x00\xff\xed\xa0\x80\xc3\xa9\x1b\"\\\n<"))).Draw(rt, "bytes"))
		})
		c := storetest.Claim(t, s, storetest.Seed(t, s, 1).Trajectories[0].ID, "w")
		exit := rapid.Int().Draw(rt, "exit") % 256
		turn := storetest.Turn(c, 1, nil)
		turn.Action.Raw = chat.AppendMessage([]byte(text.Draw(rt, "raw")), relabel.Message{Content: text.Draw(rt, "content")})
		turn.Action.Said = rapid.SampledFrom([][]byte{nil, []byte("x" + text.Draw(rt, "said"))}).Draw(rt, "written")
		turn.Action.ReadAs = rapid.SampledFrom([][]relabel.CallForm{nil, {relabel.ThinkTags, relabel.FunctionTags}}).Draw(rt, "read as")
		turn.Action.NotGiven = rapid.SampledFrom([][]string{nil, {"token_ids", "logprobs"}}).Draw(rt, "not given")
		turn.Action.Refusal = text.Draw(rt, "refusal")
		turn.Action.TokenIDs, turn.Action.Logprobs = []int32{1, math.MaxInt32}, []float32{-0.25, float32(math.Inf(-1))}
		turn.Action.Usage = &relabel.Usage{PromptTokens: 10, CompletionTokens: 2, CachedTokens: 8}
		turn.Observations = []relabel.Observation{
			{CallID: "call_1_0", Tool: text.Draw(rt, "tool"), Content: text.Draw(rt, "first"), ExitCode: &exit, Millis: 12},
			{CallID: "call_1_1", Tool: "finish", Content: text.Draw(rt, "second"), Failed: true}}
		must(t, s.CommitTurn(ctx, c.Fence, turn))
		patch := append([]byte("p"), text.Draw(rt, "patch")...)
		must(t, s.SettleLabel(ctx, c.Fence, 1, relabel.Action{PolicyID: c.Teacher.ID, Status: relabel.Missing, Reason: "endpoint: no"}))
		must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndMaxTurns, Patch: patch}))

		turns, err := s.ListTurns(ctx, c.TrajectoryID, 1, 1)
		must(t, err)
		got, want := turns[0], turn
		got.Action.Message, want.Action.Message = relabel.Message{}, relabel.Message{}
		if !reflect.DeepEqual(got.Action, want.Action) || !reflect.DeepEqual(got.Observations, want.Observations) {
			rt.Fatalf("stored %+v, not %+v", got, want)
		}
		if got.Label.Status != relabel.Missing || got.Label.Reason != "endpoint: no" {
			rt.Fatalf("label %+v", got.Label)
		}
		stored, err := s.FindPatch(ctx, c.TrajectoryID)
		must(t, err)
		if !bytes.Equal(stored, patch) {
			rt.Fatalf("patch %q, not %q", stored, patch)
		}
	})
}

func TestAMessageIsDecodedFromItsRawForm(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	c := storetest.Claim(t, s, storetest.Seed(t, s, 1).Trajectories[0].ID, "w")
	raw := []byte(`{"tool_calls":[{"function":{"arguments":"{\"a\": 1.0, \"a\": \"\\u0000\\ud800\"}","name":"f"},"id":"x"}],"content":null,"role":"assistant"}`)
	turn := storetest.Turn(c, 1, nil)
	turn.Action.Raw = raw
	must(t, s.CommitTurn(ctx, c.Fence, turn))
	turns, err := s.ListTurns(ctx, c.TrajectoryID, 1, 1)
	must(t, err)
	want, err := chat.DecodeMessage(raw)
	must(t, err)
	if !reflect.DeepEqual(turns[0].Action.Message, want) || !bytes.Equal(turns[0].Action.Raw, raw) {
		t.Errorf("message %+v", turns[0].Action.Message)
	}
}

func TestALabelIsSettledOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	c := storetest.Claim(t, s, storetest.Seed(t, s, 1).Trajectories[0].ID, "w")
	must(t, s.CommitTurn(ctx, c.Fence, storetest.Turn(c, 1, nil)))
	must(t, s.CommitTurn(ctx, c.Fence, storetest.Turn(c, 2, nil)))
	must(t, s.CommitTurn(ctx, c.Fence, storetest.Turn(c, 3, nil)))
	wantCode(t, s.SettleLabel(ctx, c.Fence, 2, storetest.Received(c.Teacher.ID, "x")), relabel.CodeConflict) // the teacher's own turn
	wantCode(t, s.SettleLabel(ctx, c.Fence, 1, storetest.Received(c.Student.ID, "x")), relabel.CodeConflict) // not the teacher
	var settled atomic.Int32
	var work sync.WaitGroup
	for range 6 {
		work.Go(func() {
			err := s.SettleLabel(ctx, c.Fence, 1, storetest.Received(c.Teacher.ID, "action 1"))
			if err == nil {
				settled.Add(1)
			} else if relabel.CodeOf(err) != relabel.CodeConflict {
				t.Error(err)
			}
		})
	}
	work.Wait()
	if settled.Load() != 1 {
		t.Fatalf("settled %d times", settled.Load())
	}
	must(t, s.SettleLabel(ctx, c.Fence, 3, storetest.Received(c.Teacher.ID, "something else")))
	tr, err := s.FindTrajectory(ctx, c.TrajectoryID)
	must(t, err)
	if tr.Agreement == nil || *tr.Agreement != 0.5 || tr.LabelsMissing != 0 {
		t.Errorf("of two student turns one agrees: %+v", tr)
	}
}

package store_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

func TestHeadsSayWhatTurnsSayWithoutTheirTexts(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	c := storetest.Claim(t, s, storetest.Seed(t, s, 1).Trajectories[0].ID, "w")
	same, other := storetest.Received(c.Teacher.ID, "action 1"), storetest.Received(c.Teacher.ID, "other")
	missing := relabel.Action{PolicyID: c.Teacher.ID, Status: relabel.Missing, Reason: strings.Repeat("ü", 400)}
	one, two := 1, 2
	for i, label := range []*relabel.Action{&same, nil, &other, nil, &missing, nil} {
		turn := storetest.Turn(c, i+1, label)
		turn.Action.Usage = &relabel.Usage{PromptTokens: 10 * (i + 1), CompletionTokens: 3, CachedTokens: 1}
		turn.Observations = []relabel.Observation{
			{Tool: strings.Repeat("t", 100), Content: strings.Repeat("x", 1000*i), Failed: true},
			{Tool: "bash", Content: "öö", ExitCode: &two}, {Tool: "bash", ExitCode: &one}}
		must(t, s.CommitTurn(ctx, c.Fence, turn))
	}
	heads, err := s.ListHeads(ctx, c.TrajectoryID, c.Attempt)
	must(t, err)
	turns, err := s.ListTurns(ctx, c.TrajectoryID, 1, 10)
	must(t, err)
	yes, no := true, false
	agrees := []*bool{&yes, nil, &no, nil, nil, nil}
	for i, turn := range turns {
		want := relabel.TurnHead{T: turn.T, Executor: turn.Executor, Label: turn.Label.Status, Agrees: agrees[i], Parse: turn.Action.Parse,
			FinishReason: turn.Action.FinishReason, Tools: []string{strings.Repeat("t", 60), "bash", "bash"}, Failed: 1, ExitCode: &two,
			Usage: turn.Action.Usage, ActionBytes: len(turn.Action.Raw), OutputBytes: int64(1000*i + 4), StartedAt: turn.StartedAt, EndedAt: turn.EndedAt}
		if turn.Executor == relabel.Student {
			want.LabelBytes = len(turn.Label.Raw)
		}
		if turn.T == 5 {
			want.LabelReason = strings.Repeat("ü", 300)
		}
		if !reflect.DeepEqual(heads[i], want) {
			t.Errorf("turn %d: %+v, want %+v", turn.T, heads[i], want)
		}
	}
	if none, err := s.ListHeads(ctx, relabel.NewID(), 1); err != nil || len(none) != 0 {
		t.Errorf("of nothing: %v, %v", none, err)
	}
}

func TestExcerptsAreTurnsWithTheEndsOfTheirObservations(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	c := storetest.Claim(t, s, storetest.Seed(t, s, 1).Trajectories[0].ID, "w")
	long := strings.Repeat("0123456789", 30_000)
	for i := 1; i <= 3; i++ {
		label := storetest.Received(c.Teacher.ID, "label")
		turn := storetest.Turn(c, i, &label)
		turn.Observations = []relabel.Observation{{Content: long}, {Content: long[:1500]}, {}}
		turn.Action.TokenIDs = []int32{1, 2}
		if i == 3 {
			turn.Action = storetest.Received(turn.Action.PolicyID, strings.Repeat("x", relabel.MostActionBytes))
		}
		must(t, s.CommitTurn(ctx, c.Fence, turn))
	}
	excerpts, err := s.ListExcerpts(ctx, c.TrajectoryID, c.Attempt, 2, 4, 1000, 500)
	must(t, err)
	whole, err := s.ListAttemptTurns(ctx, c.TrajectoryID, c.Attempt, 2, 4)
	must(t, err)
	if len(excerpts) != 2 || len(whole) != 2 || whole[0].Observations[0].Content != long {
		t.Fatalf("%d excerpts of %d turns", len(excerpts), len(whole))
	}
	for i, e := range excerpts {
		if !reflect.DeepEqual(e.Lengths, []int{len(long), 1500, 0}) || !reflect.DeepEqual(e.Tails, []string{long[len(long)-500:], "", ""}) ||
			e.Observations[0].Content != long[:1000] || e.Observations[1].Content != long[:1500] {
			t.Errorf("turn %d: lengths %v, tails of %d bytes", e.T, e.Lengths, len(e.Tails[0]))
		}
		if i == 0 && !reflect.DeepEqual(e.Action.Message, whole[i].Action.Message) || !reflect.DeepEqual(e.Label.Message, whole[i].Label.Message) && i == 1 {
			t.Errorf("turn %d: action %+v", e.T, e.Action)
		}
	}
	if e := excerpts[1]; e.Action.Status != relabel.Received || e.Action.Raw != nil || e.ActionBytes != len(whole[1].Action.Raw) || e.LabelBytes != 0 {
		t.Errorf("a message that is too long: %d bytes left out", e.ActionBytes)
	}
}

func TestExecutedActionsAreReadOneByOne(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	c := storetest.Claim(t, s, storetest.Seed(t, s, 1).Trajectories[0].ID, "w")
	for i := 1; i <= 3; i++ {
		label := storetest.Received(c.Teacher.ID, "label")
		turn := storetest.Turn(c, i, &label)
		if i == 2 {
			turn.Action = storetest.Received(turn.Action.PolicyID, strings.Repeat("x", relabel.MostActionBytes))
		}
		must(t, s.CommitTurn(ctx, c.Fence, turn))
	}
	whole, err := s.ListAttemptTurns(ctx, c.TrajectoryID, c.Attempt, 1, 4)
	must(t, err)
	read := 0
	must(t, s.EachAction(ctx, c.TrajectoryID, c.Attempt, func(n int, m *relabel.Message) error {
		if read++; n != read || (m == nil) != (n == 2) || m != nil && !reflect.DeepEqual(*m, whole[n-1].Action.Message) {
			t.Errorf("turn %d: %+v", n, m)
		}
		return nil
	}))
	if read != 3 {
		t.Errorf("%d actions", read)
	}
}

// BenchmarkOverviewOfATrajectory reads what a page needs to know of 500 turns with
// 200 kB each, beside all of them.
func BenchmarkOverviewOfATrajectory(b *testing.B) {
	ctx, s := context.Background(), storetest.New(b)
	d := storetest.SeedWith(b, s, 1, func(d *storetest.Seeded) {
		d.Run.Limits.MaxTurns = 500
		d.Trajectories[0].Executors = relabel.Executors(strings.Repeat("sT", 250))
	})
	c := storetest.Claim(b, s, d.Trajectories[0].ID, "w")
	line := func(i, k int) string {
		return strings.Repeat("src/pkg/", k%5) + "file.py:" + strings.Repeat("x", (i*k)%90) + "\n"
	}
	for i := 1; i <= 500; i++ {
		var content strings.Builder
		for k := 0; content.Len() < 200_000; k++ {
			content.WriteString(line(i, k))
		}
		label := storetest.Received(c.Teacher.ID, strings.Repeat("label ", 100))
		turn := storetest.Turn(c, i, &label)
		turn.Observations[0].Content = content.String()
		must(b, s.CommitTurn(ctx, c.Fence, turn))
	}
	for _, read := range []struct {
		name string
		fn   func() error
	}{
		{"heads", func() error { _, err := s.ListHeads(ctx, c.TrajectoryID, 1); return err }},
		{"ten excerpts", func() error { _, err := s.ListExcerpts(ctx, c.TrajectoryID, 1, 250, 260, 4000, 1500); return err }},
		{"ten turns", func() error { _, err := s.ListAttemptTurns(ctx, c.TrajectoryID, 1, 250, 260); return err }},
		{"all turns", func() error { _, err := s.ListAttemptTurns(ctx, c.TrajectoryID, 1, 1, 501); return err }},
	} {
		b.Run(read.name, func(b *testing.B) {
			for b.Loop() {
				must(b, read.fn())
			}
		})
	}
}

package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

func TestAPageOfLargeItemsHasFewer(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := storetest.Seed(t, s, 1)
	for i := range 6 {
		run := d.Run
		run.ID, run.Name = relabel.NewID(), fmt.Sprintf("large %d", i)
		run.Prompts.System = strings.Repeat("x", relabel.MostPageBytes/8*3)
		must(t, s.CreateRun(ctx, run))
	}
	seen, after := 0, ""
	for pages := 0; ; pages++ {
		runs, next, err := s.ListRuns(ctx, relabel.Page{After: after, Limit: 500})
		must(t, err)
		if seen += len(runs); next == "" {
			break
		}
		if len(runs) != 2 || pages > 7 {
			t.Fatalf("page %d has %d runs", pages, len(runs))
		}
		after = next
	}
	if seen != 7 {
		t.Errorf("%d runs of 7 were listed", seen)
	}
	huge := d.Run
	huge.ID, huge.Name, huge.Prompts.System = relabel.NewID(), "huge", strings.Repeat("x", 2*relabel.MostPageBytes)
	must(t, s.CreateRun(ctx, huge))
	if runs, next, err := s.ListRuns(ctx, relabel.Page{}); err != nil || len(runs) != 1 || next == "" {
		t.Errorf("a page of one that is larger: %d runs, next %q, %v", len(runs), next, err)
	}
}

func TestAPageOfLargeTurnsHasFewer(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	c := storetest.Claim(t, s, storetest.Seed(t, s, 1).Trajectories[0].ID, "w")
	for i := range 4 {
		turn := storetest.Turn(c, i+1, nil)
		turn.Observations = []relabel.Observation{{Content: strings.Repeat("x", relabel.MostPageBytes/8*3)}}
		must(t, s.CommitTurn(ctx, c.Fence, turn))
	}
	for from, want := range map[int]int{1: 2, 2: 2, 3: 2, 4: 1} {
		turns, err := s.ListTurns(ctx, c.TrajectoryID, from, 500)
		must(t, err)
		if len(turns) != want || turns[0].T != from {
			t.Errorf("from %d: %d turns", from, len(turns))
		}
	}
	exec(t, s, "UPDATE observations SET content = convert_to(repeat('x', $1), 'UTF8') WHERE t = 2", 2*relabel.MostPageBytes)
	if turns, err := s.ListTurns(ctx, c.TrajectoryID, 2, 500); err != nil || len(turns) != 1 {
		t.Errorf("one that is larger than a page: %d turns, %v", len(turns), err)
	}
}

func TestATokenizersFileIsReadInPieces(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	k, err := s.CreateTokenizer(ctx, "t", relabel.TokenizerFiles{relabel.TokenizerJSON: []byte("0123456789")})
	must(t, err)
	for from, want := range map[int64]string{0: "0123", 4: "4567", 8: "89"} {
		piece, err := s.ReadTokenizerFile(ctx, k.Hash, relabel.TokenizerJSON, from, 4)
		must(t, err)
		if string(piece) != want {
			t.Errorf("from %d: %q", from, piece)
		}
	}
	_, err = s.ReadTokenizerFile(ctx, k.Hash, relabel.TokenizerJSON, 10, 4)
	wantCode(t, err, relabel.CodeNotFound)
}

func TestAPageOfLargeTasksHasFewer(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	set := relabel.Taskset{ID: relabel.NewID(), Name: "large"}
	var tasks []relabel.Task
	for i := range 5 {
		tasks = append(tasks, relabel.Task{ID: relabel.NewID(), InstanceID: fmt.Sprintf("a__b-%d", i), Image: "i", HeldOut: i == 3,
			Patch: strings.Repeat("x", relabel.MostPageBytes/8*3)})
	}
	must(t, s.CreateTaskset(ctx, set, relabel.TaskList(tasks)))
	first, next, err := s.ListTasks(ctx, set.ID, 0, relabel.Page{Limit: 500})
	must(t, err)
	if len(first) != 2 || next == "" {
		t.Errorf("%d tasks, next %q", len(first), next)
	}
	second, _, err := s.ListTasks(ctx, set.ID, 0, relabel.Page{Limit: 500, After: next})
	must(t, err)
	if len(second) != 2 || second[0].InstanceID != "a__b-2" {
		t.Errorf("then %d tasks", len(second))
	}
	names, err := s.ListTaskNames(ctx, set.ID, 0)
	must(t, err)
	if len(names) != 5 || names[4].InstanceID != "a__b-4" || !names[3].HeldOut || names[3].ID != tasks[3].ID || names[3].Patch != "" {
		t.Errorf("names: %+v", names)
	}
}

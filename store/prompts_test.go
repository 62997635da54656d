package store_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// asking is a rollout whose actions bear prompt ids, and what they must come back as.
type asking struct {
	t    *testing.T
	s    *store.Store
	c    relabel.Claim
	said map[relabel.ID]*relabel.Action // each policy's last action
	want []relabel.Turn                 // turn t at t-1
}

func (a *asking) begin(executors string, student func(*storetest.Seeded) relabel.ID) {
	d := storetest.SeedWith(a.t, a.s, 1, func(d *storetest.Seeded) {
		d.Trajectories[0].Executors, d.Iteration.StudentID = relabel.Executors(executors), student(d)
	})
	a.c = storetest.Claim(a.t, a.s, d.Trajectories[0].ID, "w")
	a.said, a.want = map[relabel.ID]*relabel.Action{}, nil
}

// commit commits the next turn; a student's label is pending.
func (a *asking) commit(prompt func(last *relabel.Action) []int32, sampled []int32) {
	a.t.Helper()
	turn := storetest.Turn(a.c, len(a.want)+1, nil)
	turn.Action.PromptTokenIDs, turn.Action.TokenIDs = prompt(a.said[turn.Action.PolicyID]), sampled
	a.said[turn.Action.PolicyID] = &turn.Action
	must(a.t, a.s.CommitTurn(context.Background(), a.c.Fence, turn))
	if turn.Executor == relabel.Teacher {
		turn.Label = &turn.Action
	}
	a.want = append(a.want, turn)
}

// settle settles the pending label of turn t.
func (a *asking) settle(t int, prompt, sampled []int32) {
	a.t.Helper()
	label := storetest.Received(a.c.Teacher.ID, fmt.Sprintf("label %d", t))
	label.PromptTokenIDs, label.TokenIDs = prompt, sampled
	must(a.t, a.s.SettleLabel(context.Background(), a.c.Fence, t, label))
	a.want[t-1].Label = &label
}

// check reads every state back.
func (a *asking) check(fail func(format string, args ...any)) {
	a.t.Helper()
	all, err := a.s.ListPromptedTurns(context.Background(), a.c.TrajectoryID, 1, 500)
	must(a.t, err)
	if len(all) != len(a.want) {
		fail("%d turns of %d", len(all), len(a.want))
	}
	for i, want := range a.want {
		turns, err := a.s.FindState(context.Background(), a.c.TrajectoryID, a.c.Attempt, i+1)
		must(a.t, err)
		got := turns[i]
		if !reflect.DeepEqual(all[i], got) {
			fail("turn %d is %+v in the list, and %+v alone", i+1, all[i], got)
		}
		if len(turns) != i+1 || !reflect.DeepEqual(got.Action.PromptTokenIDs, want.Action.PromptTokenIDs) ||
			!reflect.DeepEqual(got.Label.PromptTokenIDs, want.Label.PromptTokenIDs) || !reflect.DeepEqual(got.Action.TokenIDs, want.Action.TokenIDs) {
			fail("turn %d: action %v, label %v, want %v, %v", i+1, got.Action.PromptTokenIDs, got.Label.PromptTokenIDs,
				want.Action.PromptTokenIDs, want.Label.PromptTokenIDs)
		}
	}
}

func sameStudent(d *storetest.Seeded) relabel.ID    { return d.Teacher.ID }
func anotherStudent(d *storetest.Seeded) relabel.ID { return d.Student.ID }

// drawnIDs are few different ids, so that prompts often begin alike.
func drawnIDs(rt *rapid.T, what string) []int32 {
	return rapid.SliceOfN(rapid.SampledFrom([]int32{0, 1, 1<<31 - 1}), 0, 5).Draw(rt, what)
}

// drawnPrompt goes on with what was said last, or does not.
func drawnPrompt(rt *rapid.T, last *relabel.Action) []int32 {
	kind := rapid.SampledFrom([]string{"grown", "grown", "forgetful", "shorter", "rewritten", "empty", "absent"}).Draw(rt, "prompt")
	if last == nil && kind != "absent" {
		kind = "rewritten"
	}
	switch kind {
	case "grown":
		return slices.Concat(last.PromptTokenIDs, last.TokenIDs, drawnIDs(rt, "more"), []int32{7})
	case "forgetful": // the template drops what was sampled
		return slices.Concat(last.PromptTokenIDs, drawnIDs(rt, "more"), []int32{7})
	case "shorter":
		return append([]int32{}, last.PromptTokenIDs[:rapid.IntRange(0, len(last.PromptTokenIDs)).Draw(rt, "kept")]...)
	case "rewritten":
		return append(drawnIDs(rt, "new"), 7)
	case "empty":
		return []int32{}
	}
	return nil
}

func TestAnyPromptsComeBackExactlyInWhateverOrderLabelsSettle(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	rapid.Check(t, func(rt *rapid.T) {
		a := &asking{t: t, s: s}
		executors := rapid.StringMatching("[Ts]{1,8}").Draw(rt, "executors")
		a.begin(executors, rapid.SampledFrom([]func(*storetest.Seeded) relabel.ID{sameStudent, anotherStudent}).Draw(rt, "student"))
		labels := make([][2][]int32, len(executors)) // a label is asked for in order, and comes when it comes
		var pending []int
		for len(a.want) < len(executors) || len(pending) > 0 {
			if len(pending) == 0 || len(a.want) < len(executors) && rapid.Bool().Draw(rt, "commit") {
				a.commit(func(last *relabel.Action) []int32 { return drawnPrompt(rt, last) }, drawnIDs(rt, "sampled"))
				if t := len(a.want); executors[t-1] == 's' {
					label := &relabel.Action{PromptTokenIDs: drawnPrompt(rt, a.said[a.c.Teacher.ID]), TokenIDs: drawnIDs(rt, "label")}
					labels[t-1], a.said[a.c.Teacher.ID] = [2][]int32{label.PromptTokenIDs, label.TokenIDs}, label
					pending = append(pending, t)
				}
				continue
			}
			k := rapid.IntRange(0, len(pending)-1).Draw(rt, "which")
			a.settle(pending[k], labels[pending[k]-1][0], labels[pending[k]-1][1])
			pending = slices.Delete(pending, k, k+1)
		}
		a.check(rt.Fatalf)
	})
}

func TestStoredPromptsGrowWithTheTurns(t *testing.T) {
	t.Parallel()
	const turns, step = 60, 20 // each prompt is 20 ids longer than the one before
	prompt := func(t int) []int32 {
		ids := make([]int32, t*step)
		for i := range ids {
			ids[i] = int32(i)
		}
		return ids
	}
	sampled := []int32{turns * step, 1} // never what the next prompt has: the worst case
	orders := map[string]func(i int) int{
		"in order": func(i int) int { return i + 1 }, "backwards": func(i int) int { return turns - i }, "scattered": func(i int) int { return i*37%turns + 1 },
	}
	for name, turn := range orders {
		s := storetest.New(t)
		a := &asking{t: t, s: s}
		a.begin(strings.Repeat("s", turns), anotherStudent)
		for i := range turns {
			a.commit(func(*relabel.Action) []int32 { return prompt(i + 1) }, sampled)
		}
		for i := range turns {
			a.settle(turn(i), prompt(turn(i)), sampled)
		}
		a.check(t.Fatalf)
		stored := value[int](t, s, "SELECT sum(cardinality(prompt_rest)) FROM actions")
		if once := turns * step; stored != 2*once { // the last prompt, once for each policy
			t.Errorf("%s: %d ids are stored, not %d; whole prompts have %d", name, stored, 2*once, turns*(turns+1)*step)
		}
	}
}

func TestWhatWasSampledIsNotStoredAgainInThePromptsAfterIt(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	a := &asking{t: t, s: s}
	a.begin("TTT", anotherStudent)
	for _, sampled := range [][]int32{{10, 11, 12}, {20}, nil} {
		a.commit(func(last *relabel.Action) []int32 {
			if last == nil {
				return []int32{1, 2}
			}
			return slices.Concat(last.PromptTokenIDs, last.TokenIDs, []int32{3})
		}, sampled)
	}
	a.check(t.Fatalf)
	if stored := value[int](t, s, "SELECT sum(cardinality(prompt_rest)) FROM actions"); stored != 4 {
		t.Errorf("%d ids are stored, not 4", stored)
	}
}

func TestAnotherAttemptsPromptsAreItsOwn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	a := &asking{t: t, s: s}
	a.begin("TT", anotherStudent)
	a.commit(func(*relabel.Action) []int32 { return []int32{1, 2, 3} }, nil)
	must(t, s.Release(ctx, a.c.Fence))
	first := a.c
	a.c, a.want = storetest.Claim(t, s, first.TrajectoryID, "v"), nil
	must(t, s.Diverge(ctx, a.c.Fence, first.Attempt, "turn 1: another tree"))
	a.commit(func(*relabel.Action) []int32 { return []int32{1, 2, 4} }, nil)
	a.check(t.Fatalf)
	old, err := s.FindState(ctx, first.TrajectoryID, first.Attempt, 1)
	must(t, err)
	if got := old[0].Action.PromptTokenIDs; !slices.Equal(got, []int32{1, 2, 3}) {
		t.Errorf("the first attempt was asked with %v", got)
	}
	for _, none := range []int{-1, 0, 2} {
		_, err := s.FindState(ctx, first.TrajectoryID, 2, none)
		wantCode(t, err, relabel.CodeNotFound)
	}
}

func TestListsLeavePromptIDsOut(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	a := &asking{t: t, s: s}
	a.begin("s", anotherStudent)
	a.commit(func(*relabel.Action) []int32 { return []int32{1} }, []int32{2})
	a.settle(1, []int32{1}, []int32{2})
	turns, err := s.ListTurns(context.Background(), a.c.TrajectoryID, 1, 1)
	must(t, err)
	if turns[0].Action.PromptTokenIDs != nil || turns[0].Label.PromptTokenIDs != nil || !slices.Equal(turns[0].Action.TokenIDs, []int32{2}) {
		t.Errorf("turn %+v", turns[0])
	}
}

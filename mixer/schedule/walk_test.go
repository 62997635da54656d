package schedule_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"relabel"
	"relabel/mixer/schedule"
)

func idsOf(tasks []relabel.Task) []string {
	ids := make([]string, len(tasks))
	for i, t := range tasks {
		ids[i] = t.InstanceID
	}
	return ids
}

// Within a permutation no task repeats, every task comes before the next one begins, an iteration has
// no task twice, and the order in which tasks are listed changes nothing.
func TestAPermutationIsExhaustedBeforeTheNextOneBegins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := tasksOf(rapid.IntRange(1, 40).Draw(t, "tasks"), 0)
		seed := rapid.Int64().Draw(t, "seed")
		var walked []relabel.WalkedDraw
		taken, permutation := map[string]bool{}, 1
		for range rapid.IntRange(1, 12).Draw(t, "iterations") {
			n := rapid.IntRange(1, len(pool)).Draw(t, "n")
			drawn, walk := schedule.WalkTasks(seed, relabel.Collect, walked, pool, n)
			mixed := slices.Clone(pool)
			slices.Reverse(mixed)
			if again, _ := schedule.WalkTasks(seed, relabel.Collect, walked, mixed, n); !slices.Equal(idsOf(again), idsOf(drawn)) {
				t.Fatalf("%v, then %v", idsOf(drawn), idsOf(again))
			}
			ids := idsOf(drawn)
			if len(ids) != n || !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != n {
				t.Fatalf("%d tasks: %v", n, ids)
			}
			next := map[string]bool{}
			for _, id := range ids {
				if taken[id] {
					next[id] = true
				}
				taken[id] = true
			}
			if walk.Restarted != (len(next) > 0) {
				t.Fatalf("%+v repeats %v", walk, next)
			}
			if walk.Restarted {
				if len(taken) != len(pool) {
					t.Fatalf("permutation %d began after %d of %d tasks", walk.Permutation, len(taken), len(pool))
				}
				taken, permutation = next, permutation+1
			}
			if walk.Permutation != permutation || walk.Drawn != len(taken) || walk.Of != len(pool) {
				t.Fatalf("%+v with %d tasks of permutation %d drawn", walk, len(taken), permutation)
			}
			walked = append(walked, relabel.WalkedDraw{Walk: walk, Instances: ids})
		}
	})
}

// The golden draw pins the permutations: see TestDrawsAreTheSameOnAnyMachine.
func TestPermutationsAreTheSameOnAnyMachine(t *testing.T) {
	pool := tasksOf(7, 0)
	var walked []relabel.WalkedDraw
	got := ""
	for range 4 {
		drawn, walk := schedule.WalkTasks(42, relabel.Collect, walked, pool, 3)
		got += fmt.Sprintln(idsOf(drawn), walk.Text())
		walked = append(walked, relabel.WalkedDraw{Walk: walk, Instances: idsOf(drawn)})
	}
	if got != goldenWalk {
		t.Errorf("got\n%swant\n%s", got, goldenWalk)
	}
}

func TestSamplesWalkAnotherPermutationThanCollections(t *testing.T) {
	pool := tasksOf(20, 0)
	collected, _ := schedule.WalkTasks(5, relabel.Collect, nil, pool, 10)
	sampled, walk := schedule.WalkTasks(5, relabel.Sample, nil, pool, 10)
	if slices.Equal(idsOf(sampled), idsOf(collected)) {
		t.Errorf("both draw %v", idsOf(sampled))
	}
	rest, _ := schedule.WalkTasks(5, relabel.Sample, []relabel.WalkedDraw{{Walk: walk, Instances: idsOf(sampled)}}, pool, 10)
	if all := append(idsOf(rest), idsOf(sampled)...); len(slices.Compact(slices.Sorted(slices.Values(all)))) != 20 {
		t.Errorf("samples draw %v of 20 tasks", all)
	}
}

func TestTheFifthRoundOfThePaperBeginsANewPermutation(t *testing.T) {
	run := runOf(relabel.DAgger)
	run.Draw = relabel.DrawPermutation
	tasks := tasksOf(2438, 100)
	ask := collect()
	ask.Tasks = 512
	for i := 1; i <= 5; i++ { // 5 · 512 = 2560
		p := plan(t, run, i, ask, tasks)
		walk := p.Iteration.Walk
		want := relabel.Walk{Permutation: 1, Drawn: 512 * i, Of: 2338}
		if i == 5 {
			want = relabel.Walk{Permutation: 2, Restarted: true, Drawn: 222, Of: 2338}
		}
		if walk == nil || *walk != want || len(p.Trajectories) != 512 {
			t.Fatalf("round %d: %+v", i, walk)
		}
		var ids []string
		for _, tr := range p.Trajectories {
			ids = append(ids, tr.InstanceID)
		}
		ask.Walked = append(ask.Walked, relabel.WalkedDraw{Walk: *walk, Instances: ids})
	}
	named := collect()
	named.Instances = ask.Walked[0].Instances[:1]
	if p := plan(t, run, 6, named, tasks); p.Iteration.Walk != nil {
		t.Errorf("named tasks are on a walk: %+v", p.Iteration.Walk)
	}
	if p := plan(t, runOf(relabel.DAgger), 1, collect(), tasks); p.Iteration.Walk != nil {
		t.Errorf("a run that draws anew walks: %+v", p.Iteration.Walk)
	}
}

package shard

import (
	"fmt"
	"slices"
	"testing"

	"relabel"
	"relabel/store/storetest"
	"relabel/trainers"
)

// TestAMixForATrainerIsTheSameOnAnyNumberOfWorkers: rows of two runs in Postgres, which have different texts.
func TestAMixForATrainerIsTheSameOnAnyNumberOfWorkers(t *testing.T) {
	t.Parallel()
	folder, student := testStudent(t)
	s := storetest.New(t)
	say := func(task, turn int) string { return fmt.Sprintf("word %d %d", task, turn) }
	a, b := mixRun(t, s, "a", 4, 0.5, say), mixRun(t, s, "b", 3, 0.25, func(task, turn int) string { return "other " + say(task, turn) })
	of := func(d storetest.Seeded) relabel.ExportSelection {
		return relabel.ExportSelection{RunID: d.Run.ID, Iteration: 1, Submitted: true}
	}
	for _, name := range []string{"llama-factory", "ms-swift", "openrlhf", "nemo-rl", "trl"} {
		form, err := trainers.Resolve(relabel.ExportForm{For: name, Views: []relabel.View{relabel.ViewMessages}, Tokenizer: folder, Capacity: 4096})
		must(t, err)
		e := relabel.Export{State: relabel.ExportQueued, Selection: of(a), Form: form, Mix: &relabel.Mix{Sources: []relabel.MixSource{{Selection: of(b)}}}}
		one, m := buildMix(t, s, e, 1)
		three, _ := buildMix(t, s, e, 3)
		if first, second := contentsOf(t, one), contentsOf(t, three); !slices.Equal(first, second) {
			t.Errorf("%s: one worker wrote %v, three wrote %v", name, first, second)
		}
		if m.For == nil || m.For.Trainer != name || m.States != 21 {
			t.Errorf("%s: %d states, %+v", name, m.States, m.For)
		}
		for _, p := range check(t, one, student).Problems {
			t.Errorf("%s: %s", name, p)
		}
	}
}

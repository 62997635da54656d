package store_test

import (
	"context"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

// BenchmarkRecordCall keeps calls, one after the other: each is on the critical path of
// its turn. The baseline is a bare row.
func BenchmarkRecordCall(b *testing.B) {
	s := storetest.New(b)
	d := storetest.Seed(b, s, 1)
	c := storetest.Claim(b, s, d.Trajectories[0].ID, "w")
	exec(b, s, "CREATE TABLE bare (v text)")
	b.Run("bare row", func(b *testing.B) {
		for range b.N {
			exec(b, s, "INSERT INTO bare VALUES ('x')")
		}
	})
	b.Run("call", func(b *testing.B) {
		for range b.N {
			must(b, s.RecordCall(context.Background(), relabel.Call{PolicyID: d.Teacher.ID, TrajectoryID: &c.TrajectoryID, Attempt: 1, T: 1,
				Purpose: relabel.PurposeAct, Status: 200, Usage: &relabel.Usage{PromptTokens: 20000, CompletionTokens: 150}, Model: "m"}))
		}
	})
}

package cli

import (
	"strings"
	"testing"

	"relabel"
)

func TestARunWithoutScoresSaysWhy(t *testing.T) {
	sum := relabel.ScoreProgress{Scorings: map[relabel.ScoringState]int{}}
	for _, p := range []relabel.ScoreProgress{
		{Missing: 3, Reasons: []relabel.ReasonCount{{Reason: "no ids", Count: 2}, {Reason: "too long", Count: 1}}},
		{Missing: 4, Reasons: []relabel.ReasonCount{{Reason: "too long", Count: 4}}},
	} {
		sum.Add(p)
	}
	if err := scoredAll(sum); err == nil || !strings.HasSuffix(err.Error(), "no turn has a score: 5 x too long; 2 x no ids") {
		t.Errorf("%v", err)
	}
}

package shard

import (
	"testing"

	"relabel"
)

// A hint names an option that an export of the recipe accepts.
func TestHintsNameOptionsThatTheRecipeAccepts(t *testing.T) {
	const (
		mixed     = ` (to include them: --no-mixed-rewards; REST: "mixed_rewards": false)`
		verify    = " (to include them: run verify; REST: POST /v1/runs/{id}/verify)"
		benchmark = ` (to include them: --allow-benchmark verified; REST: "allow_benchmarks": ["verified"])`
		policy    = ` (to include them: --label-policy POLICY; REST: "label_policy": "POLICY")`
	)
	for reason, want := range map[Reason]map[relabel.Recipe]string{
		EqualRewards:    {relabel.DAgger: mixed, relabel.GRPO: ""},
		GroupTooSmall:   {relabel.DAgger: mixed, relabel.GRPO: ""},
		LabelMissing:    {relabel.DAgger: policy, relabel.OPD: "", relabel.GRPO: ""},
		NoReward:        {relabel.DAgger: verify, relabel.GRPO: verify},
		NotVerified:     {relabel.SFT: verify, relabel.GRPO: verify},
		VerdictOutdated: {relabel.SFT: verify},
		Reason(relabel.BenchmarkReason("verified")): {relabel.DAgger: benchmark, relabel.GRPO: benchmark},
	} {
		for recipe, text := range want {
			if got := reasonsText(relabel.Run{Recipe: recipe}, map[string]int{string(reason): 3}); got != "3 × "+string(reason)+text {
				t.Errorf("%s, %s: %s", recipe, reason, got)
			}
		}
	}
}

// What an answer to localise lacks is not graded again.
func TestHintsForAnswersToLocaliseNameNoVerification(t *testing.T) {
	run := relabel.Run{Recipe: relabel.SFT, TaskKind: relabel.Localise}
	for reason, want := range map[Reason]string{
		NotVerified: "1 × not_verified",
		NoReward:    "1 × no_reward",
		NoHit:       `1 × no_hit (to include them: --no-hit; REST: "hit": false)`,
		ScoreTooLow: `1 × score_too_low (to include them: a smaller --min-score; REST: "min_score")`,
	} {
		if got := reasonsText(run, map[string]int{string(reason): 1}); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

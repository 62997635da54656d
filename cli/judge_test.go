package cli

import (
	"testing"

	"relabel"
)

func TestJudgementsWithAnOlderPromptDoNotMakeAJudgingSucceed(t *testing.T) {
	judge, other := relabel.NewID(), relabel.NewID()
	of := func(policy relabel.ID, prompt string, state relabel.JudgingState, outcome relabel.JudgeOutcome) relabel.JudgeProgress {
		return relabel.JudgeProgress{PolicyID: policy, Prompt: prompt, Judgings: map[relabel.JudgingState]int{state: 2}, Outcomes: map[relabel.JudgeOutcome]int{outcome: 2}}
	}
	all := []relabel.JudgeProgress{
		of(judge, "old", relabel.JudgingDone, relabel.Judged),
		of(judge, "old", relabel.JudgingFailed, relabel.JudgeMissing),
		of(other, "new", relabel.JudgingDone, relabel.Judged),
		of(judge, "new", relabel.JudgingDone, relabel.JudgeInvalid),
	}
	sum := judgedBy(all, judge, "new")
	if sum.Judgings[relabel.JudgingDone] != 2 || sum.Outcomes[relabel.JudgeInvalid] != 2 || sum.Judgings[relabel.JudgingFailed] != 0 {
		t.Errorf("%+v", sum)
	}
	if err := judgedAll(sum); relabel.CodeOf(err) != relabel.CodeUnavailable {
		t.Errorf("%v", err)
	}
	if err := judgedAll(judgedBy(append(all, of(judge, "new", relabel.JudgingDone, relabel.Judged)), judge, "new")); err != nil {
		t.Error(err)
	}
}

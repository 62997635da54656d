package cli

import (
	"net/url"
	"strings"
	"testing"

	"relabel"
	"relabel/api/client"
)

func TestJudgementsWithAnOlderPromptDoNotMakeAJudgingSucceed(t *testing.T) {
	judge, other := relabel.NewID(), relabel.NewID()
	of := func(policy relabel.ID, prompt string, state relabel.JudgingState, outcome relabel.JudgeOutcome) relabel.JudgeProgress {
		return relabel.JudgeProgress{Reasons: []relabel.ReasonCount{{Reason: prompt + " gave no mode", Count: 2}}, PolicyID: policy, Prompt: prompt, Judgings: map[relabel.JudgingState]int{state: 2}, Outcomes: map[relabel.JudgeOutcome]int{outcome: 2}}
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
	if err := judgedAll(sum); relabel.CodeOf(err) != relabel.CodeUnavailable || !strings.HasSuffix(err.Error(), ": 2 x new gave no mode") {
		t.Errorf("%v", err)
	}
	if err := judgedAll(judgedBy(append(all, of(judge, "new", relabel.JudgingDone, relabel.Judged)), judge, "new")); err != nil {
		t.Error(err)
	}
}

// parseJudge parses the flags of `relabel run judge`.
func parseJudge(t *testing.T, flags ...string) (runJudge, error) {
	t.Helper()
	var c testCommands
	_, err := parserOf(t, &c).Parse(append([]string{"judge", "run", "--policy", "judge"}, flags...))
	return c.Judge, err
}

func TestJudgingWatchesItsOwnSelection(t *testing.T) {
	c, err := parseJudge(t, "--iteration", "2", "--mode", "loop", "--mode", "other", "--sample", "5", "--seed", "7", "--hide-gold")
	if err != nil {
		t.Fatal(err)
	}
	want := url.Values{"iteration": {"2"}, "modes": {"loop,other"}, "sample": {"5"}, "seed": {"7"}}.Encode()
	if got := client.Values(c.progressQuery()).Encode(); got != want {
		t.Errorf("it asks for %s, not %s", got, want)
	}
}

func TestACancelledJudgingTakesNoSelection(t *testing.T) {
	if _, err := parseJudge(t, "--cancel", "--iteration", "2"); err != nil {
		t.Error(err)
	}
	for _, flags := range [][]string{{"--mode", "loop"}, {"--sample", "3"}, {"--seed", "3"}, {"--hide-gold"}, {"--priority", "3"}} {
		if _, err := parseJudge(t, append(flags, "--cancel")...); err == nil || !strings.Contains(err.Error(), "cancels all judgings") {
			t.Errorf("%v: %v", flags, err)
		}
	}
}

package relabel

import "fmt"

// AssessRewards says whether a task in a terminal is sound, from the verdicts on its container after its solution ran
// and as it is. times is how many of each were requested, verifySeconds their time limit.
func AssessRewards(task Task, times, verifySeconds int, gold, empty []Verdict) Validation {
	v := Validation{TaskID: task.ID, InstanceID: task.InstanceID, Times: times, VerifySeconds: verifySeconds}
	for i, verdict := range gold {
		v.Runs = append(v.Runs, rewardRun(GoldPatch, i+1, verdict))
	}
	for i, verdict := range empty {
		v.Runs = append(v.Runs, rewardRun(EmptyPatch, i+1, verdict))
	}
	v.Reason, v.Problem = rewardProblem(task, v, gold)
	v.State = v.Reason.state()
	return v
}

func rewardRun(patch ValidatedPatch, number int, verdict Verdict) ValidationRun {
	r := runOf(Task{}, patch, number, verdict)
	r.Steady = r.Passed
	return r
}

// rewardProblem tells what is wrong with a task in a terminal; "" if it is sound.
func rewardProblem(task Task, v Validation, gold []Verdict) (ProblemReason, string) {
	if task.Terminal == nil || task.Terminal.Solution.Bytes == 0 {
		return ProblemNoGold, "it has no solution"
	}
	for i, r := range v.Of(GoldPatch) {
		if reason, problem := brokenReward(v, r, "with its solution"); reason != "" {
			return reason, problem
		}
		if r.Passed != gold[0].Passed {
			return ProblemFlakyReward, fmt.Sprintf("its solution has reward 1 in some runs only (%s)", v.Passes(GoldPatch))
		}
		if !r.Passed {
			return ProblemGold, "its solution does not have reward 1: " + rewardWords(gold[i])
		}
	}
	for _, r := range v.Of(EmptyPatch) {
		if reason, problem := brokenReward(v, r, "without its solution"); reason == ProblemInfra || reason == ProblemNotRun {
			return reason, problem
		}
		if r.Passed {
			return ProblemWithoutPatch, "it has reward 1 without any work"
		}
	}
	return "", ""
}

// brokenReward tells why a run did not end; "" if it did.
func brokenReward(v Validation, r ValidationRun, with string) (ProblemReason, string) {
	switch {
	case r.Infra != "" && r.LogBytes > 0:
		return ProblemNotRun, with + ": " + r.Infra
	case r.Infra != "":
		return ProblemInfra, with + ": " + r.Infra
	case r.Reason == VerdictTimedOut:
		return ProblemTimeout, fmt.Sprintf("%s the tests did not end within their limit of %d seconds (run %d of %d)", with, v.VerifySeconds, r.Number, v.Times)
	}
	return "", ""
}

func rewardWords(v Verdict) string {
	if v.Score == nil {
		return string(v.Reason)
	}
	return fmt.Sprintf("%v (%s)", *v.Score, v.Reason)
}

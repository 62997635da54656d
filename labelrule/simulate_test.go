package labelrule_test

import (
	"math"
	"testing"

	"relabel"
	"relabel/labelrule"
	"relabel/stats"
)

// stored is a run of one iteration with two trajectories, of tasks a and b. Student states and their
// labels: a2 differs, a3 agrees after a failure, a4 is missing; b1 differs, b2 agrees after a failure,
// b3 differs after a failure. The teacher acts in a1 and b4.
func stored(recipe relabel.Recipe) labelrule.Stored {
	yes, no := true, false
	use := func(prompt, completion int) *relabel.Usage {
		return &relabel.Usage{PromptTokens: prompt, CompletionTokens: completion}
	}
	u := func(x float64) *float64 { return &x }
	it := relabel.Iteration{ID: relabel.NewID(), Number: 1, Kind: relabel.Collect}
	return labelrule.Stored{
		Run:          relabel.Run{ID: relabel.NewID(), Seed: 3, Recipe: recipe},
		TeacherPrice: &relabel.Price{Input: 2, Output: 10},
		Iterations:   []relabel.Iteration{it, {ID: relabel.NewID(), Number: 1, Kind: relabel.Evaluate}},
		Trajectories: []relabel.LabelledTrajectory{
			{IterationID: it.ID, TaskID: relabel.NewID(), InstanceID: "a", Executors: "TsssTT", States: []relabel.LabelledState{
				{Status: relabel.Received, Usage: use(100, 10)},
				{Status: relabel.Received, Agrees: &no, Usage: use(200, 20), Uncertainty: u(0.2)},
				{Status: relabel.Received, Agrees: &yes, Usage: use(300, 30), AfterFailure: true, Uncertainty: u(0.9)},
				{Status: relabel.Missing, Uncertainty: u(0.1)},
			}},
			{IterationID: it.ID, TaskID: relabel.NewID(), InstanceID: "b", Executors: "sssTTT", States: []relabel.LabelledState{
				{Status: relabel.Received, Agrees: &no, Usage: use(1000, 1), Uncertainty: u(1.5)},
				{Status: relabel.Received, Agrees: &yes, Usage: use(1100, 2), AfterFailure: true},
				{Status: relabel.Received, Agrees: &no, Usage: use(1200, 3), AfterFailure: true, Uncertainty: u(0.4)},
				{Status: relabel.Received, Usage: use(1300, 4)},
			}},
		},
	}
}

func simulate(t *testing.T, in labelrule.Stored, texts ...relabel.LabelRule) []relabel.SimulatedRule {
	t.Helper()
	var rules []labelrule.Rule
	for _, text := range texts {
		rules = append(rules, rule(t, text))
	}
	out, err := labelrule.Simulate(in, rules)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range out.Rules {
		if len(r.Iterations) != 1 || r.Iterations[0].Selected != r.Total.Selected || r.Iterations[0].Labels != r.Total.Labels {
			t.Errorf("%s: the only iteration is not the total: %+v", r.Rule, r)
		}
	}
	return out.Rules
}

func near(t *testing.T, what string, got *float64, want float64) {
	t.Helper()
	if got == nil || math.Abs(*got-want) > 1e-12 {
		t.Errorf("%s is %v, not %v", what, got, want)
	}
}

func TestTheFiguresOfARuleAreThoseByHand(t *testing.T) {
	rules := simulate(t, stored(relabel.DAgger), "all", "after_failure", "uncertain:0.5")
	all, failure, uncertain := rules[0].Total, rules[1].Total, rules[2].Total
	if all.Trajectories != 2 || all.TeacherStates != 2 || all.StudentStates != 6 || all.Selected != 6 || all.Expected != 6 || all.Saved.Calls != 0 ||
		all.Labels != (relabel.LabelCount{All: 7, Kept: 7}) || all.MissingLabels != (relabel.LabelCount{All: 1, Kept: 1}) || all.WithoutUsage != 1 {
		t.Errorf("all: %+v", all)
	}
	near(t, "the rate", all.Rate, 0.6)
	near(t, "the error of all", all.Error, 0)
	// 5200 tokens of prompts at 2 and 70 of answers at 10, in millionths.
	if all.All.Calls != 8 || all.All.Tokens != 5270 || all.Weight != 7 || all.Effective != 7 {
		t.Errorf("all: %+v", all)
	}
	near(t, "the cost", all.All.Cost, 0.0111)

	// a3, b2 and b3 are selected. The calls at a2, a4 and b1 are saved.
	if failure.Selected != 3 || failure.Expected != 3 || failure.Labels.Kept != 5 || failure.MissingLabels.Kept != 0 ||
		failure.Saved.Calls != 3 || failure.Saved.Tokens != 1221 || failure.Effective != 5 {
		t.Errorf("after_failure: %+v", failure)
	}
	near(t, "the saved cost", failure.Saved.Cost, 0.00261)
	near(t, "the estimate", failure.Estimate, 1.0/3)
	near(t, "the error", failure.Error, 1.0/3-0.6)
	wilson := stats.Wilson(1, 3)
	if r := failure.Recall; r.Count != 1 || r.Of != 3 {
		t.Errorf("recall: %+v", r)
	}
	if p := failure.Precision; p.Count != 1 || p.Of != 3 || *p.Low >= *p.Share || *p.Low == wilson.Low {
		t.Errorf("precision, which is clustered by task: %+v", p)
	}

	// a3 and b1 are uncertain, b2 has no log-probabilities.
	if uncertain.Selected != 3 || uncertain.Unknown != 1 || uncertain.Recall.Count != 1 || uncertain.Precision.Of != 3 || rules[2].Unbiased {
		t.Errorf("uncertain: %+v", uncertain)
	}
}

func TestWeightsOfASimulationAreInverseChances(t *testing.T) {
	in := stored(relabel.DAgger)
	for seed := range int64(50) {
		in.Run.Seed = seed
		got := simulate(t, in, "after_failure+0.5")[0].Total
		// a3, b2 and b3 weigh 1, as the teacher's two states; those of a2 and b1 that are drawn weigh 2.
		drawn := float64(got.Labels.Kept - 5)
		if got.Expected != 4.5 || got.Weight != 5+2*drawn || math.Abs(got.Effective-(5+2*drawn)*(5+2*drawn)/(5+4*drawn)) > 1e-12 {
			t.Fatalf("seed %d: %+v", seed, got)
		}
		near(t, "the estimate", got.Estimate, (1+2*drawn)/(3+2*drawn))
	}
}

func TestShortContinuationsSaveTheTeachersLaterTurns(t *testing.T) {
	in := stored(relabel.AggreVaTe)
	in.Trajectories[0].Executors, in.Trajectories[1].Executors = "sTTTTT", "sssTTT"
	for i := range in.Trajectories[0].States {
		in.Trajectories[0].States[i].Agrees = nil
	}
	got := simulate(t, in, "teacher_turns:2")[0].Total
	if got.Saved.Calls != 1 || got.Labels != (relabel.LabelCount{All: 7, Kept: 7}) || got.MissingLabels.Kept != 0 || got.Selected != 4 {
		t.Errorf("%+v", got)
	}
	_, err := labelrule.Simulate(stored(relabel.DAgger), []labelrule.Rule{rule(t, "teacher_turns:2")})
	if relabel.CodeOf(err) != relabel.CodeInvalid {
		t.Errorf("of a dagger run: %v", err)
	}
}

func TestUncertaintyWithoutLogprobsIsRefused(t *testing.T) {
	in := stored(relabel.DAgger)
	out, err := labelrule.Simulate(in, []labelrule.Rule{rule(t, "uncertain:1")})
	if err != nil {
		t.Fatal(err)
	}
	if u := out.Uncertainty; len(u) != 1 || u[0].Known != 5 || u[0].Unknown != 1 || u[0].Quantiles[2] != (relabel.Quantile{At: 0.5, Value: 0.4}) || u[0].Quantiles[4].Value != 1.5 {
		t.Errorf("uncertainty: %+v", u)
	}
	for _, tr := range in.Trajectories {
		for i := range tr.States {
			tr.States[i].Uncertainty = nil
		}
	}
	if _, err := labelrule.Simulate(in, []labelrule.Rule{rule(t, "all"), rule(t, "uncertain:1+0.1")}); relabel.CodeOf(err) != relabel.CodeInvalid {
		t.Errorf("without log-probabilities: %v", err)
	}
}

func TestStatesThatWereNotAskedAreCountedApart(t *testing.T) {
	in := stored(relabel.DAgger)
	in.Trajectories[1].States[2] = relabel.LabelledState{Status: relabel.NotSelected, AfterFailure: true}
	in.Trajectories[0].Cut = true
	got := simulate(t, in, "after_failure")[0].Total
	if got.Cut != 1 || got.NotAsked != 1 || got.StudentStates != 6 || got.Selected != 2 || got.All.Calls != 7 || got.Recall.Of != 2 {
		t.Errorf("%+v", got)
	}
}

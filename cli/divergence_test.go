package cli

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/evaluation"
)

// divergent is a report of a run whose sample has a negative k1, and of one whose evaluation is greedy and
// compared with another policy than its teacher.
func divergent() relabel.DivergenceReport {
	interval := func(mean, low, high float64) relabel.Mean { return relabel.Mean{Mean: mean, Low: &low, High: &high} }
	estimate := &relabel.KLEstimate{K1: interval(-0.0123, -0.5, 0.25), K3: interval(0.1931, 0.18, 0.21)}
	sample := relabel.Divergence{IterationID: relabel.NewID(), Kind: relabel.Sample, Number: 3, Round: 2, BenchmarkID: new(relabel.NewID()), Benchmark: "held",
		Student: "student@2", Trajectories: 2, Turns: 9, Unscored: 1, Tokens: 40, Impossible: 3, TopTokens: 7, ByToken: estimate, ByTrajectory: estimate,
		Agreement: &relabel.LabelAgreement{Compared: 4, Agreed: 3, LabelRule: "every:3", Tools: []relabel.ToolAgreement{{Tool: "bash", Compared: 3, Agreed: 3}, {Compared: 1}, {Rest: true}}}}
	greedy := relabel.Divergence{IterationID: relabel.NewID(), Kind: relabel.Evaluate, Number: 1, Round: 1, Student: "student@1", Tokens: 5, TopTokens: 5, Greedy: true, Top: &relabel.Mean{Mean: 0.5}}
	return relabel.DivergenceReport{Runs: []relabel.RunDivergence{{RunID: relabel.NewID(), Run: "one", Recipe: relabel.DAgger, Teacher: "teacher@1", Items: []relabel.Divergence{sample}},
		{RunID: relabel.NewID(), Run: "two", Recipe: relabel.SFT, Teacher: "other@1", Items: []relabel.Divergence{greedy}}}}
}

func TestTheTableOfDivergenceHasIntervals(t *testing.T) {
	var b strings.Builder
	noError(t, divergenceTable(divergent()).write(&b))
	noError(t, toolTable(divergent()).write(&b))
	lines := strings.Split(b.String(), "\n")
	for line, want := range map[int][]string{0: {"K3 BY TRAJECTORY", "TOP-K BOUND"}, 1: {"one", "sample 3", "held", "student@2", "0.1931 [0.1800, 0.2100]", "-0.0123 [-0.5000, 0.2500]", "3 of 4, asked by every:3"},
		2: {"two", "evaluate 1", "greedy", "0.5000"}, 4: {"one", "sample 3", "bash", "100%"}, 5: {"no call", "0%"}, 6: {"rare tools"}, 7: {""}} {
		if missing := slices.DeleteFunc(want, func(text string) bool { return strings.Contains(lines[line], text) }); len(missing) > 0 {
			t.Errorf("line %d lacks %q: %s", line, missing, lines[line])
		}
	}
}

// Spreadsheets read a negative number in CSV as a number.
func TestTheCSVOfDivergenceHasAllFigures(t *testing.T) {
	report := divergent()
	read := func(heads []string, rows [][]any) []map[string]string {
		t.Helper()
		var b strings.Builder
		noError(t, evaluation.WriteCSV(&b, heads, rows))
		return recordsOf(t, b.String())
	}
	got := read(evaluation.DivergenceTable(report))
	sample := report.Runs[0].Items[0]
	for name, want := range map[string]string{"run": "one", "recipe": "dagger", "kind": "sample", "number": "3", "round": "2", "iteration_id": sample.IterationID.String(),
		"benchmark_id": sample.BenchmarkID.String(), "benchmark": "held", "student": "student@2", "teacher": "teacher@1", "unscored": "1", "impossible": "3", "top_tokens": "7",
		"k1": "-0.0123", "k1_low": "-0.5", "k1_high": "0.25", "k3": "0.1931", "k1_by_trajectory": "-0.0123", "top": "", "top_low": "", "compared": "4", "agreed": "3", "greedy": "false"} {
		if got[0][name] != want {
			t.Errorf("%s is %q, not %q", name, got[0][name], want)
		}
	}
	for name, want := range map[string]string{"greedy": "true", "k1": "", "k3": "", "top": "0.5", "top_high": "", "compared": "", "agreed": ""} {
		if got[1][name] != want {
			t.Errorf("of the evaluation, %s is %q, not %q", name, got[1][name], want)
		}
	}
	if tools := read(evaluation.DivergenceTools(report)); len(tools) != 3 || tools[0]["tool"] != "bash" || tools[1]["tool"] != "no call" || tools[2]["tool"] != "rare tools" {
		t.Errorf("the tools are %v", tools)
	}
}

// recordsOf are the lines of CSV by their heads.
func recordsOf(t *testing.T, text string) (records []map[string]string) {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	noError(t, err)
	for _, line := range lines[1:] {
		record := map[string]string{}
		for i, head := range lines[0] {
			record[head] = line[i]
		}
		records = append(records, record)
	}
	return records
}

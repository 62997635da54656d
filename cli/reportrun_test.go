package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"relabel"
)

func TestADifferenceOfOneTaskHasNoInterval(t *testing.T) {
	c := relabel.Comparison{Tasks: 1, Better: 1, Difference: new(1.0), P: new(1.0)}
	if text := differenceText(c); text != "+100.0 points (no interval) over 1 tasks, better at 1, worse at 0, exact McNemar p = 1" {
		t.Error(text)
	}
}

func TestTheTableOfAReportHasIntervalsAndPassAtK(t *testing.T) {
	share := relabel.Proportion{Count: 3, Of: 8, Share: new(0.375), Low: new(0.1), High: new(0.7), Interval: relabel.IntervalClustered}
	results := relabel.Results{Kind: relabel.Sample, Number: 2, Student: "student@3", Tasks: 4, Unverified: 5, Submitted: share, Resolved: share,
		PassAtK: []relabel.PassAtK{{K: 1, Value: new(0.375), Tasks: 4}, {K: 2, Tasks: 0, Short: 4}}}
	evaluation := relabel.Results{Kind: relabel.Evaluate, Number: 1, Student: "student@2", BenchmarkID: relabel.NewID(), Benchmark: "verified"}
	measured := relabel.Results{Kind: relabel.Sample, Number: 3, Student: "student@3", BenchmarkID: relabel.NewID()}
	var b strings.Builder
	noError(t, evaluationTable(relabel.EvaluationReport{Evaluations: []relabel.Results{evaluation}, Samples: []relabel.Results{results, measured}}).write(&b))
	lines := strings.Split(b.String(), "\n")
	for line, want := range map[int][]string{0: {"PASS@K", "INTERVAL", "NOT VERIFIED"}, 1: {"evaluate 1", "verified", "student@2", "0 of 0"},
		2: {"sample 2    –  ", "student@3", "3 of 8, 37.5% [10.0, 70.0]", "clustered", "@1 0.375, @2 – (without 4 tasks)"}, 3: {"sample 3", measured.BenchmarkID.String()}} {
		if missing := slices.DeleteFunc(want, func(text string) bool { return strings.Contains(lines[line], text) }); len(missing) > 0 {
			t.Errorf("line %d lacks %q: %s", line, missing, lines[line])
		}
	}
}

func TestHintsAreCountedBesideResults(t *testing.T) {
	text := relabel.HintSource{Run: "finder", Evaluation: 2, Top: 5, Instances: 9, Answers: 8, Tasks: 7}.Text()
	if text != "hints: the first 5 entries of evaluation 2 of finder, which has answers for 8 of 9 instances; 7 tasks of this task set have hints" {
		t.Error(text)
	}
	if text := (relabel.Results{Tasks: 3, Hinted: 2, HintsFrom: "finder"}).HintedText(); text != "2 of 3 tasks have hints, located by finder" {
		t.Error(text)
	}
	c := runCreate{}
	parser, err := kong.New(&c, kong.Vars{"data": ""}, RequestFlags(), kong.Bind(ServeLocal(nil)))
	noError(t, err)
	_, err = parser.Parse([]string{"hinted", "--taskset", "bugs", "--hints-from", "finder", "--hints-evaluation", "2", "--hints-top", "3"})
	noError(t, err)
	if c.HintsFrom != "finder" || c.HintsEvaluation != 2 || c.HintsTop != 3 {
		t.Errorf("%+v", c.NewRun)
	}
}

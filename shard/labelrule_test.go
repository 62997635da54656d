package shard

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/shard/shardtest"
)

// ruledTrajectory is one of six turns. The label rule asked the teacher at turns 2 and 6 of the student
// with the given chance, and not at turn 4.
func ruledTrajectory(rule relabel.LabelRule, chance float64) relabel.ExportTrajectory {
	tr, none := someTrajectory(1, 0, 6), 0.0
	tr.Iteration.LabelRule = rule
	tr.Task.ProblemStatement = "It fails."
	if chance < 1 {
		tr.Turns[1].LabelChance, tr.Turns[5].LabelChance, none = &chance, &chance, chance
	}
	tr.Turns[3].Label, tr.Turns[3].LabelChance = &relabel.Action{PolicyID: tr.Teacher.ID, Status: relabel.NotSelected}, &none
	return tr
}

// weightsOf are the token weights of a trajectory's exported labels by turn.
func weightsOf(t *testing.T, tr relabel.ExportTrajectory, n relabel.Normalisation) (relabel.Export, map[int32]float32) {
	t.Helper()
	s := newFixedStore(tr)
	s.export.Form = relabel.ExportForm{Views: relabel.Views, Tokenizer: shardtest.Student(t), Capacity: 20_000, MaxLength: 20_000, Normalisation: n}
	e := export(t, s, newTestExporter(t, s))
	weights := map[int32]float32{}
	for _, row := range readRows[linearRow](t, filepath.Join(e.Directory, "linear", "00000.parquet")) {
		for _, span := range row.Spans {
			weights[span.Turn] = *span.Weight
		}
	}
	return e, weights
}

func TestLabelsWeighTheInverseOfTheirChance(t *testing.T) {
	e, weights := weightsOf(t, ruledTrajectory("every:4", 0.25), relabel.PerToken)
	m := readManifest(t, e.Directory)
	if want := map[int32]float32{1: 1, 2: 4, 3: 1, 5: 1, 6: 4}; !maps.Equal(weights, want) {
		t.Errorf("weights %v", weights)
	}
	if m.States != 5 || !maps.Equal(m.Excluded, map[string]int{"label_not_selected": 1}) {
		t.Errorf("%d states, excluded %v", m.States, m.Excluded)
	}
	if !slices.Equal(m.LabelRules, []relabel.ManifestRule{{Rule: "every:4", Unbiased: true}}) {
		t.Errorf("rules %v", m.LabelRules)
	}
	if text := filesBelow(t, e.Directory)[readmeName]; !strings.Contains(text, "- iteration 1, `every:4`: a label weighs w = 1 ÷ p") || strings.Contains(text, "as for teachers' labels here") {
		t.Errorf("the README says\n%s", text)
	}
}

func TestLabelsOfABiasedRuleWeighOne(t *testing.T) {
	e, weights := weightsOf(t, ruledTrajectory("after_failure", 1), relabel.PerToken)
	m := readManifest(t, e.Directory)
	if want := map[int32]float32{1: 1, 2: 1, 3: 1, 5: 1, 6: 1}; !maps.Equal(weights, want) || !slices.Equal(m.LabelRules, []relabel.ManifestRule{{Rule: "after_failure"}}) {
		t.Errorf("weights %v, rules %v", weights, m.LabelRules)
	}
	if text := filesBelow(t, e.Directory)[readmeName]; !strings.Contains(text, "- iteration 1, `after_failure`: labels weigh 1, and sums over them are **biased**") {
		t.Errorf("the README says\n%s", text)
	}
}

func TestAnExportSaysThatTheRuleEndedRollouts(t *testing.T) {
	e, _ := weightsOf(t, ruledTrajectory("teacher_turns:3", 1), relabel.PerToken)
	if m := readManifest(t, e.Directory); !slices.Equal(m.LabelRules, []relabel.ManifestRule{{Rule: "teacher_turns:3"}}) {
		t.Errorf("rules %v", m.LabelRules)
	}
	if text := filesBelow(t, e.Directory)[readmeName]; !strings.Contains(text, "- iteration 1, `teacher_turns:3`: rollouts ended after that many turns of the teacher") {
		t.Errorf("the README says\n%s", text)
	}
}

func TestRowsWithoutWeightsAreRefusedIfTheRuleGivesSome(t *testing.T) {
	for rule, chance := range map[relabel.LabelRule]float64{"every:4": 0.25, "after_failure": 1} {
		s := newFixedStore(ruledTrajectory(rule, chance))
		err := run(t.Context(), s, newTestExporter(t, s))
		if refused := relabel.CodeOf(err) == relabel.CodeInvalid && strings.Contains(err.Error(), "the view tree"); refused != (chance < 1) {
			t.Errorf("%s: %v", rule, err)
		}
	}
}

func TestVerifyRefusesWeightsOfAnotherRule(t *testing.T) {
	e, _ := weightsOf(t, ruledTrajectory("every:4", 0.25), relabel.PerTransition)
	if r := check(t, e.Directory, nil); !r.Sound() {
		t.Fatal(r.Figure())
	}
	for _, rule := range []relabel.ManifestRule{{Rule: "all", Unbiased: true}, {Rule: "every:3", Unbiased: true}, {Rule: "every:4+0.1", Unbiased: true}, {Rule: "after_failure"}} {
		m := readManifest(t, e.Directory)
		m.LabelRules[0] = rule
		writeJSON(t, filepath.Join(e.Directory, manifestName), m)
		if r := check(t, e.Directory, nil); r.Sound() {
			t.Errorf("%s is accepted", rule.Rule)
		}
	}
}

package web_test

import (
	"strings"
	"testing"

	"relabel"
	"relabel/web/webtest"
)

func TestPagesShowTheChecksOfAStudentsWeights(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.rollout()
	student, err := s.store.FindPolicy(t.Context(), s.iteration.StudentID)
	s.must(err)
	s.must(s.store.AddWeightCheck(t.Context(), relabel.WeightCheck{PolicyID: student.ID, IterationID: &s.iteration.ID, Occasion: relabel.WeightsAtStart, Result: relabel.WeightsDoubted,
		Doubts: []relabel.Doubted{{Doubt: relabel.WeightsDiffer, Text: hostile + " is another", Allowed: true}}}))
	for _, path := range []string{"/iterations/" + s.iteration.ID.String(), "/policies/" + student.ID.String()} {
		p := webtest.Open(t, s.URL+path)
		if text := p.Text("main"); !strings.Contains(text, "different (allowed): ") || !strings.Contains(text, " is another") {
			t.Errorf("%s does not show the doubt: %s", path, text)
		}
	}
	p := webtest.Open(t, s.URL+"/runs/"+s.run.ID.String()+"/start")
	if text := p.Text("main"); !strings.Contains(text, "unchecked") {
		t.Errorf("the start of an iteration offers no doubts to allow: %s", text)
	}
}

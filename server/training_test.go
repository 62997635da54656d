package server_test

import (
	"fmt"
	"testing"

	"relabel"
)

func TestAPolicyKnowsWhatItWasTrainedOn(t *testing.T) {
	s := start(t)
	s.seed()
	n := 512
	run, err := s.store.FindRunByName(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	export := func(change func(*relabel.Export)) string {
		e := relabel.Export{ID: relabel.NewID(), State: relabel.ExportDone, Rows: 9000, Trajectories: &n, Selection: relabel.ExportSelection{RunID: run.ID},
			Files: []relabel.ExportFile{{Path: "manifest.json", SHA256: "abc"}}}
		change(&e)
		s.store.exports = append(s.store.exports, e)
		return e.ID.String()
	}
	first := export(func(*relabel.Export) {})
	open := export(func(e *relabel.Export) { e.State = relabel.ExportRunning })
	earlier := export(func(e *relabel.Export) { e.Trajectories = nil })
	create := func(name, rest string) answerOf {
		return s.post("/v1/policies", `{"name":"`+name+`","base_url":"http://h/v1","model":"m",`+rest+`}`)
	}
	on := func(entries string) string { return `"trained_on":[` + entries + `]` }
	entry := func(id, epochs string) string { return fmt.Sprintf(`{"export":%q,"epochs":%s}`, id, epochs) }
	for _, c := range []struct{ rest, field string }{
		{on(entry(relabel.NewID().String(), "1")), "trained_on[0].export"},
		{on(entry(first, "1") + "," + entry(open, "1")), "trained_on[1].export"},
		{on(entry(earlier, "1")), "trained_on[0].export"},
		{on(entry(first, "1") + "," + entry(first, "2")), "trained_on[1].export"},
		{on(fmt.Sprintf(`{"export":%q}`, first)), "trained_on[0].epochs"}, // the run has no trainer settings
		{on(entry(first, "1")) + `,"trained_from":"nobody"`, "trained_from"},
		{`"trained_from":"student"`, "trained_from"},
		{on(entry(first, "1")) + `,"untrained":true`, "untrained"},
		{`"untrained":true,"trained_from":"student"`, "untrained"},
	} {
		s.refused(create("p", c.rest), 422, relabel.CodeInvalid, c.field)
	}
	s.refused(create("p", on(entry(first, "5e-324"))), 422, relabel.CodeInvalid, "trained_on[0].epochs")
	s.refused(create("p", on(entry(first, "0"))), 422, relabel.CodeInvalid, "trained_on[0].epochs")
	s.refused(create("p", on(entry("x", "1"))), 422, relabel.CodeInvalid, "trained_on[0].export")

	s.want(201, create("base", `"untrained":true`))
	s.want(201, create("one", on(entry(first, "3"))+`,"trained_from":"base"`))
	s.want(201, create("two", on(entry(first, "0.5"))+`,"trained_from":"one"`))
	training := s.want(200, s.get("/v1/policies/two/training"))
	effective := training.field("effective").(map[string]any)
	if effective["trajectories"] != 512*3.5 || effective["states"] != 9000*3.5 || len(training.field("steps").([]any)) != 3 {
		t.Errorf("%s", training.body)
	}
	if unknown := s.want(200, s.get("/v1/policies/student/training")); unknown.field("effective") != nil || unknown.field("unknown") != "student@1" {
		t.Errorf("%s", unknown.body)
	}
	s.refused(s.get("/v1/policies/nobody/training"), 404, relabel.CodeNotFound, "")

	for i := range s.store.runs {
		s.store.runs[i].Trainer = &relabel.Trainer{Epochs: 3}
	}
	made := s.want(201, create("three", on(fmt.Sprintf(`{"export":%q}`, first))))
	if of := made.field("trained_on").([]any)[0].(map[string]any); of["epochs"] != 3.0 || of["epochs_from"] != "trainer" || of["manifest_sha256"] != "abc" {
		t.Errorf("%s", made.body)
	}

	s.store.exports = nil // deleted
	for epochs, want := range map[string]string{`,"epochs":2`: "given", "": "trainer"} {
		made := s.want(201, create("after"+want, on(fmt.Sprintf(`{"export":%q%s}`, first, epochs))))
		if of := made.field("trained_on", 0).(map[string]any); of["epochs_from"] != want || of["manifest_sha256"] != "abc" || of["trajectories"] != 512.0 {
			t.Errorf("%s", made.body)
		}
	}
	s.refused(create("p", on(entry(earlier, "1"))), 422, relabel.CodeInvalid, "trained_on[0].export")
}

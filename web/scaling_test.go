package web_test

import (
	"encoding/json"
	"fmt"
	"html"
	"strings"
	"testing"

	"relabel"
	"relabel/web/webtest"
)

// student registers a policy with what trained it, as JSON fields.
func (s *site) student(name, training string) {
	s.t.Helper()
	s.post(201, "/v1/policies", fmt.Sprintf(`{"name":%q,"base_url":"http://127.0.0.1:9/v1","model":"m"%s}`, name, training), nil)
}

// scaled makes two runs on one benchmark: demo evaluates an untrained student and one after 512
// trajectories × 3 epochs, and further evaluations that are not points; other goes on from there with
// 1.5 epochs.
func (s *site) scaled() (other relabel.Run) {
	s.t.Helper()
	s.verified()
	s.post(201, "/v1/benchmarks", `{"name":"verified-11","taskset":"verified","all":true,"excluded":[{"instance_id":"sympy__sympy-11","reason":"no image"}]}`, nil)
	n := 512
	e := relabel.Export{ID: relabel.NewID(), FolderID: "here", Directory: "/srv/exports/x", Selection: relabel.ExportSelection{RunID: s.run.ID, Iteration: 1, Unfinished: true}, Trajectories: &n}
	s.must(s.store.CreateExport(s.t.Context(), e))
	s.finishExport(e) // 12 labelled states
	s.student("base", `,"untrained":true`)
	s.student("sft", fmt.Sprintf(`,"trained_from":"base","trained_on":[{"export":%q,"epochs":3}]`, e.ID))
	s.student("low", fmt.Sprintf(`,"trained_from":"sft","trained_on":[{"export":%q,"epochs":1.5}]`, e.ID))
	evaluate := func(student, outcomes string) {
		s.iterate(fmt.Sprintf(`{"kind":"evaluate","student":%q,"benchmark":"verified-11"}`, student), outcomes)
	}
	evaluate("sft", "1110000-000")
	evaluate("base", "1000---0x00")
	evaluate("demo-student", "11111111111") // it is not given what trained it
	evaluate("sft", "1..........")          // running
	evaluate("sft", "xxxxxxxxxxx")
	s.iterate(`{"kind":"evaluate","student":"sft","instances":["marshmallow__marshmallow-1300"]}`, "1")
	first := s.run
	s.run.ID, s.run.Name = relabel.NewID(), "other"
	s.must(s.store.CreateRun(s.t.Context(), s.run))
	evaluate("low", "11111010000")
	other, s.run = s.run, first
	return other
}

func TestScalingComparesRunsByTheTrainingOfTheirStudents(t *testing.T) {
	t.Parallel()
	s := start(t)
	other := s.scaled()
	var report relabel.ScalingReport
	s.must(json.Unmarshal([]byte(s.get(200, "/v1/scaling?runs=demo&runs="+other.ID.String())), &report))
	if report.Benchmark != "verified-11" || len(report.Runs) != 2 {
		t.Fatalf("%+v", report)
	}
	var lines []string
	for _, series := range report.Runs {
		for _, p := range series.Points {
			r := p.Evaluation.Resolved
			lines = append(lines, fmt.Sprintf("%s: %v samples, %v labels, %s of %s, %d of %d, %.3f to %.3f", series.Run, p.Effective.Trajectories, p.Effective.States, p.Evaluation.Student, p.Evaluation.Run, r.Count, r.Of, *r.Low, *r.High))
		}
	}
	want := []string{ // Wilson's intervals: statsmodels' proportion_confint
		"demo: 0 samples, 0 labels, base@1 of demo, 1 of 10, 0.018 to 0.404",
		"demo: 1536 samples, 36 labels, sft@1 of demo, 3 of 11, 0.097 to 0.566",
		"other: 0 samples, 0 labels, base@1 of demo, 1 of 10, 0.018 to 0.404",
		"other: 1536 samples, 36 labels, sft@1 of demo, 3 of 11, 0.097 to 0.566",
		"other: 2304 samples, 54 labels, low@1 of other, 6 of 11, 0.280 to 0.787",
	}
	if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	reasons := map[relabel.ScalingReason]int{}
	for _, x := range report.Excluded {
		reasons[x.Reason]++
		if x.Reason == relabel.ScalingTrainingUnknown && x.Unknown != "demo-student@1" {
			t.Errorf("%+v", x)
		}
	}
	// Other has the ancestors of its student, with the evaluations of these that are no points too.
	if len(report.Excluded) != 3 || reasons[relabel.ScalingTrainingUnknown] != 1 || reasons[relabel.ScalingRunning] != 1 || reasons[relabel.ScalingNotGraded] != 1 {
		t.Errorf("excluded: %+v", report.Excluded)
	}
	if o := report.OtherBenchmarks; len(o) != 1 || o[0].Evaluations != 1 || o[0].BenchmarkID == *report.BenchmarkID {
		t.Errorf("other benchmarks: %+v", o)
	}
	s.must(json.Unmarshal([]byte(s.get(200, "/v1/scaling?runs=demo&benchmark="+report.OtherBenchmarks[0].BenchmarkID.String())), &report))
	if len(report.Runs) != 1 || len(report.Runs[0].Points) != 1 || report.OtherBenchmarks[0].Benchmark != "verified-11" {
		t.Errorf("on the other benchmark: %+v", report)
	}
	for _, wrong := range []string{"", "?runs=nobody", "?runs=demo&runs=demo", "?runs=demo&benchmark=nothing"} {
		s.get(422, "/v1/scaling"+wrong)
	}
}

func TestThePageOfScalingShowsSeveralRunsInOneChart(t *testing.T) {
	t.Parallel()
	s := start(t)
	other := s.scaled()
	run := "/runs/" + s.run.ID.String()
	link := "/scaling?runs=" + s.run.ID.String()
	contains(t, s.get(200, run), link)
	contains(t, s.get(200, "/"), "/scaling")
	contains(t, s.get(200, "/scaling"), "Choose runs to compare", "demo", "other")
	page := html.UnescapeString(s.get(200, link))
	contains(t, page, "data-chart", "verified-11", "1 excluded: sympy__sympy-11 (no image)", "what trained demo-student@1 is not given", `href="/scaling.csv?benchmark=`, "&runs="+s.run.ID.String()+`"`, "it is running", "no trajectory is graded", "Evaluations on other benchmarks")
	contains(t, s.get(200, strings.Replace(link, "?", ".csv?", 1)), "run,recipe,benchmark_id,benchmark,effective_samples,", ",verified-11,1536,36,sft@1,",
		",training_unknown,demo-student@1,", ",running,", ",not_graded,", ",,,1\n")
	for _, wrong := range []string{"/scaling?runs=nobody", link + "&axis=turns", link + "&benchmark=nothing"} {
		s.get(400, wrong)
	}
	p := webtest.Open(t, s.URL+link)
	p.Click("[name=runs][value='" + other.ID.String() + "']")
	p.Click("form.scaling button.main")
	p.Wait("document.querySelectorAll('.u-legend .u-series').length === 3 && document.querySelector('canvas')")
	p.Look("scaling")
	text := strings.Join(strings.Fields(p.Text("main")), " ")
	for _, want := range []string{"1 536", "2 304", "54.5% [28.0, 78.7]", "evaluate 1 of demo", "demo (dagger)", "other (dagger)"} {
		if !strings.Contains(strings.ReplaceAll(text, "\u202f", " "), want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	exports, _, err := s.store.ListExports(t.Context(), relabel.ExportFilter{}, relabel.Page{})
	s.must(err)
	s.must(s.store.DeleteExport(t.Context(), exports[0].ID))
	for _, page := range []string{link, run + "/report"} {
		contains(t, s.get(200, page), "0 of 11 tasks were in its training; the tasks of deleted exports (1) are unknown")
	}
	policy := html.UnescapeString(s.get(200, "/policies/low"))
	contains(t, policy, "2\u202f304 effective samples", "untrained: the start", "1.5")
	contains(t, s.get(200, "/policies/demo-student"), "Effective samples are unknown")
}

package web_test

import (
	"encoding/json"
	"html"
	"net/url"
	"strings"
	"testing"

	"relabel"
	"relabel/web/webtest"
)

// reported makes four evaluations on a benchmark, one of another run, one of the held-out tasks of the
// run's own task set, and a sample with four rollouts of each of two tasks.
func (s *site) reported() (evaluations []relabel.Iteration) {
	s.t.Helper()
	s.verified()
	s.post(201, "/v1/benchmarks", `{"name":"verified-11","taskset":"verified","all":true,"excluded":[{"instance_id":"sympy__sympy-11","reason":"no image"}]}`, nil)
	for _, outcomes := range []string{"-----------", "1000---0100", "11100--11x0"} {
		evaluations = append(evaluations, s.iterate(onVerified, outcomes))
	}
	evaluations = append(evaluations, s.iterate(`{"kind":"evaluate","student":"demo-student","benchmark":"verified-11","generations":2}`, "1111100-----11010x..10"))
	s.iterate(`{"kind":"evaluate","student":"demo-student","instances":["marshmallow__marshmallow-1300"]}`, "1")
	s.iterate(`{"kind":"sample","student":"demo-student","generations":4}`, "1000-0x0")
	first := s.run
	s.run.ID, s.run.Name = relabel.NewID(), "other"
	s.must(s.store.CreateRun(s.t.Context(), s.run))
	evaluations = append(evaluations, s.iterate(onVerified, "11111111000"))
	s.run = first
	return evaluations
}

func TestTheReportHasEvaluationsWithIntervalsAndPassAtK(t *testing.T) {
	t.Parallel()
	s := start(t)
	its := s.reported()
	run := "/runs/" + s.run.ID.String()
	page := html.UnescapeString(s.get(200, run+"/report"))
	// Wilson's intervals of 0, 2 and 5 of 11, of 10: statsmodels' proportion_confint.
	contains(t, page, `<b>0.0% [0.0, 25.9]</b> <span class="meta">0 of 11, Wilson<`, `<b>18.2% [5.1, 47.7]</b> <span class="meta">2 of 11, Wilson<`,
		`<b>50.0% [23.7, 76.3]</b> <span class="meta">5 of 10, Wilson<`, "9 of 19, clustered by task", "1 infrastructure", "2 open", "django/django", "without a name", `data-chart`)
	contains(t, page, its[1].ID.String()+"/comparison?with="+its[0].ID.String(), "+18.2 [", "sample 1", "<span>@1 0.12</span><span>@2 0.25</span><span>@4 1.00, without 1</span>")
	var report relabel.EvaluationReport
	s.must(json.Unmarshal([]byte(s.get(200, "/v1"+run+"/report")), &report))
	if len(report.Evaluations) != 5 || len(report.Samples) != 1 || len(report.Comparisons) != 2 {
		t.Fatalf("%+v", report)
	}
	// A student that never finishes resolves 0 of all its tasks.
	if e := report.Evaluations[0]; e.Resolved.Count != 0 || e.Resolved.Of != 11 || e.Ungraded != 0 || *e.Resolved.Low != 0 || e.Submitted.Count != 0 || e.Resolved.Interval != relabel.IntervalWilson {
		t.Errorf("a student that never finishes: %+v", e)
	}
	if e := report.Evaluations[3]; e.Resolved.Interval != relabel.IntervalClustered || len(e.PassAtK) != 2 || e.Benchmark != "verified-11" || e.Run != "demo" {
		t.Errorf("two rollouts per task: %+v", e)
	}
	lines := strings.Split(strings.TrimSpace(s.get(200, run+"/report.csv")), "\n")
	heads, sample := strings.Split(lines[0], ","), strings.Split(lines[6], ",")
	cells := map[string]string{}
	for i, head := range heads {
		cells[head] = sample[i]
	}
	if len(lines) != 7 || cells["kind"] != "sample" || cells["pass_at_1"] != "0.125" || cells["pass_at_4_tasks"] != "1" || cells["resolved_of"] != "7" || cells["better"] != "" {
		t.Errorf("%d lines, the last is %v", len(lines), cells)
	}
	contains(t, s.get(200, run+"/report.csv?by=repository"), "evaluate,2,"+its[1].ID.String()+",django/django,4,0,1,4,0.25,")
	s.get(400, run+"/report.csv?by=day")
	s.iterate(`{"kind":"sample","student":"demo-student","benchmark":"verified-11"}`, "...........")
	rows := strings.Split(s.get(200, run+"/report"), `<tr data-key="s-`)
	if on := "/benchmarks/" + its[0].BenchmarkID.String(); len(rows) != 3 || !strings.Contains(rows[1], on) || strings.Contains(rows[2][:strings.Index(rows[2], "</tr>")], "/benchmarks/") {
		t.Errorf("samples and their benchmarks: %q", rows[1:])
	}
	contains(t, s.get(200, run), run+"/report")
	contains(t, s.get(200, "/iterations/"+its[0].ID.String()), "/benchmarks/"+its[0].BenchmarkID.String())
}

func TestTwoEvaluationsAreComparedFromTheReport(t *testing.T) {
	t.Parallel()
	s := start(t)
	its := s.reported()
	p := webtest.Open(t, s.URL+"/runs/"+s.run.ID.String()+"/report")
	p.Wait("document.querySelector('canvas')")
	p.Look("report")
	p.Click("[name=a][value='" + its[2].ID.String() + "']")
	p.Click("[name=b][value='" + its[1].ID.String() + "']")
	p.Click("button.main")
	p.Wait("document.querySelector('h1')?.innerText.startsWith('Evaluate 3 against evaluate 2')")
	p.Look("comparison")
	text := strings.Join(strings.Fields(p.Text("main")), " ")
	// Without the task that failed: 3 better, 0 worse of 10, p = 2·(1/2)³.
	for _, want := range []string{"+30.0 [", "p = 0.25", "django__django-01", "better"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	p.Go(s.URL + "/benchmarks/verified-11")
	p.Look("benchmark")
	address := "/iterations/" + its[0].ID.String() + "/comparison"
	contains(t, s.get(200, address), "Choose another evaluation", "other, evaluate 1: demo-student@1")
	contains(t, s.get(200, address+"?with="+its[4].ID.String()), "−72.7 [", "Evaluate 1 of demo against evaluate 1 of other", "worse")
	contains(t, s.get(200, address+"?with="+its[3].ID.String()), "none: it needs one rollout per task")
	contains(t, s.get(200, address+".csv?with="+its[1].ID.String()), "iteration_id,student,trained_tasks,with_id,with_student,with_trained_tasks,tasks,", ",demo-student@1,0,", ",0,11,0,0,2,-0.181818")
	query := url.Values{"a": {its[0].ID.String()}, "b": {s.iteration.ID.String()}}
	contains(t, s.get(400, "/iterations/comparison?"+query.Encode()), "with: is not an evaluation")
	s.get(400, "/iterations/comparison?a="+its[0].ID.String())
	s.get(400, "/iterations/"+s.iteration.ID.String()+"/comparison")
	s.get(400, address+"?with="+relabel.NewID().String())
	contains(t, s.get(400, address+"?with="+its[0].ID.String()), "is the same evaluation")
}

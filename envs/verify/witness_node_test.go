package verify

import (
	"testing"

	"relabel"
	"relabel/envs/verify/canary"
	"relabel/envs/verify/results"
	"relabel/testlog"
)

const nodeReported = `{"testResults": [
	{"name": "/testbed/test/a.test.js", "assertionResults": [
		{"ancestorTitles": ["", "math"], "title": "adds", "status": "passed"}, {"ancestorTitles": ["math"], "title": "fails", "status": "failed"},
		{"ancestorTitles": ["more"], "title": "twice", "status": "passed"}, {"ancestorTitles": [], "title": "waits", "status": "pending"},
		{"ancestorTitles": [], "title": "of 7", "status": "passed"}, {"ancestorTitles": [], "title": "canary", "status": "failed"}]},
	{"name": "/testbed/test/b.test.js", "assertionResults": [{"ancestorTitles": [], "title": "twice", "status": "failed"}]}]}`

func TestAReportOfJestOrVitestConfirmsTheLog(t *testing.T) {
	r := results.ParseNodeReport([]byte(nodeReported), "/testbed")
	planted := &canary.Planting{Canaries: []canary.Test{{Name: "canary", Status: relabel.TestFailed}}}
	for id, agrees := range map[string]bool{
		"adds": true, "math > adds": true, "test/a.test.js > math > adds": true, "test/b.test.js > math > adds": false,
		"fails": false, "waits": false, "absent": false,
		"more > twice": true, "twice": false,
	} {
		o := testlog.Outcomes{id: relabel.TestPassed, "canary": relabel.TestFailed}
		if m, differs := reportMiss(r, relabel.Task{FailToPass: []string{id}}, o, planted); differs == agrees || (differs && m.Key != canary.ReportKey) {
			t.Errorf("%s: %+v", id, m)
		}
	}
	o := testlog.Outcomes{"adds": relabel.TestPassed, "canary": relabel.TestPassed}
	planted.Canaries[0].Status = relabel.TestPassed
	if _, differs := reportMiss(r, relabel.Task{FailToPass: []string{"adds"}}, o, planted); !differs {
		t.Error("the report has the canary as failed")
	}
	for _, broken := range []string{"", "{", "[]", "null", `{"testResults": [{"name": 1}]}`} {
		if _, differs := reportMiss(results.ParseNodeReport([]byte(broken), "/testbed"), relabel.Task{FailToPass: []string{"adds"}}, o, nil); !differs {
			t.Errorf("%q bears a test out", broken)
		}
	}
}

func TestTestsOfJestAreCountedByTitlesThatStandInTheFile(t *testing.T) {
	r := results.ParseNodeReport([]byte(nodeReported), "/testbed")
	planted := &canary.Planting{
		Files: []canary.File{
			{Path: "test/a.test.js", Content: "test('adds'); test(\"fails\"); test(`twice`); test.each([7])('of %d'); test('waits'); test('canary'); // of 7"},
			{Path: "test/__snapshots__/a.test.js.snap"}, {Path: "test/c.test.js", Content: "test('c')"},
		},
		Canaries: []canary.Test{{Name: "canary"}},
	}
	if got := countNode(r, planted); len(got) != 2 || got["test/a.test.js"] != 4 || got["test/c.test.js"] != 0 {
		t.Errorf("%v", got)
	}
}

func TestTestsOfGoAreCountedByPackagesWithCanaries(t *testing.T) {
	o := testlog.Outcomes{
		"TestA": relabel.TestPassed, "example.com/a:TestA": relabel.TestPassed, "example.com/a:TestA/one": relabel.TestPassed, "example.com/a:TestB": relabel.TestSkipped,
		"example.com/a:TestCanary": relabel.TestFailed, "example.com/b:TestA": relabel.TestPassed,
	}
	if got := countGo(o, &canary.Planting{Canaries: []canary.Test{{Name: "TestCanary"}}}); len(got) != 1 || got["example.com/a"] != 2 {
		t.Errorf("%v", got)
	}
}

func TestAFailureIsNotExplainedWhereTheReportMayBeWhy(t *testing.T) {
	failed, passed := trial{reported: true}, trial{reported: true, missed: []canary.Miss{{Key: canary.ReportKey, Why: "the report differs"}}}
	passed.verdict.Passed = true
	left := goldFact{takes: true, left: map[string]bool{canary.ReportKey: true}}
	if left.explains(failed) || !left.explains(passed) {
		t.Errorf("failed %v, passed %v", left.explains(failed), left.explains(passed))
	}
	if kept := (goldFact{takes: true}); !kept.explains(failed) || kept.explains(passed) {
		t.Error("a report that the task can write is no reason")
	}
}

package relabel_test

import (
	"testing"

	"relabel"
)

// verdictOf is a verdict on a task with the tests a and b, each passed (P) or failed (f).
func verdictOf(endings string) relabel.Verdict {
	if endings == "time" {
		return relabel.Verdict{Reason: relabel.VerdictTimedOut, Output: []byte("…")}
	}
	if endings == "infra" {
		return relabel.Verdict{Infra: "no disk"}
	}
	v := relabel.Verdict{Passed: true, Reason: relabel.VerdictTestsPassed, Tests: map[string]relabel.TestStatus{}, Output: []byte("log"), Millis: 10}
	for i, test := range []string{"a", "b"} {
		v.Tests[test] = relabel.TestPassed
		if endings[i] == 'f' {
			v.Tests[test], v.Passed, v.Reason = relabel.TestFailed, false, relabel.VerdictTests
		}
	}
	return v
}

func TestAValidationComparesEqualRuns(t *testing.T) {
	for name, c := range map[string]struct {
		mend, keep  []string
		gold, empty []string
		state       relabel.Soundness
		reason      relabel.ProblemReason
		flaky       []relabel.FlakyTest
	}{
		"sound":                         {[]string{"a"}, []string{"b"}, []string{"PP", "PP"}, []string{"fP", "fP"}, relabel.TaskSound, "", nil},
		"a kept test flickers":          {[]string{"a"}, []string{"b"}, []string{"PP", "Pf", "PP"}, []string{"fP", "fP", "fP"}, relabel.TaskFlaky, relabel.ProblemFlaky, []relabel.FlakyTest{{Test: "b", Gold: "PfP", Empty: "PPP"}}},
		"it flickers without the patch": {[]string{"a"}, []string{"b"}, []string{"PP", "PP"}, []string{"fP", "ff"}, relabel.TaskFlaky, relabel.ProblemFlaky, []relabel.FlakyTest{{Test: "b", Gold: "PP", Empty: "Pf"}}},
		"the only mended test flickers": {[]string{"a"}, []string{"b"}, []string{"PP", "fP"}, []string{"fP", "fP"}, relabel.TaskBroken, relabel.ProblemOnlyFlaky, []relabel.FlakyTest{{Test: "a", Gold: "Pf", Empty: "ff"}}},
		"the rest passes without":       {[]string{"a", "b"}, nil, []string{"PP", "PP"}, []string{"fP", "PP"}, relabel.TaskBroken, relabel.ProblemWithoutPatch, []relabel.FlakyTest{{Test: "a", Gold: "PP", Empty: "fP"}}},
		"gold fails":                    {[]string{"a"}, []string{"b"}, []string{"fP", "fP"}, []string{"fP", "fP"}, relabel.TaskBroken, relabel.ProblemGold, nil},
		"gold fails beside a flicker":   {[]string{"a"}, []string{"b"}, []string{"fP", "ff"}, []string{"fP", "fP"}, relabel.TaskBroken, relabel.ProblemGold, []relabel.FlakyTest{{Test: "b", Gold: "Pf", Empty: "PP"}}},
		"empty passes":                  {[]string{"a"}, []string{"b"}, []string{"PP"}, []string{"PP"}, relabel.TaskBroken, relabel.ProblemWithoutPatch, nil},
		"it never ends":                 {[]string{"a"}, []string{"b"}, []string{"PP", "time"}, nil, relabel.TaskBroken, relabel.ProblemTimeout, nil},
		"it never ends without a patch": {[]string{"a"}, []string{"b"}, []string{"PP", "PP"}, []string{"time"}, relabel.TaskSound, "", nil},
		"infrastructure":                {[]string{"a"}, []string{"b"}, []string{"infra"}, nil, relabel.TaskInfra, relabel.ProblemInfra, nil},
	} {
		var gold, empty []relabel.Verdict
		for _, endings := range c.gold {
			gold = append(gold, verdictOf(endings))
		}
		for _, endings := range c.empty {
			empty = append(empty, verdictOf(endings))
		}
		task := relabel.Task{Patch: "diff", FailToPass: c.mend, PassToPass: c.keep}
		v := relabel.Assess(task, 3, 60, gold, empty)
		if v.State != c.state || v.Reason != c.reason || (v.Problem == "") != (c.reason == "") || len(v.Flaky) != len(c.flaky) || len(c.flaky) == 1 && v.Flaky[0] != c.flaky[0] {
			t.Errorf("%s: %s, %s: %s, flaky %v", name, v.State, v.Reason, v.Problem, v.Flaky)
		}
		if c.state == relabel.TaskFlaky {
			if rest := task.WithoutTests(v.Flaky); len(rest.FailToPass) != 1 || len(rest.PassToPass) != 0 {
				t.Errorf("%s: without its flaky tests it has %v and %v", name, rest.FailToPass, rest.PassToPass)
			}
		}
	}
}

func TestTheSpreadOfTimesIsByRank(t *testing.T) {
	if s := relabel.Spread([]int64{3000, 1000, 2000}); s.P50 != 2 || s.P95 != 3 {
		t.Errorf("%+v", s)
	}
	if relabel.Spread(nil) != nil {
		t.Error("there is a spread of nothing")
	}
}

func TestALongLogKeepsItsEnds(t *testing.T) {
	log := append([]byte("begin"), make([]byte, 3000)...)
	log = append(log, "the end"...)
	back, err := relabel.UnpackLog(relabel.PackLog(log, 1000))
	if err != nil || len(back) > 1000 || string(back[:5]) != "begin" || string(back[len(back)-7:]) != "the end" {
		t.Errorf("%d bytes, %v", len(back), err)
	}
	if relabel.PackLog(nil, 10) != nil {
		t.Error("no log is packed")
	}
}

func TestASkippedTestThatMustKeepPassingIsNeitherFlakyNorFailed(t *testing.T) {
	task := relabel.Task{Patch: "diff", FailToPass: []string{"a"}, PassToPass: []string{"b", "c"}}
	run := func(a, b, c relabel.TestStatus) relabel.Verdict {
		v := relabel.Verdict{Reason: relabel.VerdictTests, Tests: map[string]relabel.TestStatus{"a": a, "b": b, "c": c}}
		if v.Passed = a == relabel.TestPassed && c == relabel.TestPassed; v.Passed {
			v.Reason = relabel.VerdictTestsPassed
		}
		return v
	}
	p, f, s := relabel.TestPassed, relabel.TestFailed, relabel.TestSkipped
	v := relabel.Assess(task, 2, 60, []relabel.Verdict{run(p, s, p), run(p, p, f)}, []relabel.Verdict{run(f, s, p), run(f, s, p)})
	if v.State != relabel.TaskFlaky || len(v.Flaky) != 1 || v.Flaky[0].Test != "c" || !v.Runs[1].Steady || v.Runs[0].NotPassed != 0 {
		t.Errorf("%s, %s: %+v", v.State, v.Problem, v)
	}
}

func TestATaskWithAnExactOutcomeIsAssessedByIt(t *testing.T) {
	task := relabel.Task{Patch: "diff", Expected: map[string]relabel.TestStatus{"a": relabel.TestPassed, "known": relabel.TestFailed}}
	run := func(a, known relabel.TestStatus) relabel.Verdict {
		v := relabel.Verdict{Reason: relabel.VerdictTests, Tests: map[string]relabel.TestStatus{"a": a, "known": known}}
		if v.Passed = a == relabel.TestPassed && known == relabel.TestFailed; v.Passed {
			v.Reason = relabel.VerdictTestsPassed
		}
		return v
	}
	p, f := relabel.TestPassed, relabel.TestFailed
	good, empty, wavers := run(p, f), run(f, f), run(p, p)
	if v := relabel.Assess(task, 2, 60, []relabel.Verdict{good, good}, []relabel.Verdict{empty, empty}); !v.Sound() || v.Runs[2].NotPassed != 1 {
		t.Errorf("%s: %s, %+v", v.State, v.Problem, v.Runs)
	}
	v := relabel.Assess(task, 2, 60, []relabel.Verdict{good, wavers}, []relabel.Verdict{empty, empty})
	if v.State != relabel.TaskBroken || v.Reason != relabel.ProblemOnlyFlaky || len(v.Flaky) != 1 || v.Flaky[0] != (relabel.FlakyTest{Test: "known", Gold: "Pf", Empty: "PP"}) {
		t.Errorf("%s, %s: %s, %v", v.State, v.Reason, v.Problem, v.Flaky)
	}
	v = relabel.Assess(task, 1, 60, []relabel.Verdict{wavers}, []relabel.Verdict{empty})
	if v.Reason != relabel.ProblemGold || v.Problem != "the gold patch does not resolve it: 1 test did not end as expected, such as known (PASSED)" {
		t.Errorf("%s: %s", v.Reason, v.Problem)
	}
	v = relabel.Assess(task, 1, 60, []relabel.Verdict{good}, []relabel.Verdict{good})
	if v.Reason != relabel.ProblemWithoutPatch {
		t.Errorf("%s: %s", v.Reason, v.Problem)
	}
}

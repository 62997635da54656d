package results

import (
	"strings"
	"testing"

	"relabel"
	"relabel/testlog"
)

// The reports are of the same runs as the logs in testlog.
func TestReportsOfRunnersConfirmTheirLogs(t *testing.T) {
	for _, c := range []struct {
		parser, log, report string
	}{
		{"phpunit", "phpunit.log", "phpunit.xml"},
		{"ctest", "ctest.log", "ctest.xml"},
		{"googletest", "googletest.log", "googletest.xml"},
		{"rspec", "rspec.log", "rspec.json"},
		{"surefire", "surefire.log", "maven.xml"},
	} {
		p, _ := testlog.Find(c.parser)
		r := ParseRunnerReport(readFile(t, "testdata/"+c.report), p.Runner)
		o := p.Parse(readFile(t, "../../../testlog/testdata/logs/"+c.log))
		passed := 0
		for name, status := range o {
			if strings.Contains(name, "$Inner") {
				continue // Surefire's log has the tests of the outer class under the inner one
			}
			forged := strings.Contains(strings.ToLower(name), "forged")
			switch {
			case forged:
				if r.Passed(name) {
					t.Errorf("%s: the report has %q, which a test printed", c.parser, name)
				}
			case status.Passed():
				if passed++; !r.Passed(name) {
					t.Errorf("%s: %q passed, and the report does not say so", c.parser, name)
				}
			case r.Passed(name):
				t.Errorf("%s: %q is %s, and passed in the report", c.parser, name, status)
			case status == relabel.TestFailed && !r.Failed(name):
				t.Errorf("%s: %q failed, and the report does not say so", c.parser, name)
			}
		}
		if passed == 0 {
			t.Errorf("%s: no test passed", c.parser)
		}
	}
}

func TestNamesInReportsAreThoseOfTheLog(t *testing.T) {
	for _, c := range []struct {
		runner      testlog.Runner
		class, name string
		inLog       []string
	}{
		{testlog.Gradle, "org.example.CalcTest", "adds()", []string{"org.example.CalcTest > adds()"}},
		{testlog.Maven, "org.example.CalcTest", "adds", []string{"CalcTest", "org.example.CalcTest", "CalcTest#adds", "org.example.CalcTest.adds"}},
		{testlog.PHPUnit, `Shop\Tests\BigCalcTest`, "testAddsBigNumbers", []string{"Big Calc > Adds big numbers"}},
		{testlog.GTest, "All/P", "Even/1", []string{"All/P.Even/1"}},
	} {
		report := []byte(`<?xml version="1.0"?><testsuite><testcase classname="` + c.class + `" name="` + c.name + `"/></testsuite>`)
		r := ParseRunnerReport(report, c.runner)
		for _, name := range c.inLog {
			if !r.Passed(name) {
				t.Errorf("%s: the report lacks %q", c.runner, name)
			}
		}
		if r.Passed("other") || ParseRunnerReport(append(report, '<'), c.runner).Passed(c.inLog[0]) {
			t.Errorf("%s: confirms too much", c.runner)
		}
	}
}

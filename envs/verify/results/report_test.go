package results

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"relabel"
	"relabel/testlog"
)

func TestReportsAreReadElementByElement(t *testing.T) {
	r := ParseReport([]byte(`<testsuites><testsuite>
		<testcase classname="tests.test_a" name="passes"><system-out>text <![CDATA[<failure/>]]></system-out></testcase>
		<testcase classname="tests.test_a" name="fails"><failure message="no">trace</failure></testcase>
		<testcase classname="tests.test_a" name="breaks"><error/></testcase>
		<testcase classname="tests.test_a" name="skipped"><skipped type="pytest.skip"/></testcase>
		<testcase classname="tests.test_a" name="xfails"><skipped type="pytest.xfail"/></testcase>
		<testcase classname="tests.test_a" name="tells"><properties><failure/><testcase name="inner"/></properties></testcase>
		<testcase classname="tests.test_a" name="twice"/><testcase classname="tests.test_a" name="twice"><failure/></testcase>
		</testsuite></testsuites>`))
	for name, want := range map[string]string{"passes": "clean", "fails": "stained", "breaks": "stained", "skipped": "stained skipped",
		"xfails": "clean skipped", "tells": "clean", "inner": "", "twice": "stained"} {
		var got []string
		for _, of := range []struct {
			what string
			in   map[string]bool
		}{{"clean", r.Clean}, {"stained", r.Stained}, {"skipped", r.skipped}} {
			if of.in["tests.test_a."+name] {
				got = append(got, of.what)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, want %q", name, got, want)
		}
	}
}

func TestReportsOverTheirLimitsConfirmNothing(t *testing.T) {
	const sound = `<testsuite><testcase classname="a" name="t"/>%s</testsuite>`
	long := strings.Repeat("n", maxReportTag/2)
	for what, more := range map[string]string{
		"cases": strings.Repeat(`<testcase/>`, maxReportCases),
		"names": strings.Repeat(`<testcase name="`+long+`"/>`, maxReportNames/len(long)+1),
		"a tag": `<testcase ` + strings.Repeat("a ", maxReportTag/2) + `/>`,
		"depth": strings.Repeat("<a>", maxReportDepth) + strings.Repeat("</a>", maxReportDepth),
	} {
		if r := ParseReport(fmt.Appendf(nil, sound, more)); len(r.Clean) > 0 {
			t.Errorf("%s: %d test cases are borne out", what, len(r.Clean))
		}
	}
	text := `<system-out>` + strings.Repeat("text ", maxReportTag) + `</system-out>`
	if r := ParseReport(fmt.Appendf(nil, sound, text)); !r.Clean["a.t"] {
		t.Error("long output of a test makes the report unsound")
	}
}

// What a report of MaxReport bytes may make the verifier allocate at once.
func TestAHostileReportIsCheapToRefuse(t *testing.T) {
	for what, piece := range map[string]string{"depth": "<a>", "attributes": "a ", "cases": `<testcase/>`} {
		report := []byte("<testsuite>" + strings.Repeat(piece, MaxReport/len(piece)))
		if what == "attributes" {
			report = append([]byte("<testsuite "), report[len("<testsuite>"):]...)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		ParseReport(report)
		runtime.ReadMemStats(&after)
		if grown := (after.TotalAlloc - before.TotalAlloc) >> 20; grown > 400 {
			t.Errorf("%s: %d MiB were allocated", what, grown)
		}
	}
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestAReportConfirmsTheLog(t *testing.T) {
	clean := ParseReport(readFile(t, "testdata/junit-8.4.1.xml")).Clean
	pytest, _ := testlog.Find("pytest")
	for id, status := range pytest.Parse(readFile(t, "../../../testlog/testdata/pytest-8.4.1.log")) {
		success := status == relabel.TestPassed || status == relabel.TestXFail
		if success && !clean[PlainName(id)] {
			t.Errorf("%s passed and the report does not say so", id)
		}
		if (status == relabel.TestFailed || status == relabel.TestError) && clean[PlainName(id)] {
			t.Errorf("%s failed and the report does not say so", id)
		}
	}
	if clean[PlainName("tests/test_kinds.py::test_skip")] {
		t.Error("a skipped test passed")
	}
}

func TestBrokenReportsConfirmNothing(t *testing.T) {
	for _, report := range []string{"", "not xml", `<testsuite><testcase classname="a" name="t"/><testcase `, "\xff\x00"} {
		if clean := ParseReport([]byte(report)).Clean; len(clean) > 0 {
			t.Errorf("%q: %v", report, clean)
		}
	}
}

package verify

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

func TestReportsAreReadElementByElement(t *testing.T) {
	r := parseReport([]byte(`<testsuites><testsuite>
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
		}{{"clean", r.clean}, {"stained", r.stained}, {"skipped", r.skipped}} {
			if of.in["tests.test_a."+name] {
				got = append(got, of.what)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, want %q", name, got, want)
		}
	}
}

func TestReportsBeyondTheirBoundsBearNothingOut(t *testing.T) {
	const sound = `<testsuite><testcase classname="a" name="t"/>%s</testsuite>`
	long := strings.Repeat("n", maxReportTag/2)
	for what, more := range map[string]string{
		"cases": strings.Repeat(`<testcase/>`, maxReportCases),
		"names": strings.Repeat(`<testcase name="`+long+`"/>`, maxReportNames/len(long)+1),
		"a tag": `<testcase ` + strings.Repeat("a ", maxReportTag/2) + `/>`,
		"depth": strings.Repeat("<a>", maxReportDepth) + strings.Repeat("</a>", maxReportDepth),
	} {
		if r := parseReport(fmt.Appendf(nil, sound, more)); len(r.clean) > 0 {
			t.Errorf("%s: %d test cases are borne out", what, len(r.clean))
		}
	}
	text := `<system-out>` + strings.Repeat("text ", maxReportTag) + `</system-out>`
	if r := parseReport(fmt.Appendf(nil, sound, text)); !r.clean["a.t"] {
		t.Error("long output of a test makes the report unsound")
	}
}

// What a report of maxReport bytes may make the verifier allocate at once.
func TestAHostileReportIsCheapToRefuse(t *testing.T) {
	for what, piece := range map[string]string{"depth": "<a>", "attributes": "a ", "cases": `<testcase/>`} {
		report := []byte("<testsuite>" + strings.Repeat(piece, maxReport/len(piece)))
		if what == "attributes" {
			report = append([]byte("<testsuite "), report[len("<testsuite>"):]...)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		parseReport(report)
		runtime.ReadMemStats(&after)
		if grown := (after.TotalAlloc - before.TotalAlloc) >> 20; grown > 400 {
			t.Errorf("%s: %d MiB were allocated", what, grown)
		}
	}
}

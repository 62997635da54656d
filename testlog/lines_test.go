package testlog

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

func TestALogOfLineEndsIsNotHeldAsLines(t *testing.T) {
	log := bytes.Repeat([]byte("\n"), 1<<17)
	for _, p := range parsers {
		if allocated := allocatedBy(func() { p.Parse(log) }); allocated > 64*uint64(len(log))+1<<20 {
			t.Errorf("%s: allocates %d bytes for a log of %d bytes", p.Name, allocated, len(log))
		}
	}
}

func TestAPackageOfALongPathIsNotNotedWithItsTests(t *testing.T) {
	var log bytes.Buffer
	for i := range 2000 {
		fmt.Fprintf(&log, "--- PASS: Test%d (0.00s)\n", i)
	}
	fmt.Fprintf(&log, "ok  \t%s\t0.1s\n", strings.Repeat("x", 1<<20))
	if allocated := allocatedBy(func() { parseGoTest(log.Bytes()) }); allocated > 64<<20 {
		t.Errorf("it allocates %d bytes for a log of %d bytes", allocated, log.Len())
	}
}

// allocatedBy returns how many bytes a function allocates.
func allocatedBy(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestALongLineIsCut(t *testing.T) {
	long := "ERROR tests/test_a.py::test_a - " + strings.Repeat("x", 2*maxLine)
	o := parsePytest([]byte("PASSED tests/test_a.py::test_a\n" + long + "\n"))
	if got := o.Of("tests/test_a.py::test_a"); got != errored {
		t.Errorf("the test is %s, and must be %s", got, errored)
	}
}

func TestOutcomesAreBounded(t *testing.T) {
	o := Outcomes{}
	o.add("first", passed)
	for i := range maxOutcomes {
		o.add(fmt.Sprint(i), passed)
	}
	o.add("first", failing)
	if len(o) != maxOutcomes || o.Of("first") != failing {
		t.Errorf("%d tests are noted, and the first is %s", len(o), o.Of("first"))
	}
}

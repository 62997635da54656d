package results

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"regexp"
	"strings"

	"relabel"
	"relabel/testlog"
)

// MaxReport is the size limit of a report in bytes.
const MaxReport = 64 << 20

// Bounds on a JUnit report, which code under test can write. A report beyond a bound confirms
// nothing.
const (
	maxReportCases = 500_000  // test cases
	maxReportNames = 32 << 20 // bytes of the names of all test cases
	maxReportTag   = 2 << 20  // bytes of one tag with its attributes
	maxReportDepth = 64       // nested elements
)

// Report holds the results of a JUnit report by plain test name.
type Report struct {
	Clean   map[string]bool // only passed or failed as expected
	Stained map[string]bool // failed, broke or was skipped at least once
	skipped map[string]bool // was skipped at least once
	Text    []byte          // the whole report
}

// ParseReport reads a JUnit report. A report that is broken or beyond the bounds confirms nothing.
func ParseReport(data []byte) *Report {
	r := &Report{Clean: map[string]bool{}, Stained: map[string]bool{}, skipped: map[string]bool{}, Text: data}
	if readCases(data, r.add) != nil {
		return &Report{}
	}
	maps.DeleteFunc(r.Clean, func(name string, _ bool) bool { return r.Stained[name] })
	return r
}

// testCase is one test of a JUnit report.
type testCase struct {
	class, name string
	depth       int  // of its element
	skipped     bool // or expected to fail
	stained     bool // failed, broke, or was skipped without an expected failure
	failed      bool // failed or broke
}

var errReportBounds = errors.New("the report exceeds its bounds")

// readCases reads a JUnit report token by token, and calls each for each finished test.
func readCases(data []byte, each func(testCase)) error {
	input := &tagReader{Reader: bytes.NewReader(data), data: data}
	decoder := xml.NewDecoder(input)
	decoder.Strict = false
	var test *testCase // nil outside of a test case
	depth, cases, names := 0, 0, 0
	for {
		input.beginToken(decoder.InputOffset())
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			depth++
			if test == nil && t.Name.Local == "testcase" {
				test = newCase(t, depth)
				cases++
				names += len(test.class) + len(test.name)
			} else if test != nil && depth == test.depth+1 {
				test.note(t)
			}
			if depth > maxReportDepth || cases > maxReportCases || names > maxReportNames {
				return errReportBounds
			}
		case xml.EndElement:
			if test != nil && depth == test.depth {
				each(*test)
				test = nil
			}
			depth--
		}
	}
}

// newCase returns the test of an element. GoogleTest and CTest note tests that did not run.
func newCase(e xml.StartElement, depth int) *testCase {
	c := &testCase{class: attribute(e, "classname"), name: attribute(e, "name"), depth: depth}
	if status := attribute(e, "status"); status == "notrun" || status == "disabled" {
		c.skipped, c.stained = true, true
	}
	return c
}

// note records an element of the test case.
func (c *testCase) note(e xml.StartElement) {
	switch e.Name.Local {
	case "failure", "error":
		c.stained, c.failed = true, true
	case "skipped":
		c.skipped = true
		c.stained = c.stained || attribute(e, "type") != "pytest.xfail"
	}
}

// add records a finished test case.
func (r *Report) add(c testCase) {
	name := PlainName(c.class + "." + c.name)
	r.Clean[name] = true
	if c.skipped {
		r.skipped[name] = true
	}
	if c.stained {
		r.Stained[name] = true
	}
}

// attribute returns the last value of an attribute; "" without one.
func attribute(e xml.StartElement, name string) string {
	value := ""
	for _, a := range e.Attr {
		if a.Name.Local == name {
			value = a.Value
		}
	}
	return value
}

// tagReader fails within a tag longer than maxReportTag: the decoder holds all attributes of a
// tag at once, each in many times the bytes of the text.
type tagReader struct {
	*bytes.Reader // the decoder only calls ReadByte
	data          []byte
	end           int // data before this offset may be read
}

// beginToken sets the bound for the token that begins at an offset.
func (t *tagReader) beginToken(at int64) {
	t.end = len(t.data)
	rest := t.data[at:]
	if len(rest) > 1 && rest[0] == '<' && rest[1] != '!' {
		t.end = min(t.end, int(at)+maxReportTag)
	}
}

// ReadByte returns the next byte.
func (t *tagReader) ReadByte() (byte, error) {
	if t.Len() > 0 && len(t.data)-t.Len() >= t.end {
		return 0, errReportBounds
	}
	return t.Reader.ReadByte()
}

// Confirm removes successes and skips that the report does not confirm: these tests count as
// absent.
func (r *Report) Confirm(o testlog.Outcomes) {
	maps.DeleteFunc(o, func(id string, status relabel.TestStatus) bool {
		name := PlainName(id)
		return status.Passed() && !r.Clean[name] || status == relabel.TestSkipped && !r.skipped[name]
	})
}

// Agrees reports whether the report has a test whose name ends with name, and that passed or did
// not pass like status.
func (r *Report) Agrees(name string, status relabel.TestStatus) bool {
	where := r.Stained
	if status.Passed() {
		where = r.Clean
	}
	name = PlainName(name)
	for reported := range where {
		before, ok := strings.CutSuffix(reported, name)
		if ok && (before == "" || before[len(before)-1] == '.') {
			return true
		}
	}
	return false
}

// PlainName returns the same name for the id of the log (tests/test_a.py::T::test_b) and for
// class and name of the report (tests.test_a.T, test_b). It omits characters that XML cannot hold.
func PlainName(id string) string {
	id = nameSeparators.Replace(testlog.MouseButtons.Replace(id))
	return xmlEscape.ReplaceAllString(strings.Map(printable, id), "")
}

// nameSeparators unifies the separators between the parts of a test's name.
var nameSeparators = strings.NewReplacer(".py::", ".", ".py.", ".", "::()::", ".", "::", ".", "/", ".", `\`, ".")

var xmlEscape = regexp.MustCompile(`#x[0-9A-F]{2,4}`)

func printable(r rune) rune {
	if r <= ' ' || r == 0x7F || r == '\uFFFD' {
		return -1
	}
	return r
}

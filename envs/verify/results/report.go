package results

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"relabel"
	"strings"
)

// MaxReport is the largest report that is read, in bytes.
const MaxReport = 64 << 20

// Bounds of a JUnit report, which the tests of a submission may have written. A report
// beyond one of them confirms nothing, as a broken one does.
const (
	maxReportCases = 500_000  // test cases
	maxReportNames = 32 << 20 // bytes of the names of all test cases
	maxReportTag   = 2 << 20  // bytes of one tag with its attributes
	maxReportDepth = 64       // elements within each other
)

// Report is what a JUnit report says of each test, by its plain name.
type Report struct {
	Clean   map[string]bool // passed, or failed as expected, and nothing else
	Stained map[string]bool // failed, broke or was skipped at least once
	skipped map[string]bool // was skipped at least once
	Text    []byte          // the whole report
}

// ParseReport reads a JUnit report. One that is broken or beyond the bounds confirms nothing.
func ParseReport(data []byte) *Report {
	reader := reportReader{
		report: &Report{Clean: map[string]bool{}, Stained: map[string]bool{}, skipped: map[string]bool{}, Text: data},
		input:  &tagReader{data: data},
	}
	if err := reader.read(); err != nil {
		return &Report{}
	}
	for name := range reader.report.Stained {
		delete(reader.report.Clean, name)
	}
	return reader.report
}

// testCase is one test of a JUnit report.
type testCase struct {
	name    string // class and name
	depth   int    // of its element
	skipped bool
	stained bool // failed, broke, or was skipped and no expected failure
}

// reportReader reads a report token by token.
type reportReader struct {
	report *Report
	input  *tagReader
	depth  int       // of the element that is read; 0 outside
	test   *testCase // the test case that is read; nil outside
	cases  int
	names  int // bytes
}

// errReportBounds says that a report is beyond a bound.
var errReportBounds = errors.New("the report is beyond its bounds")

// read reads the report to its end.
func (r *reportReader) read() error {
	decoder := xml.NewDecoder(r.input)
	decoder.Strict = false
	for {
		r.input.beginToken(decoder.InputOffset())
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			err = r.start(t)
		case xml.EndElement:
			r.end()
		}
		if err != nil {
			return err
		}
	}
}

// start notes the begin of an element.
func (r *reportReader) start(e xml.StartElement) error {
	r.depth++
	if r.depth > maxReportDepth {
		return errReportBounds
	}
	if r.test == nil {
		if e.Name.Local == "testcase" {
			return r.startCase(e)
		}
		return nil
	}
	if r.depth != r.test.depth+1 {
		return nil
	}
	switch e.Name.Local {
	case "failure", "error":
		r.test.stained = true
	case "skipped":
		r.test.skipped = true
		if attribute(e, "type") != "pytest.xfail" {
			r.test.stained = true
		}
	}
	return nil
}

// startCase notes the begin of a test case.
func (r *reportReader) startCase(e xml.StartElement) error {
	r.test = &testCase{name: PlainName(attribute(e, "classname") + "." + attribute(e, "name")), depth: r.depth}
	r.cases++
	r.names += len(r.test.name)
	if r.cases > maxReportCases || r.names > maxReportNames {
		return errReportBounds
	}
	return nil
}

// end notes the end of an element.
func (r *reportReader) end() {
	if r.test != nil && r.depth == r.test.depth {
		r.report.add(*r.test)
		r.test = nil
	}
	r.depth--
}

// add notes one test.
func (r *Report) add(c testCase) {
	r.Clean[c.name] = true
	if c.skipped {
		r.skipped[c.name] = true
	}
	if c.stained {
		r.Stained[c.name] = true
	}
}

// attribute is the value of an element's attribute, "" where it has none.
func attribute(e xml.StartElement, name string) string {
	value := ""
	for _, a := range e.Attr {
		if a.Name.Local == name {
			value = a.Value
		}
	}
	return value
}

// tagReader reads data and fails within a tag that is longer than maxReportTag: the decoder
// holds all attributes of a tag at once, each in many times the bytes that it is written in.
type tagReader struct {
	data []byte
	at   int
	end  int // data up to here may be read
}

// beginToken says where the next token begins.
func (t *tagReader) beginToken(at int64) {
	t.end = len(t.data)
	rest := t.data[at:]
	if len(rest) > 1 && rest[0] == '<' && rest[1] != '!' {
		t.end = min(t.end, int(at)+maxReportTag)
	}
}

// ReadByte returns the next byte.
func (t *tagReader) ReadByte() (byte, error) {
	if t.at >= len(t.data) {
		return 0, io.EOF
	}
	if t.at >= t.end {
		return 0, errReportBounds
	}
	t.at++
	return t.data[t.at-1], nil
}

// Read reads no further than ReadByte does.
func (t *tagReader) Read(p []byte) (int, error) {
	for n := range p {
		b, err := t.ReadByte()
		if err != nil {
			return n, err
		}
		p[n] = b
	}
	return len(p), nil
}

// Confirm takes back every success, and every skip, that the report does not confirm: such
// a test counts as absent.
func (r *Report) Confirm(o Outcomes) {
	for id, status := range o {
		name := PlainName(id)
		if (status.Passed() && !r.Clean[name]) || (status == relabel.TestSkipped && !r.skipped[name]) {
			delete(o, id)
		}
	}
}

// Agrees reports whether the report has a test whose name ends with name, and with this status:
// as passed, or as failed, broken or skipped.
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

// PlainName writes a test's name so that the id of the log (tests/test_a.py::T::test_b)
// and class and name of the report (tests.test_a.T, test_b) come out the same. The
// report escapes characters that XML cannot hold, which are left out here.
func PlainName(id string) string {
	id = mouseButtons.Replace(id)
	id = nameSeparators.Replace(id)
	return xmlEscape.ReplaceAllString(strings.Map(printable, id), "")
}

// nameSeparators replaces what stands between the parts of a test's name.
var nameSeparators = strings.NewReplacer(".py::", ".", ".py.", ".", "::()::", ".", "::", ".", "/", ".", `\`, ".")

var xmlEscape = regexp.MustCompile(`#x[0-9A-F]{2,4}`)

func printable(r rune) rune {
	if r <= ' ' || r == 0x7F || r == '\uFFFD' {
		return -1
	}
	return r
}

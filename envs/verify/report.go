package verify

import (
	"encoding/xml"
	"errors"
	"io"
)

// Bounds of a JUnit report, which the tests of a submission may have written. A report
// beyond one of them bears nothing out, as a broken one does.
const (
	maxReportCases = 500_000  // test cases
	maxReportNames = 32 << 20 // bytes of the names of all test cases
	maxReportTag   = 2 << 20  // bytes of one tag with its attributes
	maxReportDepth = 64       // elements within each other
)

// report is what a JUnit report says of each test, by its plain name.
type report struct {
	clean   map[string]bool // passed, or failed as expected, and nothing else
	stained map[string]bool // failed, broke or was skipped at least once
	skipped map[string]bool // was skipped at least once
	text    []byte
}

// parseReport reads a JUnit report. One that is broken or beyond the bounds bears nothing out.
func parseReport(data []byte) *report {
	reader := reportReader{
		report: &report{clean: map[string]bool{}, stained: map[string]bool{}, skipped: map[string]bool{}, text: data},
		input:  &tagReader{data: data},
	}
	if err := reader.read(); err != nil {
		return &report{}
	}
	for name := range reader.report.stained {
		delete(reader.report.clean, name)
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
	report *report
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
	r.test = &testCase{name: plainName(attribute(e, "classname") + "." + attribute(e, "name")), depth: r.depth}
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
func (r *report) add(c testCase) {
	r.clean[c.name] = true
	if c.skipped {
		r.skipped[c.name] = true
	}
	if c.stained {
		r.stained[c.name] = true
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

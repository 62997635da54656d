package verify

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"regexp"
	"strings"

	"relabel"
	"relabel/envs"
)

// maxReport is the largest report that is read, in bytes.
const maxReport = 64 << 20

// pytestCommand finds each word of a command that starts pytest.
var pytestCommand = regexp.MustCompile(`(?:^|[\s;&|(])(?:\S*/)?(?:pytest|py\.test)(?:[\s;&|)]|$)`)

// witnessed reports whether pytest can be asked for a report of its own beside the log:
// it is the one thing that the command runs, and the command says nothing about reports
// or options from the environment. The report is what text in the log cannot forge, and
// what a process that ends itself early never writes.
func witnessed(command, parserName string) bool {
	parserName = strings.TrimPrefix(parserName, "parse_log_")
	if !strings.HasPrefix(parserName, "pytest") && parserName != "matplotlib" {
		return false
	}
	for _, own := range []string{"junit", "PYTEST_ADDOPTS", "env -i", "tox"} {
		if strings.Contains(command, own) {
			return false
		}
	}
	return len(pytestCommand.FindAllString(command, 2)) == 1
}

// report is what a JUnit report says of each test, by its plain name.
type report struct {
	clean   map[string]bool // passed, or failed as expected, and nothing else
	stained map[string]bool // failed, broke or was skipped at least once
	skipped map[string]bool // was skipped at least once
	text    []byte
}

// readReport reads the report at path. It is nil where the container's failure is why it
// cannot be read. One that is absent, broken or longer than maxReport bears nothing out.
func (s *stage) readReport(ctx context.Context, path string) *report {
	data, size, err := s.sandbox.ReadFile(ctx, path, maxReport)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, envs.ErrNotRegular):
		data = nil
	case err != nil:
		return nil
	case size > maxReport:
		data = nil
	}
	return parseReport(data)
}

// confirm takes back every success, and every skip, that the report does not bear out: such
// a test counts as absent.
func (r *report) confirm(o outcomes) {
	for id, status := range o {
		name := plainName(id)
		if (status.Passed() && !r.clean[name]) || (status == relabel.TestSkipped && !r.skipped[name]) {
			delete(o, id)
		}
	}
}

// agrees reports whether the report has a canary as it must end.
func (r *report) agrees(c canaryTest) bool {
	where := r.stained
	if c.status.Passed() {
		where = r.clean
	}
	name := plainName(c.name)
	for reported := range where {
		before, ok := strings.CutSuffix(reported, name)
		if ok && (before == "" || before[len(before)-1] == '.') {
			return true
		}
	}
	return false
}

// parseReport reads a JUnit report. A broken one bears nothing out.
func parseReport(data []byte) *report {
	r := &report{clean: map[string]bool{}, stained: map[string]bool{}, skipped: map[string]bool{}, text: data}
	d := xml.NewDecoder(bytes.NewReader(data))
	d.Strict = false
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return &report{}
		}
		start, ok := t.(xml.StartElement)
		if !ok || start.Name.Local != "testcase" {
			continue
		}
		var c testCase
		if d.DecodeElement(&c, &start) != nil {
			return &report{}
		}
		r.add(c)
	}
	for name := range r.stained {
		delete(r.clean, name)
	}
	return r
}

// add notes one test.
func (r *report) add(c testCase) {
	name := plainName(c.Class + "." + c.Name)
	r.clean[name] = true
	if c.Skipped != nil {
		r.skipped[name] = true
	}
	if c.Failure != nil || c.Error != nil || (c.Skipped != nil && c.Skipped.Type != "pytest.xfail") {
		r.stained[name] = true
	}
}

// testCase is one test of a JUnit report.
type testCase struct {
	Class   string    `xml:"classname,attr"`
	Name    string    `xml:"name,attr"`
	Failure *struct{} `xml:"failure"`
	Error   *struct{} `xml:"error"`
	Skipped *struct {
		Type string `xml:"type,attr"`
	} `xml:"skipped"`
}

// plainName writes a test's name so that the id of the log (tests/test_a.py::T::test_b)
// and class and name of the report (tests.test_a.T, test_b) come out the same. The
// report escapes characters that XML cannot hold, which are left out here.
func plainName(id string) string {
	id = mouseButtons.Replace(id)
	id = strings.NewReplacer(".py::", ".", ".py.", ".", "::()::", ".", "::", ".", "/", ".", `\`, ".").Replace(id)
	return xmlEscape.ReplaceAllString(strings.Map(printable, id), "")
}

var xmlEscape = regexp.MustCompile(`#x[0-9A-F]{2,4}`)

func printable(r rune) rune {
	if r <= ' ' || r == 0x7F || r == '\uFFFD' {
		return -1
	}
	return r
}

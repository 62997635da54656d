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

// confirm takes back every success that the report at path does not bear out: such a
// test counts as absent. It returns false where the report cannot be read for reasons
// of the container.
func (s *stage) confirm(ctx context.Context, path string, o outcomes) bool {
	data, size, err := s.sandbox.ReadFile(ctx, path, maxReport)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		data = nil
	case err != nil:
		return false
	case size > maxReport:
		return true
	}
	clean := cleanCases(data)
	for id, status := range o {
		if (status == relabel.TestPassed || status == relabel.TestXFail) && !clean[plainName(id)] {
			delete(o, id)
		}
	}
	return true
}

// cleanCases returns the plain names of the tests that a JUnit report calls passed, or
// failed as expected. A broken report counts up to where it breaks.
func cleanCases(report []byte) map[string]bool {
	clean, stained := map[string]bool{}, map[string]bool{}
	d := xml.NewDecoder(bytes.NewReader(report))
	d.Strict = false
	for {
		t, err := d.Token()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				return map[string]bool{}
			}
			break
		}
		start, ok := t.(xml.StartElement)
		if !ok || start.Name.Local != "testcase" {
			continue
		}
		var c testCase
		if d.DecodeElement(&c, &start) != nil {
			return map[string]bool{}
		}
		name := plainName(c.Class + "." + c.Name)
		clean[name] = true
		if c.Failure != nil || c.Error != nil || (c.Skipped != nil && c.Skipped.Type != "pytest.xfail") {
			stained[name] = true
		}
	}
	for name := range stained {
		delete(clean, name)
	}
	return clean
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

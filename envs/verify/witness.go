package verify

import (
	"context"
	"errors"
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

// plainName writes a test's name so that the id of the log (tests/test_a.py::T::test_b)
// and class and name of the report (tests.test_a.T, test_b) come out the same. The
// report escapes characters that XML cannot hold, which are left out here.
func plainName(id string) string {
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

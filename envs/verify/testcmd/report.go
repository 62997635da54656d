package testcmd

import (
	"path"
	"strings"

	"relabel/testlog"
)

// reportOption is how a program is asked for a report.
type reportOption struct {
	program   string
	arguments func(file string) []string
	conflicts []string // options with which it is not asked
	needs     []string // without one of these, the report would take the place of the log
}

// reportOptions are the runners that write a report to a file by an option.
var reportOptions = map[testlog.Runner]reportOption{
	testlog.PHPUnit: {"phpunit", func(file string) []string { return []string{"--log-junit", file} }, []string{"--log-junit", "--no-logging"}, nil},
	testlog.CTest:   {"ctest", func(file string) []string { return []string{"--output-junit", file} }, []string{"--output-junit", "--build-and-test", "-N"}, nil},
	testlog.RSpec: {"rspec", func(file string) []string { return []string{"--format", "json", "--out", file} },
		[]string{"--out", "-o"}, []string{"--format", "-f", "-fd", "-fp"}},
}

// collectReports is a shell function for reports that a runner writes into folders of the build.
// The first call removes earlier ones.
const collectReports = `relabel_reports() { find . -name 'TEST-*.xml' '(' -path '*/surefire-reports/*' -o -path '*/failsafe-reports/*' -o -path '*/test-results/*' ')' "$@"; }
`

// ReportCommand returns the command with which a runner also writes a report at file. ok is false if
// the command does not end with one call of the runner, or requests a report itself. Maven and
// Gradle write reports by themselves.
func ReportCommand(runner testlog.Runner, command, file string) (reporting string, ok bool) {
	switch runner {
	case testlog.GTest:
		return "export GTEST_OUTPUT=xml:" + file + "\n" + command, !strings.Contains(command, "GTEST_OUTPUT") && !strings.Contains(command, "gtest_output")
	case testlog.Maven, testlog.Gradle:
		return collectReports + "relabel_reports -delete\n( " + command + "\n)\nrelabel_code=$?\n" +
			"{ relabel_reports -exec cat {} + >" + file + "; } 2>/dev/null\n( exit $relabel_code )", true
	}
	option, known := reportOptions[runner]
	if !known {
		return "", false
	}
	call, found := FindCall(command, func(words []Word, at int) bool { return path.Base(words[at].Text) == option.program })
	if !found || !call.Alone || call.Has(setOf(option.conflicts)) || len(option.needs) > 0 && !call.Has(setOf(option.needs)) {
		return "", false
	}
	return call.With(option.arguments(file)...), true
}

func setOf(names []string) map[string]bool {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = true
	}
	return set
}

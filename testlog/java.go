package testlog

import (
	"regexp"
	"strings"

	"relabel"
)

var (
	mavenTest  = regexp.MustCompile(`^.*-Dtest=(\S+).*$`)
	mavenBuild = regexp.MustCompile(`^.*BUILD (SUCCESS|FAILURE)$`)
	javaWords  = map[string]relabel.TestStatus{
		"SUCCESS": relabel.TestPassed, "FAILURE": relabel.TestFailed,
		"PASS": relabel.TestPassed, "FAIL": relabel.TestFailed, "ERR": relabel.TestFailed,
		"PASSED": relabel.TestPassed, "FAILED": relabel.TestFailed, "SKIPPED": relabel.TestSkipped,
	}
)

// parseMaven reads the logs of several calls of Maven with a test each: the shell's trace shows the
// option -Dtest, and the build succeeds or fails. The first call without a result has the next one.
func parseMaven(log []byte) Outcomes {
	o := Outcomes{}
	var tests, results []string
	for line := range logLines(log) {
		line = trim(line)
		if m := mavenTest.FindStringSubmatch(line); m != nil {
			tests = append(tests, m[1])
		}
		m := mavenBuild.FindStringSubmatch(line)
		switch {
		case m == nil:
		case len(tests) > 0:
			o.add(tests[0], javaWords[m[1]])
			tests = tests[1:]
		case len(results) < maxOutcomes:
			results = append(results, m[1])
		}
	}
	for i := range min(len(tests), len(results)) {
		o.add(tests[i], javaWords[results[i]])
	}
	return o
}

// Lines of Surefire 2 and 3: the total of a class, and a test that failed.
var (
	surefireClass = regexp.MustCompile(`Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+), Time elapsed: .*? --? in (\S+)$`)
	surefireTest  = regexp.MustCompile(`^(?:\[ERROR\] +)?(?:(\w+)(?:\[.*\])?\(([\w.$]+)\)|([\w.$]+)\.(\w+)(?:\[.*\]|\(.*\))?) +(?:-- )?Time elapsed: .*? +<<< (FAILURE|ERROR)!$`)
)

// parseSurefire reads the log of Maven's Surefire and Failsafe. They write totals of classes and
// failed tests, so a test is a class, or CLASS.METHOD if it failed.
func parseSurefire(log []byte) Outcomes {
	o := Outcomes{}
	for line := range logLines(log) {
		line = trim(line)
		if m := surefireClass.FindStringSubmatch(line); m != nil {
			switch {
			case m[2] != "0" || m[3] != "0":
				o.add(m[5], relabel.TestFailed)
			case m[1] == m[4]:
				o.add(m[5], relabel.TestSkipped)
			default:
				o.add(m[5], relabel.TestPassed)
			}
		} else if m := surefireTest.FindStringSubmatch(line); m != nil {
			status := relabel.TestFailed
			if m[5] == "ERROR" {
				status = relabel.TestError
			}
			o.add(m[2]+m[3]+"."+m[1]+m[4], status)
		}
	}
	return o
}

var antResult = regexp.MustCompile(`^\[junit\]\s+\[(PASS|FAIL|ERR)\]\s+(.*)$`)

// parseAnt reads the log of Ant's JUnit task with a word in brackets before each test.
func parseAnt(log []byte) Outcomes { return markedLines(log, antResult, javaWords) }

var (
	gradleResult = regexp.MustCompile(`^([^>].+)\s+(PASSED|FAILED)$`)
	gradleSkip   = regexp.MustCompile(`^([^>]\S*\s+>\s+.+)\s+SKIPPED$`)
	gradleTest   = regexp.MustCompile(`^[^>]\S*\s+>\s+\S+$`)
)

// gradleTask matches a task of the build, with its outcome unless it ran without failure.
var gradleTask = regexp.MustCompile(`^> Task (:\S+)(?: (UP-TO-DATE|FROM-CACHE|FAILED|SKIPPED|NO-SOURCE))?$`)

// parseGradle reads the log of Gradle with its test events, as parseGradleCustom, skipped tests, and
// the tasks of the build, which some data sets name, with and without their first colon.
func parseGradle(log []byte) Outcomes {
	o := parseGradleCustom(log)
	for line := range logLines(log) {
		line = trim(line)
		if m := gradleSkip.FindStringSubmatch(line); m != nil {
			o.add(m[1], relabel.TestSkipped)
		}
		m := gradleTask.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		status := relabel.TestPassed
		switch m[2] {
		case "FAILED":
			status = relabel.TestFailed
		case "SKIPPED", "NO-SOURCE":
			status = relabel.TestSkipped
		}
		o.add(m[1], status)
		o.add(m[1][1:], status)
	}
	return o
}

// parseGradleCustom reads test events of Gradle: "Class > test PASSED". Output of other processes may
// separate a test from its status. Skipped tests are absent, as in data sets.
func parseGradleCustom(log []byte) Outcomes {
	o := Outcomes{}
	waiting := ""
	for line := range logLines(log) {
		line = trim(line)
		if m := gradleResult.FindStringSubmatch(line); m != nil {
			o.add(m[1], javaWords[m[2]])
			waiting = ""
		} else if gradleTest.MatchString(line) {
			waiting = line
		} else if status, ok := gradleWord(line); ok && waiting != "" {
			o.add(waiting, status)
			waiting = ""
		}
	}
	return o
}

// gradleWord returns the status that a line consists of.
func gradleWord(line string) (relabel.TestStatus, bool) {
	if line != "PASSED" && line != "FAILED" {
		return "", false
	}
	return javaWords[line], true
}

var ctestResult = regexp.MustCompile(`^\d+/\d+ Test\s+#\d+: (.+?) \.*\s*(Passed|\*\*\*[A-Z].*?)\s+[\d.]+ sec$`)

// cmakeCheck matches a check of the compiler when CMake configures a build.
var cmakeCheck = regexp.MustCompile(`^-- Performing Test (.+) - (Success|Failed)$`)

var cmakeWords = map[string]relabel.TestStatus{"Success": relabel.TestPassed, "Failed": relabel.TestFailed}

// parseCTest reads the log of ctest, and CMake's checks of the compiler, which some data sets name.
func parseCTest(log []byte) Outcomes {
	o := Outcomes{}
	for line := range logLines(log) {
		if m := cmakeCheck.FindStringSubmatch(trim(line)); m != nil {
			o.add(m[1], cmakeWords[m[2]])
		}
		m := ctestResult.FindStringSubmatch(trim(line))
		switch {
		case m == nil:
		case m[2] == "Passed":
			o.add(m[1], relabel.TestPassed)
		case strings.HasPrefix(m[2], "***Skipped"), strings.HasPrefix(m[2], "***Not Run (Disabled)"):
			o.add(m[1], relabel.TestSkipped)
		case strings.HasPrefix(m[2], "***Failed"), strings.HasPrefix(m[2], "***Timeout"):
			o.add(m[1], relabel.TestFailed)
		default:
			o.add(m[1], relabel.TestError)
		}
	}
	return o
}

// dotnetResult matches a result of VSTest's console and its duration.
var dotnetResult = regexp.MustCompile(`^(Passed|Failed|Skipped)\s+(\S.*?)(?:\s+\[<?\s*[\d., ]+\s*(?:ms|s|m|h)\b.*\])?$`)

// parseDotNet reads the log of dotnet test at verbosity normal.
func parseDotNet(log []byte) Outcomes {
	words := map[string]relabel.TestStatus{"Passed": relabel.TestPassed, "Failed": relabel.TestFailed, "Skipped": relabel.TestSkipped}
	return markedLines(log, dotnetResult, words)
}

package testlog

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"

	"relabel"
)

// nativeWords are the words before tests in the logs of programs in C.
var nativeWords = map[string]relabel.TestStatus{
	"ok": relabel.TestPassed, "err": relabel.TestFailed, "skip": relabel.TestSkipped, "ignore": relabel.TestSkipped,
	"pass": relabel.TestPassed, "PASS": relabel.TestPassed, "FAIL": relabel.TestFailed,
	"OK": relabel.TestPassed, "FAILED": relabel.TestFailed,
}

var (
	redisResult = regexp.MustCompile(`^\[(ok|err|skip|ignore)\]:\s(.+?)(?:\s\(\d+\s*m?s\))?$`)
	redisFile   = regexp.MustCompile(`\s+in\s+\S+$`)
)

// parseRedis reads the log of Redis's own runner. A failed test has its file after its name.
func parseRedis(log []byte) Outcomes {
	o := Outcomes{}
	for line := range logLines(log) {
		m := redisResult.FindStringSubmatch(trim(line))
		if m == nil {
			continue
		}
		if m[1] == "err" {
			m[2] = redisFile.ReplaceAllString(m[2], "")
		}
		o.add(m[2], nativeWords[m[1]])
	}
	return o
}

var jqResult = regexp.MustCompile(`^(PASS|FAIL):\s(.+)$`)

// parseJQ reads the log of Automake's tests.
func parseJQ(log []byte) Outcomes { return markedLines(log, jqResult, nativeWords) }

var microPythonResult = regexp.MustCompile(`^(pass|FAIL|skip)\s+(.+)$`)

// parseMicroPython reads the log of MicroPython's own runner.
func parseMicroPython(log []byte) Outcomes { return markedLines(log, microPythonResult, nativeWords) }

var googleTestResult = regexp.MustCompile(`^.*\[\s*(OK|FAILED)\s*\]\s(.*)\s\(.*\)$`)

// parseGoogleTest reads the log of GoogleTest.
func parseGoogleTest(log []byte) Outcomes { return markedLines(log, googleTestResult, nativeWords) }

// parseDoctest reads the first XML report of doctest (C++) in a log. A test is a test case and a
// part of it, which passed if all of its assertions did.
func parseDoctest(log []byte) Outcomes {
	n := namer{Outcomes: Outcomes{}}
	text := plainText(log)
	_, report, found := strings.Cut(text, "<doctest")
	end := strings.Index(report, "</doctest>")
	if !found || end < 0 {
		return n.Outcomes
	}
	parts, err := readDoctest("<doctest" + report[:end] + "</doctest>")
	if err != nil {
		return n.Outcomes
	}
	for _, part := range parts {
		status := relabel.TestPassed
		if part.failed {
			status = relabel.TestFailed
		}
		n.add([]string{part.test}, " > ", part.name, status)
	}
	return n.Outcomes
}

// doctestPart is a part of a test case.
type doctestPart struct {
	test, name string
	failed     bool
}

// maxDoctestDepth limits the elements within each other.
const maxDoctestDepth = 64

var errDoctestDepth = errors.New("the report has too many elements within each other")

// readDoctest reads a report.
func readDoctest(report string) ([]doctestPart, error) {
	var parts []doctestPart
	var open []int // for each open element, its part, or -1
	test := ""
	decoder := xml.NewDecoder(strings.NewReader(report))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return parts, nil
		}
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			part := -1
			switch t.Name.Local {
			case "TestCase":
				test = xmlAttribute(t, "name")
			case "SubCase":
				part = len(parts)
				parts = append(parts, doctestPart{test: test, name: xmlAttribute(t, "name")})
			case "Expression":
				failParts(parts, open, xmlAttribute(t, "success") != "true")
			}
			if open = append(open, part); len(open) > maxDoctestDepth {
				return nil, errDoctestDepth
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		}
	}
}

// failParts notes a failed assertion in the parts around it.
func failParts(parts []doctestPart, open []int, failed bool) {
	for _, part := range open {
		if part >= 0 && failed {
			parts[part].failed = true
		}
	}
}

// attributeSpaces normalises the white space of attributes, which encoding/xml does not.
var attributeSpaces = strings.NewReplacer("\n", " ", "\t", " ", "\r", " ")

// xmlAttribute returns an attribute's value; "" without it.
func xmlAttribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return attributeSpaces.Replace(a.Value)
		}
	}
	return ""
}

// Package testlog reads the logs of test runners: which tests they name, and how each ended.
//
// The names of tests are those of the public data sets, which are the names that swebench 5.0.2
// reads from the same logs. docs/log-parsers.md lists the parsers and their differences to it.
package testlog

import (
	"slices"
	"strings"
)

// Runner is the program that runs the tests, and the form of its log.
type Runner string

// Runners with canaries, reports or settings of their own in the verifier.
const (
	Pytest   Runner = "pytest"
	Unittest Runner = "unittest"
	SymPy    Runner = "sympy"
	Go       Runner = "go"
	Jest     Runner = "jest"
	Vitest   Runner = "vitest"
	Node     Runner = "node" // other runners on Node.js and in browsers
	Cargo    Runner = "cargo"
	Maven    Runner = "maven"
	Gradle   Runner = "gradle"
	Ant      Runner = "ant"
	PHPUnit  Runner = "phpunit"
	RSpec    Runner = "rspec"
	Ruby     Runner = "ruby" // Minitest, test-unit, Cucumber
	CTest    Runner = "ctest"
	GTest    Runner = "googletest"
	DotNet   Runner = "dotnet"
	Other    Runner = "other"
)

// OnNode reports whether the runner runs on Node.js.
func (r Runner) OnNode() bool { return r == Jest || r == Vitest || r == Node }

// Parser reads the logs of a runner.
type Parser struct {
	Name   string // as tasks store it
	Runner Runner
	parse  func(log []byte) Outcomes
}

// Parse reads a log, which may be any bytes. It takes time in proportion to the log.
func (p Parser) Parse(log []byte) Outcomes { return p.parse(log) }

// parsers are all parsers. A new one needs a line here, a log in testdata, and a line in
// docs/log-parsers.md.
var parsers = []Parser{
	{"pytest", Pytest, parsePytest},
	{"pytest_v2", Pytest, parsePytestV2},
	{"pytest_options", Pytest, parsePytestOptions},
	{"matplotlib", Pytest, parseMatplotlib},
	{"unittest", Unittest, parseUnittest},
	{"django", Unittest, parseUnittest},
	{"sympy", SymPy, parseSympy},
	{"gotest", Go, parseGoTest},
	{"gotest_json", Go, parseGoJSON},
	{"cargo", Cargo, parseCargo},
	{"nextest", Cargo, parseNextest},
	{"jest", Jest, parseJest},
	{"vitest", Vitest, parseVitest},
	{"jest_json", Node, parseJestJSON},
	{"jest_files", Node, parseJestFiles},
	{"jest_titles", Node, parseJestTitles},
	{"calypso", Node, parseCalypso},
	{"grommet", Node, parseGrommet},
	{"mocha", Node, parseMocha},
	{"mocha_json", Node, parseMochaJSON},
	{"prismjs", Node, parsePrism},
	{"highlightjs", Node, parseHighlight},
	{"lighthouse_mocha", Node, parseLighthouseMocha},
	{"lighthouse_json", Node, parseLighthouseJSON},
	{"eslint", Node, parseESLint},
	{"karma", Node, parseKarma},
	{"bpmn_js", Node, parseBPMN},
	{"chart_js", Node, parseChart},
	{"openlayers", Node, parseOpenLayers},
	{"next_v1", Node, parseNextV1},
	{"next_v2", Node, parseNextV2},
	{"marked", Node, parseMarked},
	{"p5js", Node, parseP5},
	{"quarto_cli", Node, parseQuarto},
	{"tap", Node, parseTAP},
	{"ava", Node, parseAVA},
	{"maven", Maven, parseMaven},
	{"surefire", Maven, parseSurefire},
	{"ant", Ant, parseAnt},
	{"gradle_custom", Gradle, parseGradleCustom},
	{"gradle", Gradle, parseGradle},
	{"phpunit", PHPUnit, parsePHPUnit},
	{"rspec", RSpec, parseRSpec},
	{"rspec_transformed_json", RSpec, parseRSpecLines},
	{"minitest", Ruby, parseMinitest},
	{"ruby_unit", Ruby, parseRubyUnit},
	{"cucumber", Ruby, parseCucumber},
	{"ctest", CTest, parseCTest},
	{"googletest", GTest, parseGoogleTest},
	{"doctest", Other, parseDoctest},
	{"redis", Other, parseRedis},
	{"jq", Other, parseJQ},
	{"micropython_test", Other, parseMicroPython},
	{"dotnet", DotNet, parseDotNet},
	{"r2egym", Other, parseR2EGym},
	{"testsjson", Other, parseTestsJSON},
}

// aliases are further names of parsers. Data sets name many after a repository.
var aliases = map[string]string{
	"astroid": "pytest", "flask": "pytest", "marshmallow": "pytest", "pvlib": "pytest",
	"pyvista": "pytest", "sqlfluff": "pytest", "xarray": "pytest",
	"pydicom": "pytest_options", "requests": "pytest_options", "pylint": "pytest_options",
	"seaborn": "pytest_v2", "astropy": "pytest_v2", "scikit": "pytest_v2", "sphinx": "pytest_v2", "tox": "pytest_v2",
	"nose":   "unittest",
	"carbon": "jest_files", "react_pdf": "jest_files",
	"jasmine": "marked",
}

// Find returns the parser of a name, which may begin with parse_log_.
func Find(name string) (Parser, bool) {
	name = strings.TrimPrefix(name, "parse_log_")
	if of, ok := aliases[name]; ok {
		name = of
	}
	at := slices.IndexFunc(parsers, func(p Parser) bool { return p.Name == name })
	if at < 0 {
		return Parser{}, false
	}
	return parsers[at], true
}

// Names are the names of all parsers, in the order of their runners, without aliases.
func Names() []string {
	var names []string
	for _, p := range parsers {
		names = append(names, p.Name)
	}
	return names
}

// versions are the names that stand for several parsers: the version of a task, or the number at
// the end of its id, with the hyphen before it, decides. "" stands for the others.
var versions = map[string]map[string]string{
	"next":         {"1.27": "next_v2", "": "next_v1"},
	"lighthouse":   {"9.5": "lighthouse_mocha", "10.0": "lighthouse_mocha", "10.2": "lighthouse_mocha", "1": "lighthouse_json", "2": "lighthouse_json", "": "jest_files"},
	"jekyll":       {"-9141": "minitest", "-8047": "minitest", "-8167": "minitest", "-8761": "cucumber", "-8771": "cucumber"},
	"immutable_js": {"-2006": "jest", "-2005": "jest_json"},
}

// FindFor returns the parser of a name for a task with this id and version. Some names of data sets
// stand for several parsers.
func FindFor(name, instanceID, version string) (Parser, bool) {
	of, several := versions[strings.TrimPrefix(name, "parse_log_")]
	if !several {
		return Find(name)
	}
	number := instanceID[max(strings.LastIndexByte(instanceID, '-'), 0):]
	major, _, _ := strings.Cut(version, ".")
	for _, key := range []string{version, major, number, ""} {
		if chosen, ok := of[key]; ok {
			return Find(chosen)
		}
	}
	return Parser{}, false
}

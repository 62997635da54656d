package verify

import (
	"strings"
	"testing"

	"relabel"
)

func TestJestAndVitestAreAskedForAReportWhereTheyCanBe(t *testing.T) {
	read := func(name string) ([]byte, bool) {
		return []byte(`{"scripts": {"test": "CI=1 jest --verbose", "unit": "vitest run --reporter verbose", "all": "jest && eslint .", "quiet": "vitest run"}}`),
			name == "package.json" || name == "packages/a/package.json"
	}
	const jest, vitest = " --json --outputFile=/tmp/r.json", " --reporter=json --outputFile.json=/tmp/r.json"
	for command, added := range map[string]string{
		"npx jest --verbose":                               jest,
		"CI=1 node_modules/.bin/jest test/a.test.js 2>&1":  jest,
		"node ./node_modules/jest/bin/jest.js":             jest,
		"npm test -- --verbose":                            jest,
		"npm test":                                         " --" + jest,
		"cd packages/a && npm run test":                    " --" + jest,
		"yarn test --verbose":                              jest,
		"yarn jest":                                        jest,
		"npx vitest run --reporter=verbose":                vitest,
		"pnpm run unit":                                    vitest,
		"npx vitest run":                                   "",
		"npm run quiet":                                    "",
		"npm run all":                                      "",
		"npm run absent":                                   "",
		"npx jest; true":                                   "",
		"npx jest a && npx jest b":                         "",
		"npx jest --json":                                  "",
		"npx jest --outputFile=x":                          "",
		"npx vitest run --reporter=verbose,json":           "",
		"make test":                                        "",
		"npx jest -c jest.js test":                         jest,
		"npx vitest run --reporter=json --reporter=verbos": "",
	} {
		got, ok := nodeReportCommand(command, "/tmp/r.json", read)
		if ok != (added != "") {
			t.Errorf("%s: %v %s", command, ok, got)
			continue
		}
		want := strings.TrimSuffix(command, " 2>&1") + added
		if ok && strings.NewReplacer(" 2>&1", "", "'", "").Replace(got) != want {
			t.Errorf("%s became %s, want %s", command, got, want)
		}
	}
}

const nodeReported = `{"testResults": [
	{"name": "/testbed/test/a.test.js", "assertionResults": [
		{"ancestorTitles": ["", "math"], "title": "adds", "status": "passed"}, {"ancestorTitles": ["math"], "title": "fails", "status": "failed"},
		{"ancestorTitles": ["more"], "title": "twice", "status": "passed"}, {"ancestorTitles": [], "title": "waits", "status": "pending"},
		{"ancestorTitles": [], "title": "of 7", "status": "passed"}, {"ancestorTitles": [], "title": "canary", "status": "failed"}]},
	{"name": "/testbed/test/b.test.js", "assertionResults": [{"ancestorTitles": [], "title": "twice", "status": "failed"}]}]}`

func TestAReportOfJestOrVitestBearsOutWhatTheLogSays(t *testing.T) {
	r := parseNodeReport([]byte(nodeReported), "/testbed")
	planted := &planting{canaries: []canaryTest{{name: "canary", status: relabel.TestFailed}}}
	for id, agrees := range map[string]bool{
		"adds": true, "math > adds": true, "test/a.test.js > math > adds": true, "test/b.test.js > math > adds": false,
		"fails": false, "waits": false, "absent": false,
		"more > twice": true, "twice": false,
	} {
		o := outcomes{id: relabel.TestPassed, "canary": relabel.TestFailed}
		if m, differs := r.miss(relabel.Task{FailToPass: []string{id}}, o, planted); differs == agrees || (differs && m.key != reportKey) {
			t.Errorf("%s: %+v", id, m)
		}
	}
	o := outcomes{"adds": relabel.TestPassed, "canary": relabel.TestPassed}
	planted.canaries[0].status = relabel.TestPassed
	if _, differs := r.miss(relabel.Task{FailToPass: []string{"adds"}}, o, planted); !differs {
		t.Error("the report has the canary as failed")
	}
	for _, broken := range []string{"", "{", "[]", "null", `{"testResults": [{"name": 1}]}`} {
		if _, differs := parseNodeReport([]byte(broken), "/testbed").miss(relabel.Task{FailToPass: []string{"adds"}}, o, nil); !differs {
			t.Errorf("%q bears a test out", broken)
		}
	}
}

func TestTestsOfJestAreCountedByTitlesThatStandInTheFile(t *testing.T) {
	r := parseNodeReport([]byte(nodeReported), "/testbed")
	planted := &planting{
		files: []plantedFile{
			{path: "test/a.test.js", content: "test('adds'); test(\"fails\"); test(`twice`); test.each([7])('of %d'); test('waits'); test('canary'); // of 7"},
			{path: "test/__snapshots__/a.test.js.snap"}, {path: "test/c.test.js", content: "test('c')"},
		},
		canaries: []canaryTest{{name: "canary"}},
	}
	if got := r.count(planted); len(got) != 2 || got["test/a.test.js"] != 4 || got["test/c.test.js"] != 0 {
		t.Errorf("%v", got)
	}
}

func TestTestsOfGoAreCountedByPackagesWithCanaries(t *testing.T) {
	o := outcomes{
		"TestA": relabel.TestPassed, "example.com/a:TestA": relabel.TestPassed, "example.com/a:TestA/one": relabel.TestPassed, "example.com/a:TestB": relabel.TestSkipped,
		"example.com/a:TestCanary": relabel.TestFailed, "example.com/b:TestA": relabel.TestPassed,
	}
	if got := countGo(o, &planting{canaries: []canaryTest{{name: "TestCanary"}}}); len(got) != 1 || got["example.com/a"] != 2 {
		t.Errorf("%v", got)
	}
}

func TestAFailureIsNotExplainedWhereTheReportMayBeWhy(t *testing.T) {
	failed, passed := trial{reported: true}, trial{reported: true, missed: []miss{{reportKey, "the report differs"}}}
	passed.verdict.Passed = true
	left := goldFact{takes: true, left: map[string]bool{reportKey: true}}
	if left.explains(failed) || !left.explains(passed) {
		t.Errorf("failed %v, passed %v", left.explains(failed), left.explains(passed))
	}
	if kept := (goldFact{takes: true}); !kept.explains(failed) || kept.explains(passed) {
		t.Error("a report that the task can write is no reason")
	}
}

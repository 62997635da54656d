package testcmd

import (
	"strings"
	"testing"
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
		got, ok := NodeReportCommand(command, "/tmp/r.json", read)
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

package protect

import (
	"slices"
	"testing"

	"relabel"
	"relabel/envs/verify/tree"
)

func TestFilesThatARunnersConfigurationChoosesAreTests(t *testing.T) {
	files := []string{"checks/add.js", "checks/deep/add.check.ts", "src/add-test.js", "src/add.js", "src/deep/a.tsx", "lib/add.js"}
	for config, want := range map[string][]string{
		`module.exports = { testMatch: ['<rootDir>/checks/*.js'] }`:                                         {"checks/add.js"},
		`{"jest": {"testMatch": ["**/checks/**/*.[jt]s?(x)"]}}`:                                             {"checks/add.js", "checks/deep/add.check.ts"},
		`module.exports = { testMatch: ["**/?(*.)+(check).ts", "**/*-{test,spec}.js"] }`:                    {"checks/deep/add.check.ts", "src/add-test.js"},
		`module.exports = { testMatch: ["!**/checks/**", "**/*-@(test|spec).js"] }`:                         {"src/add-test.js"},
		`{"jest": {"testRegex": "(/checks/.*|-test)\\.jsx?$"}}`:                                             {"checks/add.js", "src/add-test.js"},
		`module.exports = { testRegex: ['/checks/[^/]+\\.js$', "x"] }`:                                      {"checks/add.js", "src/deep/a.tsx"},
		`export default defineConfig({ test: { globals: true, include: ['checks/**/*.[jt]s', 'x*'] } })`:    {"checks/add.js", "checks/deep/add.check.ts"},
		`export default { test: { coverage: { include: ['src/**'] } }, optimizeDeps: { include: ['**'] } }`: nil,
		`module.exports = { testMatch: ["**/*.js"] }`:                                                       nil, // the gold patch changes such a file
		`module.exports = { testRegex: "(" , testMatch: ["a)("] }`:                                          nil,
	} {
		p := protectionOf(relabel.Task{Patch: patchOf("lib/add.js"), LogParser: "jest", TestCmd: "jest"}, edits(files))
		p.chosen = nodeTestPatterns([]byte(config))
		var got []string
		for _, file := range files {
			if p.reason(tree.Change{Path: file, OldMode: "100644", NewMode: "100644"}) != "" {
				got = append(got, file)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", config, got, want)
		}
	}
}

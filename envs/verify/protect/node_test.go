package protect

import (
	"slices"
	"testing"

	"relabel/envs/verify/tree"
	"relabel/testlog"
)

func TestFilesThatSteerNodeAreKnown(t *testing.T) {
	for _, name := range []string{
		"package.json", "packages/a/package.json", ".npmrc", ".yarnrc.yml", "jest.config.js", "test/jest.config.mjs", "jest.setup.ts", "jest-setup.js",
		"vitest.config.mts", "vitest.workspace.json", "vite.config.js", "vite.config.test.ts", "babel.config.cjs", ".babelrc", "src/.babelrc.json", ".swcrc",
		"tsconfig.json", "tsconfig.test.json", "postcss.config.cjs", ".postcssrc.js", "setupTests.js", "node_modules/a/index.js", "test/node_modules/a/index.js",
		"__mocks__/fs.js", "src/__mocks__/a.ts", "src/__tests__/helper.js", "test/__snapshots__/a.test.js.snap", "a.spec.tsx", ".yarn/releases/yarn.cjs",
	} {
		if nodeSteering(name) == "" {
			t.Errorf("%s is let through", name)
		}
	}
	for _, name := range []string{
		"src/index.js", "src/config.js", "lib/jest.js", "src/vite.ts", "src/babel/transform.js", "src/package.ts", "src/setup.js", "docs/package.md",
		"src/snapshots/a.js", "src/mocks/a.js", "src/testing.js", "package-lock.json", "src/environment.ts", "src/setupConfig.ts",
	} {
		if why := nodeSteering(name); why != "" {
			t.Errorf("%s is dropped: %s", name, why)
		}
	}
}

func TestFilesThatSteerTheGoCommandAreKnown(t *testing.T) {
	p := protection{runner: testlog.Go}
	for _, name := range []string{"go.mod", "sub/go.mod", "go.sum", "go.work", "vendor/a/b.go", "sub/vendor/modules.txt", "a_test.go", "x/rsrc.syso"} {
		if p.steersGo(tree.Change{Path: name}) == "" {
			t.Errorf("%s is let through", name)
		}
	}
	for _, name := range []string{"calc.go", "vendors/a.go", "internal/vendored.go", "mod/go.modern", "cmd/main.go", "testdata/x.txt", "gotest.go"} {
		if why := p.steersGo(tree.Change{Path: name}); why != "" {
			t.Errorf("%s is dropped: %s", name, why)
		}
	}
}

func TestModulesThatAConfigurationNamesAreFound(t *testing.T) {
	for config, want := range map[string][]string{
		`module.exports = { setupFiles: ['<rootDir>/test/setup.js', "./a/b.ts"], testEnvironment: 'node' };`: {"test/setup.js", "a/b.ts"},
		`{"jest": {"globalSetup": "./up.js", "transform": {"\\.ts$": "<rootDir>/t.js"}}}`:                    {"up.js", "t.js"},
		`export default { test: { environment: './env.ts', reporters: ['default', './r.js'] } }`:             {"env.ts", "r.js"},
		`export default { build: { lib: { entry: './src/index.js' } }, root: './app' }`:                      nil,
		`module.exports = { setupFiles: ['./../outside.js', './.git/x.js'] }`:                                nil,
	} {
		if got := nodeSetupFiles([]byte(config)); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", config, got, want)
		}
	}
}

func TestProgramsOfScriptsThatTheTestCommandReaches(t *testing.T) {
	const file = `{"scripts": {"test": "eslint src/index.js && node scripts/test.js --verbose", "pretest": "./prepare", "build": "node build.js"}}`
	got := nodePrograms([]byte(file), "npm test -- --verbose")
	slices.Sort(got)
	if want := []string{"prepare", "scripts/test.js"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

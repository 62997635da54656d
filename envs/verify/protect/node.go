package protect

import (
	"context"
	"path"
	"regexp"
	"strings"

	"relabel/envs/verify/testcmd"
	"relabel/envs/verify/tree"
)

var (
	// nodeSettings are names of files that configure Node.js package managers, test runners
	// and the programs that these load into their own process: bundlers and compilers.
	nodeSettings = regexp.MustCompile(`^(package\.json|\.npmrc|\.yarnrc(\.ya?ml)?|\.pnpmfile\.c?js|pnpm-workspace\.yaml|\.pnp\.[a-z.]+|` +
		`(jest|vitest|vite|babel|postcss|swc|tsup|rollup|webpack|metro)(\.[\w-]+)*\.(config|workspace|setup)(\.[\w-]+)*\.([cm]?[jt]s|json|ya?ml)|` +
		`(jest|vitest|vite|babel|postcss)[.-](config|workspace|setup|preset|preprocess|env|environment|transform|transformer|resolver)(\.[\w-]+)*\.([cm]?[jt]s|json)|` +
		`setup-?[tT]ests?\.[cm]?[jt]sx?|\.(babel|swc|postcss|browserslist|mocha|nyc|c8|ts-node)rc(\.\w+)?|[tj]sconfig(\.[\w-]+)*\.json)$`)
	// nodeFolders hold what tests load instead of, or beside, the modules that they name.
	nodeFolders = []string{"node_modules", "__mocks__", "__snapshots__", "__tests__", ".yarn"}
	// nodeHooks finds the keys of a configuration whose values are modules that the runner
	// loads, and nodeModulePath the paths in such a value.
	nodeHooks = regexp.MustCompile(`\b(setupFiles|setupFilesAfterEnv|setupTestFrameworkScriptFile|globalSetup|globalTeardown|testEnvironment|environment|` +
		`reporters?|transform|resolver|runner|testRunner|testSequencer|snapshotSerializers|snapshotEnvironment|preset|presets|plugins|dependencyExtractor)["']?\s*:\s*(\[[^\]]*\]|\{[^}]*\}|["'][^"']*["'])`)
	nodeModulePath = regexp.MustCompile(`["'](?:<rootDir>/|\./)([\w@./-]+)["']`)
)

// nodeConfigs are the configurations at the root of a repository that may name modules which
// a runner loads.
var nodeConfigs = []string{
	"package.json", "jest.config.js", "jest.config.cjs", "jest.config.mjs", "jest.config.ts", "jest.config.json",
	"vitest.config.js", "vitest.config.mjs", "vitest.config.ts", "vitest.config.mts", "vite.config.js", "vite.config.mjs", "vite.config.ts", "vite.config.mts",
	"babel.config.js", "babel.config.cjs", "babel.config.json", ".babelrc", ".babelrc.js",
}

// steersNode drops what configures the test runner, and the modules that it loads by its
// configuration at the base.
func (p protection) steersNode(c tree.Change) string {
	if !testcmd.NodeParsers[p.parser] {
		return ""
	}
	if p.loaded[c.Path] || p.loaded[strings.TrimSuffix(c.Path, path.Ext(c.Path))] {
		return "loaded by the test runner's configuration"
	}
	if p.isChosen(c.Path) {
		return "a file with tests, as the test runner's configuration has it"
	}
	return nodeSteering(c.Path)
}

// maxConfiguration is how many bytes of a configuration are read.
const maxConfiguration = 4 << 20

// nodeConfiguration notes the modules that the configurations of the base have the runner
// load, with and without their suffixes, and the patterns of files with tests.
func (p *protection) nodeConfiguration(ctx context.Context, repo Container) {
	p.loaded = map[string]bool{}
	if !testcmd.NodeParsers[p.parser] {
		return
	}
	for _, config := range nodeConfigs {
		if !p.base.Files[config] {
			continue
		}
		data, err := repo.Read(ctx, config, maxConfiguration)
		if err != nil {
			continue // without it the other rules and the canaries hold
		}
		for _, file := range nodeSetupFiles(data) {
			p.loaded[file], p.loaded[file+"/index"] = true, true
		}
		p.chosen = append(p.chosen, nodeTestPatterns(data)...)
		if config == "package.json" {
			command, _ := testcmd.Of(p.task)
			for _, file := range nodePrograms(data, command) {
				p.loaded[file] = true
			}
		}
	}
}

// nodeSteering says how a file steers Node.js, its package manager or the test runner; ""
// where it does not.
func nodeSteering(name string) string {
	base := path.Base(name)
	switch {
	case nodeSettings.MatchString(base):
		return "configures the test runner, or what it loads"
	case strings.HasSuffix(base, ".snap"):
		return "a snapshot that tests compare with"
	case testcmd.NodeTestName.MatchString(name):
		return "a file with tests"
	}
	for _, folder := range folders(name) {
		for _, special := range nodeFolders {
			if folder == special {
				return "in a folder " + special
			}
		}
	}
	return ""
}

// nodeSetupFiles returns the files that a configuration has the runner load, relative to the
// repository.
func nodeSetupFiles(config []byte) []string {
	var files []string
	for _, hook := range nodeHooks.FindAllSubmatch(config, -1) {
		for _, m := range nodeModulePath.FindAllSubmatch(hook[2], -1) {
			if file := path.Clean(string(m[1])); !tree.UnsafePath(file) {
				files = append(files, file)
			}
		}
	}
	return files
}

// folders returns the names of the folders above a path.
func folders(name string) []string { return strings.Split(path.Dir(name), "/") }

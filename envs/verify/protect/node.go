package protect

import (
	"context"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"relabel/envs/verify/testcmd"
	"relabel/envs/verify/tree"
)

var (
	// nodeSettings matches settings of package managers, test runners, and the bundlers and
	// compilers that runners load.
	nodeSettings = regexp.MustCompile(`^(package\.json|\.npmrc|\.yarnrc(\.ya?ml)?|\.pnpmfile\.c?js|pnpm-workspace\.yaml|\.pnp\.[a-z.]+|` +
		`(jest|vitest|vite|babel|postcss|swc|tsup|rollup|webpack|metro)(\.[\w-]+)*\.(config|workspace|setup)(\.[\w-]+)*\.([cm]?[jt]s|json|ya?ml)|` +
		`(jest|vitest|vite|babel|postcss)[.-](config|workspace|setup|preset|preprocess|env|environment|transform|transformer|resolver)(\.[\w-]+)*\.([cm]?[jt]s|json)|` +
		`setup-?[tT]ests?\.[cm]?[jt]sx?|\.(babel|swc|postcss|browserslist|mocha|nyc|c8|ts-node)rc(\.\w+)?|[tj]sconfig(\.[\w-]+)*\.json)$`)
	// nodeFolders contain modules and data that tests load without naming them.
	nodeFolders = []string{"node_modules", "__mocks__", "__snapshots__", "__tests__", ".yarn"}
	// nodeHooks matches the settings whose values are modules that the runner loads, and
	// nodeModulePath the paths in such a value.
	nodeHooks = regexp.MustCompile(`\b(setupFiles|setupFilesAfterEnv|setupTestFrameworkScriptFile|globalSetup|globalTeardown|testEnvironment|environment|` +
		`reporters?|transform|resolver|runner|testRunner|testSequencer|snapshotSerializers|snapshotEnvironment|preset|presets|plugins|dependencyExtractor)["']?\s*:\s*(\[[^\]]*\]|\{[^}]*\}|["'][^"']*["'])`)
	nodeModulePath = regexp.MustCompile(`["'](?:<rootDir>/|\./)([\w@./-]+)["']`)
)

// nodeConfigs are settings at the root of a repository that may name modules for the runner.
var nodeConfigs = []string{
	"package.json", "jest.config.js", "jest.config.cjs", "jest.config.mjs", "jest.config.ts", "jest.config.json",
	"vitest.config.js", "vitest.config.mjs", "vitest.config.ts", "vitest.config.mts", "vite.config.js", "vite.config.mjs", "vite.config.ts", "vite.config.mts",
	"babel.config.js", "babel.config.cjs", "babel.config.json", ".babelrc", ".babelrc.js",
}

// steersNode drops settings of the test runner, and modules that the base's settings load.
func (p protection) steersNode(c tree.Change) string {
	if !p.runner.OnNode() {
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

// maxConfiguration is how many bytes of a settings file are read.
const maxConfiguration = 4 << 20

// nodeConfiguration records the modules that the base's settings load, with and without suffixes,
// and the patterns of test files.
func (p *protection) nodeConfiguration(ctx context.Context, repo Container) {
	p.loaded = map[string]bool{}
	if !p.runner.OnNode() {
		return
	}
	for _, config := range nodeConfigs {
		if !p.base.Files[config] {
			continue
		}
		data, err := repo.Read(ctx, config, maxConfiguration)
		if err != nil {
			continue // the other rules and the canaries still apply
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

// nodeSteering tells how a file controls Node.js, its package manager or the test runner; "" if it
// does not.
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
	for folder := range strings.SplitSeq(path.Dir(name), "/") {
		if slices.Contains(nodeFolders, folder) {
			return "in a folder " + folder
		}
	}
	return ""
}

// nodeSetupFiles returns the files that settings load into the runner, relative to the repository.
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

// nodePrograms returns the files that scripts of a package.json run as programs, if a test command
// reaches these scripts: a word after node or a shell, or the first word if it is a path.
func nodePrograms(packageJSON []byte, command string) []string {
	var file struct {
		Scripts map[string]any `json:"scripts"`
	}
	if json.Unmarshal(packageJSON, &file) != nil {
		return nil
	}
	var programs []string
	for _, text := range reachedScripts(command, file.Scripts) {
		words := testcmd.Words(text)
		for i, w := range words {
			first := i == 0 || words[i-1].Command != w.Command
			if program := path.Clean(w.Text); strings.ContainsAny(w.Text, "/.") && !tree.UnsafePath(program) && (first || runsFiles[path.Base(words[i-1].Text)]) {
				programs = append(programs, program)
			}
		}
	}
	return programs
}

// runsFiles are programs that run the file that follows them.
var runsFiles = map[string]bool{"node": true, "ts-node": true, "tsx": true, "sh": true, "bash": true}

package recipes

import (
	"encoding/json"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"relabel/taskbuild"
)

// nodeImage has Node.js and npm.
const nodeImage = "relabel/base-node:bookworm"

// manifest is what package.json says about tests.
type manifest struct {
	Name         string            `json:"name"`
	Scripts      map[string]string `json:"scripts"`
	Dependencies map[string]string `json:"dependencies"`
	Development  map[string]string `json:"devDependencies"`
}

// needs reports whether the package depends on another one.
func (m manifest) needs(name string) bool {
	_, direct := m.Dependencies[name]
	_, development := m.Development[name]
	return direct || development
}

// nodeRunner is a test runner for JavaScript and TypeScript.
type nodeRunner struct {
	name    string // of the recipe and the package
	parser  string
	script  string // regular expression of scripts that run it
	command string
}

// nodeRunners are those that have a recipe.
var nodeRunners = []nodeRunner{
	{"vitest", "vitest", `\bvitest\b`, "npx vitest run --reporter=verbose " + taskbuild.TestsPlace},
	{"jest", "jest", `\bjest\b`, "npx jest --ci --verbose --coverage=false " + taskbuild.TestsPlace},
	{"mocha", "mocha", `\bmocha\b`, "npx mocha --reporter spec " + taskbuild.TestsPlace},
	{"ava", "tap", `\bava\b`, "npx ava --tap " + taskbuild.TestsPlace},
	{"tape", "tap", `\btape\b`, "npx tape " + taskbuild.TestsPlace},
	{"node", "tap", `\bnode\b.* --test\b`, "node --test --test-reporter=tap " + taskbuild.TestsPlace},
}

// compiles matches scripts that compile source before the tests.
var compiles = regexp.MustCompile(`\btsc\b|\brollup\b|\bbabel\b|\bwebpack\b|\besbuild\b|npm run (build|compile)|yarn (build|compile)`)

// detectNode fits packages with one of the runners: the one that the script test names, or else the first one
// that is installed.
func detectNode(t Tree) (taskbuild.Recipe, bool) {
	var m manifest
	if json.Unmarshal([]byte(t.Text("package.json")), &m) != nil {
		return taskbuild.Recipe{}, false
	}
	runner, ok := m.runner()
	if !ok {
		return taskbuild.Recipe{}, false
	}
	command := runner.command
	if runner.name == "mocha" {
		command = strings.Replace(command, "npx mocha", "npx mocha"+m.mochaOptions(), 1)
	}
	for _, script := range []string{"pretest", "test"} {
		if build := m.compiling(script); build != "" {
			command = build + " && " + command
			break
		}
	}
	tests := []string{
		"**/test/**", "**/tests/**", "**/__tests__/**", "**/__mocks__/**", "**/spec/**", "**/*.test.*", "**/*.spec.*", "**/__snapshots__/**", "**/__fixtures__/**", "test.js",
	}
	return taskbuild.Recipe{
		Name: runner.name, Image: nodeImage, Workdir: workdir,
		Manifests:    []string{"package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", ".npmrc", "packages/*/package.json"},
		Dependencies: append([]string{install(t), cleanCache}, m.withoutItself()...),
		Environment:  map[string]string{"CI": "1", "NO_COLOR": "1", "FORCE_COLOR": "0"},
		TestCommand:  command, Tests: taskbuild.TestsFiles, LogParser: runner.parser,
		TestFiles: tests, RunFiles: nodeRunFiles,
		SourceFiles: []string{"**/*.js", "**/*.mjs", "**/*.cjs", "**/*.jsx", "**/*.ts", "**/*.mts", "**/*.cts", "**/*.tsx", "**/*.vue", "**/*.svelte"},
		Ignore:      append([]string{"dist/**", "build/**", "node_modules/**", "*.config.*", "gulpfile.js", "Gruntfile.js", "**/*.min.js"}, ignored...),
		TestSeconds: testSeconds, BuildSeconds: buildSeconds,
	}, true
}

// runner is the test runner of the package.
func (m manifest) runner() (nodeRunner, bool) {
	for _, r := range nodeRunners {
		if regexp.MustCompile(r.script).MatchString(m.Scripts["test"]) {
			return r, true
		}
	}
	for _, r := range nodeRunners {
		if m.needs(r.name) {
			return r, true
		}
	}
	return nodeRunner{}, false
}

// mochaOption matches the options of Mocha without which tests do not run.
var mochaOption = regexp.MustCompile(` (--(ui|require|import|loader|config|opts)|-[ur])[ =]([\w@./:-]+)`)

// mochaOptions are the options that the scripts give Mocha and that its tests need.
func (m manifest) mochaOptions() string {
	for _, name := range slices.Sorted(maps.Keys(m.Scripts)) {
		if _, after, found := strings.Cut(m.Scripts[name], "mocha "); found && strings.HasPrefix(name, "test") {
			command, _, _ := strings.Cut(after, "&&")
			return strings.Join(mochaOption.FindAllString(" "+command, -1), "")
		}
	}
	return ""
}

// compiling returns how the script compiles source; "" if it does not.
func (m manifest) compiling(script string) string {
	for _, command := range strings.Split(m.Scripts[script], "&&") {
		if command = strings.TrimSpace(command); compiles.MatchString(command) && !strings.Contains(command, "mocha") && !strings.Contains(command, "jest") {
			return "npx -c " + taskbuild.Quote(command)
		}
	}
	return ""
}

// packageName matches the names of packages.
var packageName = regexp.MustCompile(`^(@[\w.~-]+/)?[\w.~-]+$`)

// cleanCache removes the packages that npm keeps: among them may be later releases of the package itself.
const cleanCache = `rm -rf "$(npm config get cache)/_cacache"`

// withoutItself puts a link to the repository in the place of releases of the package itself, which other packages
// depend on: later ones contain fixes.
func (m manifest) withoutItself() []string {
	if !packageName.MatchString(m.Name) {
		return nil
	}
	installed := "node_modules/" + m.Name
	return []string{
		`[ -z "$(find . -type d -path '*/` + installed + `' -prune -print -exec rm -rf {} +)" ] || { mkdir -p ` + path.Dir(installed) + ` && ln -s ` + workdir + ` ` + installed + `; }`,
	}
}

// nodeRunFiles are the files that runners may get. They pass over files of the test folders without tests.
var nodeRunFiles = []string{
	"**/*.test.*", "**/*.spec.*", "**/__tests__/**/*.*", "test.js", "test/**/*.js", "test/**/*.ts", "test/**/*.mjs", "test/**/*.cjs", "tests/**/*.js", "tests/**/*.ts", "spec/**/*.js",
}

// install installs the packages of the lock file, or those that existed when the commit was made.
func install(t Tree) string {
	if t.Has("package-lock.json") || t.Has("npm-shrinkwrap.json") {
		return "npm ci --no-audit --no-fund --ignore-scripts || npm install --no-audit --no-fund --ignore-scripts --legacy-peer-deps"
	}
	const command = "npm install --no-audit --no-fund --no-package-lock --ignore-scripts --legacy-peer-deps"
	return command + " --before=$RELABEL_DATE || " + command // a registry may not know the days of all versions
}

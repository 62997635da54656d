package recipes

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"relabel/taskbuild"
)

// pythonImage has Python, pip and a C compiler.
const pythonImage = "relabel/base-python:bookworm"

// pythonManifests determine the dependencies of a Python project.
var pythonManifests = []string{
	"pyproject.toml", "setup.py", "setup.cfg", "*requirements*.txt", "requirements/*.txt", "requirements/*.in", "tests/requirements*.txt", "test/requirements*.txt",
	"tox.ini", "Pipfile.lock", "poetry.lock", "uv.lock", "constraints*.txt",
}

// detectPytest fits repositories with Python tests.
func detectPytest(t Tree) (taskbuild.Recipe, bool) {
	tests := []string{"**/test_*.py", "**/*_test.py", "**/tests.py", "**/test/*.py", "**/tests/*.py"}
	if !t.Any(tests...) {
		return taskbuild.Recipe{}, false
	}
	return taskbuild.Recipe{
		Name: "pytest", Image: pythonImage, Workdir: workdir, Manifests: pythonManifests, Dependencies: pythonDependencies(t), Build: pythonBuild(t),
		Environment: map[string]string{"PYTHONDONTWRITEBYTECODE": "1"},
		TestCommand: "python3 -m pytest -rA -p no:cacheprovider --continue-on-collection-errors -o addopts= " + taskbuild.TestsPlace,
		Tests:       taskbuild.TestsFiles, LogParser: "pytest",
		TestFiles:   []string{"**/test_*.py", "**/*_test.py", "**/tests.py", "**/conftest.py", "**/test/**", "**/tests/**", "**/testing/**"},
		RunFiles:    []string{"**/test_*.py", "**/*_test.py", "**/tests.py"},
		SourceFiles: []string{"**/*.py", "**/*.pyi", "**/*.pyx", "**/*.c", "**/*.h", "**/*.cpp", "**/*.rs", "**/*.lark", "**/*.json", "**/*.toml", "**/*.yaml"},
		Ignore:      append([]string{"setup.py", "noxfile.py", "tasks.py", "**/_version.py", "**/version.py", "**/__version__.py", "**/__about__.py", "*.json", "*.toml", "*.yaml"}, ignored...),
		TestSeconds: testSeconds, BuildSeconds: buildSeconds,
	}, true
}

// ignored are folders whose files are not source in any language.
var ignored = []string{"docs/**", "doc/**", "examples/**", "example/**", "benchmarks/**", "bench/**", "scripts/**", "tools/**", "ci/**", ".*/**", ".*"}

// testGroup matches the names of extras and dependency groups that tests need.
var testGroup = regexp.MustCompile(`(?i)^(tests?|testing|dev|develop|development|pytest|ci|all|tests?[_-].*)$`)

// pyproject is what pyproject.toml says about dependencies.
type pyproject struct {
	Project struct {
		Optional map[string]any `toml:"optional-dependencies"`
	}
	Groups map[string]any `toml:"dependency-groups"`
	Build  struct {
		Requires []string `toml:"requires"`
		Backend  string   `toml:"build-backend"`
	} `toml:"build-system"`
	Tool struct {
		Poetry struct {
			Group map[string]struct {
				Dependencies map[string]any
			}
			Dev map[string]any `toml:"dev-dependencies"`
		}
	}
}

// readPyproject reads pyproject.toml. A broken file is an empty one: the installation tells.
func readPyproject(t Tree) pyproject {
	var p pyproject
	_ = toml.Unmarshal([]byte(t.Text("pyproject.toml")), &p)
	return p
}

// pip installs into the image's Python.
const pip = "python3 -m pip install -q --no-cache-dir --root-user-action=ignore --break-system-packages"

// pythonDependencies installs the project with what its tests need, editable, so that the files of another
// commit take the place of those that are installed. Packages are those of the commit's day, but no older than those
// that support the image's Python.
func pythonDependencies(t Tree) []string {
	p := readPyproject(t)
	commands := []string{pip + " --upgrade pip", "export PIP_UPLOADED_PRIOR_TO=$(printf '%s\\n' 2023-06-01 \"$RELABEL_DATE\" | sort | tail -n 1)", pip + " pytest"}
	if packages := poetryTests(p); packages != "" {
		commands = append(commands, pip+" "+packages)
	}
	for _, group := range matching(p.Groups) {
		commands = append(commands, pip+" --group "+group+" || true")
	}
	for _, path := range slices.Sorted(maps.Keys(t.paths)) {
		if requirementsOfTests.MatchString(path) {
			commands = append(commands, pip+" -r "+path+" || true")
		}
	}
	switch {
	case installable(t):
		return append(commands, versions+pip+" -e ."+extras(t, p))
	case t.Has("requirements.txt"):
		return append(commands, pip+" -r requirements.txt")
	}
	return commands
}

// versions gives tools that derive the version of a project from its tags one, since the repository in an
// image has no tags.
const versions = "SETUPTOOLS_SCM_PRETEND_VERSION=$RELABEL_VERSION "

// requirementsOfTests matches files of requirements that tests need.
var requirementsOfTests = regexp.MustCompile(`(?i)^((tests?|dev|requirements)[/_-])?(requirements|tests?|dev)[._-]?((tests?|testing|dev)([_-]requirements)?)?\.txt$|^tests?/requirements\.txt$`)

// installable reports whether pip can install the project.
func installable(t Tree) bool {
	return t.Has("setup.py") || t.Has("setup.cfg") || strings.Contains(t.Text("pyproject.toml"), "[project]") || strings.Contains(t.Text("pyproject.toml"), "[tool.poetry]")
}

// extras are the extras of the project that tests need, as [a,b].
func extras(t Tree, p pyproject) string {
	names := matching(p.Project.Optional)
	if len(names) == 0 {
		names = setupExtras(t.Text("setup.cfg") + "\n" + t.Text("setup.py"))
	}
	if len(names) == 0 {
		return ""
	}
	return "[" + strings.Join(names, ",") + "]"
}

// setupExtra matches the name of an extra in setup.cfg or setup.py.
var setupExtra = regexp.MustCompile(`(?m)^\s*["']?(tests?|testing|dev)["']?\s*[=:]`)

func setupExtras(text string) []string {
	_, after, found := strings.Cut(text, "extras_require")
	if !found {
		return nil
	}
	var names []string
	for _, m := range setupExtra.FindAllStringSubmatch(after, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// matching are the names of groups that tests need, sorted.
func matching(groups map[string]any) []string {
	var names []string
	for name := range groups {
		if testGroup.MatchString(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// poetryTests are the packages of Poetry's groups that tests need, without versions: pip does not read
// these groups.
func poetryTests(p pyproject) string {
	var names []string
	add := func(packages map[string]any) {
		for name := range packages {
			if name != "python" {
				names = append(names, name)
			}
		}
	}
	add(p.Tool.Poetry.Dev)
	for name, group := range p.Tool.Poetry.Group {
		if testGroup.MatchString(name) {
			add(group.Dependencies)
		}
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " ")
}

// pythonBuild compiles extensions, which belong to a commit.
func pythonBuild(t Tree) []string {
	p := readPyproject(t)
	compiled := strings.Contains(t.Text("setup.py"), "Extension(") || strings.Contains(t.Text("setup.py"), "ext_modules") ||
		slices.Contains([]string{"mesonpy", "maturin", "scikit_build_core.build"}, p.Build.Backend)
	if !compiled {
		return nil
	}
	return []string{versions + pip + " --no-deps -e ."}
}

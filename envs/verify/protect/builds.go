package protect

import (
	"path"
	"regexp"
	"strings"

	"relabel/envs/verify/tree"
	"relabel/testlog"
)

// buildFiles matches, by runner, settings and programs with which a build chooses, compiles and runs the tests.
var buildFiles = map[testlog.Runner]*regexp.Regexp{
	testlog.Cargo:   regexp.MustCompile(`(^|/)(Cargo\.(toml|lock)|rust-toolchain(\.toml)?|build\.rs|\.cargo/.*)$`),
	testlog.Maven:   javaBuild,
	testlog.Gradle:  javaBuild,
	testlog.Ant:     javaBuild,
	testlog.PHPUnit: regexp.MustCompile(`(^|/)(composer\.(json|lock)|vendor/.*)$`),
	testlog.RSpec:   rubyBuild,
	testlog.Ruby:    rubyBuild,
	testlog.DotNet:  regexp.MustCompile(`(?i)(^|/)(directory\.\w+\.(props|targets)|nuget\.config|global\.json|xunit\.runner\.json|[^/]*\.runsettings)$`),
}

var (
	javaBuild = regexp.MustCompile(`(^|/)(pom\.xml|mvnw|gradlew|(\.mvn|gradle|buildSrc)/.*|[^/]*\.gradle(\.kts)?|(gradle|build)\.properties|build\.xml|ivy\.xml|` +
		`META-INF/services/(org\.junit|org\.testng|org\.spockframework)\.[^/]*|testng[^/]*\.xml)$`)
	rubyBuild = regexp.MustCompile(`(^|/)(Gemfile(\.lock)?|gems\.(rb|locked)|Rakefile|rakefile(\.rb)?|Rakefile\.rb|\.rspec-local|\.bundle/.*|spec/.*)$|^features/`)
	// javaRunners matches sources and classes of test runners and libraries of assertions, which hide those in archives.
	javaRunners = regexp.MustCompile(`(^|/)(java|kotlin|groovy|scala|resources|main|src)/(junit|org/(junit|hamcrest|testng|assertj|mockito|spockframework|opentest4j|apiguardian|apache/maven)|com/google/common/truth)/`)
)

// steersBuild drops settings of builds, and classes that hide those of test runners.
func (p protection) steersBuild(c tree.Change) string {
	files := buildFiles[p.runner]
	if files == nil {
		return ""
	}
	if files.MatchString(c.Path) {
		return "chooses what the tests are or how they are built and run"
	}
	if files == javaBuild && javaRunners.MatchString(c.Path) && !p.base.Folders[path.Dir(c.Path)] {
		return "would hide a class of a test runner"
	}
	return ""
}

// otherTestName matches names of test files in other languages than those of testName.
var otherTestName = regexp.MustCompile(`^(.*_(spec|test)\.rb|test_.*\.rb|.*(Test|Tests|TestCase|Spec)\.(java|kt|groovy|scala|php|cs)|(tests?|.*_tests?)\.(rs|c|cc|cpp))$`)

// isOtherTest drops files with names of tests in the language of the runner.
func (p protection) isOtherTest(c tree.Change) string {
	if p.runner != testlog.Pytest && otherTestName.MatchString(path.Base(c.Path)) && !strings.HasPrefix(path.Base(c.Path), ".") {
		return "a file with tests"
	}
	return ""
}

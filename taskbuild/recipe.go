package taskbuild

// Recipe says how the image of a repository is made, how its tests run, and which of its files are
// tests. It is read from a YAML file (see ReadRecipe), or detected (see package recipes).
type Recipe struct {
	Name string `yaml:"name"` // for example pytest
	// Image is the image to start from. Dockerfile, a path relative to the recipe's file, is built instead
	// if it is set; its context is its folder.
	Image      string `yaml:"image,omitempty"`
	Dockerfile string `yaml:"dockerfile,omitempty"`
	Workdir    string `yaml:"workdir"` // absolute path of the repository in the image
	// Manifests are patterns of the files that determine the dependencies. Commits that have the same
	// content of them share one image with the dependencies.
	Manifests []string `yaml:"manifests,omitempty"`
	// Dependencies are shell commands that install the dependencies, with network, in the repository
	// at the last commit that changed a manifest.
	Dependencies []string `yaml:"dependencies,omitempty"`
	// Build are shell commands that run, with network, in the repository at the base commit.
	Build []string `yaml:"build,omitempty"`
	// Environment is set in the image, for builds and tests.
	Environment map[string]string `yaml:"environment,omitempty"`
	// TestCommand is the shell command that runs tests. {tests} stands for the tests of a task: see Tests.
	// It must run without network.
	TestCommand string `yaml:"test_command"`
	// Tests says how a test file is written in the test command.
	Tests     TestArguments `yaml:"tests"`
	LogParser string        `yaml:"log_parser"` // the name of the parser of the command's output
	// TestFiles and SourceFiles are patterns of paths; * stands for any characters but /, ** for any.
	// A file that matches TestFiles is a test; another one that matches SourceFiles is source; changes of
	// any others are left out of tasks. Ignore are patterns of source files that are left out too.
	TestFiles   []string `yaml:"test_files"`
	SourceFiles []string `yaml:"source_files"`
	Ignore      []string `yaml:"ignore,omitempty"`
	// RunFiles are patterns of the test files that the command runs; others, such as fixtures, only belong
	// to the test patch. Empty: TestFiles.
	RunFiles []string `yaml:"run_files,omitempty"`
	// TestSeconds bounds one run of the test command.
	TestSeconds int `yaml:"test_seconds"`
	// BuildSeconds bounds the commands of Dependencies, and those of Build.
	BuildSeconds int `yaml:"build_seconds"`
}

// TestArguments says what {tests} in a test command becomes.
type TestArguments string

// The forms of test files as arguments.
const (
	TestsAll      TestArguments = "all"           // nothing: the command runs all tests
	TestsFiles    TestArguments = "files"         // the paths of the files
	TestsPackages TestArguments = "go-packages"   // ./folder of each file
	TestsCargo    TestArguments = "cargo-targets" // --test NAME of each file in tests/, --lib for others
	TestsMaven    TestArguments = "maven-classes" // -Dtest=Class,Class
	TestsGradle   TestArguments = "gradle-tests"  // --tests Class of each file
)

package recipes

import "relabel/taskbuild"

// javaImage has Java and Maven of Debian.
const javaImage = "relabel/base-java:bookworm"

// javaTests and javaSource are the patterns of projects with the usual layout.
var (
	javaTests    = []string{"**/src/test/**"}
	javaRunFiles = []string{
		"**/src/test/**/*Test.java", "**/src/test/**/Test*.java", "**/src/test/**/*Tests.java", "**/src/test/**/*TestCase.java",
		"**/src/test/**/*Test.kt", "**/src/test/**/*Tests.kt", "**/src/test/**/*Test.groovy", "**/src/test/**/*Spec.groovy", "**/src/test/**/*Test.scala",
	}
	javaSource = []string{"**/src/main/**"}
)

// detectMaven fits Maven projects.
func detectMaven(t Tree) (taskbuild.Recipe, bool) {
	if !t.Has("pom.xml") {
		return taskbuild.Recipe{}, false
	}
	return taskbuild.Recipe{
		Name: "maven", Image: javaImage, Workdir: workdir, Manifests: []string{"**/pom.xml", ".mvn/**"},
		// The run of one test that does not exist fetches what Surefire chooses at run time.
		Dependencies: []string{
			"mvn -B -q dependency:go-offline || true",
			"mvn -B -q test -Dtest=RelabelNone -Dsurefire.failIfNoSpecifiedTests=false -DfailIfNoTests=false || true",
			"mvn -B -q test-compile",
		},
		TestCommand: "mvn -B -o test -Dsurefire.failIfNoSpecifiedTests=false -DfailIfNoTests=false -Dmaven.test.failure.ignore=true " + taskbuild.TestsPlace,
		Tests:       taskbuild.TestsMaven, LogParser: "surefire", TestFiles: javaTests, RunFiles: javaRunFiles, SourceFiles: javaSource, Ignore: ignored,
		TestSeconds: testSeconds, BuildSeconds: buildSeconds,
	}, true
}

// detectGradle fits Gradle projects with a wrapper.
func detectGradle(t Tree) (taskbuild.Recipe, bool) {
	if !t.Any("build.gradle", "build.gradle.kts") {
		return taskbuild.Recipe{}, false
	}
	gradle := "gradle"
	if t.Has("gradlew") {
		gradle = "sh ./gradlew"
	}
	return taskbuild.Recipe{
		Name: "gradle", Image: javaImage, Workdir: workdir,
		Manifests:    []string{"**/build.gradle", "**/build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradle.properties", "gradle/**", "gradlew"},
		Dependencies: []string{gradle + " --no-daemon testClasses"},
		Environment:  map[string]string{"GRADLE_USER_HOME": "/var/cache/gradle"},
		TestCommand:  gradle + " --no-daemon --offline --continue test " + taskbuild.TestsPlace,
		Tests:        taskbuild.TestsGradle, LogParser: "gradle", TestFiles: javaTests, RunFiles: javaRunFiles, SourceFiles: javaSource, Ignore: ignored,
		TestSeconds: testSeconds, BuildSeconds: buildSeconds,
	}, true
}

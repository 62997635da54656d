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

// mavenOptions turn off colours, the failure of modules without the wanted tests, and the plugins that judge a project
// instead of building it: they refuse this Java, files without a license header, or changes of the API, and some of
// them need the network.
const mavenOptions = "-Dstyle.color=never -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false" +
	" -Denforcer.skip -Drat.skip -Dcheckstyle.skip -Dpmd.skip -Dcpd.skip -Dspotbugs.skip -Djapicmp.skip -Drevapi.skip -Danimal.sniffer.skip" +
	" -Dlicense.skip -Dspotless.check.skip -Dspotless.apply.skip -Dformatter.skip -Dimpsort.skip -Dforbiddenapis.skip -Dcyclonedx.skip"

// detectMaven fits Maven projects.
func detectMaven(t Tree) (taskbuild.Recipe, bool) {
	if !t.Has("pom.xml") {
		return taskbuild.Recipe{}, false
	}
	return taskbuild.Recipe{
		Name: "maven", Image: javaImage, Workdir: workdir, Manifests: []string{"**/pom.xml", ".mvn/**"},
		// The run of a test class of each module fetches what Surefire chooses at run time.
		Dependencies: []string{
			`classes=$(find . -path '*/src/test/*' \( -name '*Test.java' -o -name 'Test*.java' \) ! -name 'Abstract*' | LC_ALL=C sort |` +
				` awk -F/src/test/ '!seen[$1]++ { sub(/.*\//, ""); sub(/\.java$/, ""); print }' | paste -sd,)`,
			"mvn -B -q " + mavenOptions + ` test -Dmaven.test.failure.ignore=true -Dtest="${classes:-None}" || true`,
			"mvn -B -q " + mavenOptions + " test-compile",
		},
		TestCommand: "mvn -B -o " + mavenOptions + " test -Dmaven.test.failure.ignore=true " + taskbuild.TestsPlace,
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

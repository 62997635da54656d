package protect

import (
	"testing"

	"relabel"
	"relabel/envs/verify/tree"
	"relabel/testlog"
)

func TestFilesThatSteerBuildsOfTestsAreDropped(t *testing.T) {
	base := tree.NewPathSet([]string{"src/main/java/shop/Cart.java", "src/lib.rs", "lib/shop.rb", "spec/spec_helper.rb", "features/step_definitions/a.rb"})
	for parser, c := range map[string]struct{ dropped, graded []string }{
		"cargo": {
			[]string{"Cargo.toml", "shop/Cargo.lock", ".cargo/config.toml", ".cargo/config", "build.rs", "rust-toolchain", "src/cart_tests.rs", "src/tests.rs"},
			[]string{"src/lib.rs", "src/cargo.rs", "src/build.rs.txt", "src/contests.rs"},
		},
		"surefire": {
			[]string{
				"pom.xml", "shop/pom.xml", ".mvn/maven.config", "mvnw", "src/main/java/org/junit/Assert.java", "shop/src/main/resources/org/junit/jupiter/api/Test.class",
				"src/main/java/junit/framework/TestCase.java", "src/main/resources/META-INF/services/org.junit.platform.launcher.LauncherSessionListener",
				"src/main/java/org/hamcrest/MatcherAssert.java", "src/main/java/shop/CartTest.java",
			},
			[]string{"src/main/java/shop/Cart.java", "src/main/java/shop/junit/Runner.java", "src/main/resources/META-INF/services/shop.Payment"},
		},
		"gradle": {
			[]string{"build.gradle", "shop/build.gradle.kts", "settings.gradle", "gradle.properties", "gradle/wrapper/gradle-wrapper.jar", "buildSrc/src/main/java/X.java", "gradlew"},
			[]string{"src/main/java/shop/Gradle.java"},
		},
		"phpunit": {[]string{"composer.json", "vendor/phpunit/src/Assert.php", "src/CartTest.php"}, []string{"src/Cart.php"}},
		"rspec": {
			[]string{"spec/spec_helper.rb", "spec/cart_spec.rb", "Gemfile", "Rakefile", "shop/spec/a.rb"}, []string{"lib/shop.rb", "lib/spec.rb", "lib/features/a.rb"},
		},
		"gotest": {nil, []string{"Cargo.toml", "pom.xml", "Gemfile", "spec/a.rb"}},
	} {
		if _, known := testlog.Find(parser); !known {
			t.Fatalf("no log parser %q", parser)
		}
		p := protectionOf(relabel.Task{LogParser: parser, TestCmd: "run-the-tests", FailToPass: []string{"a"}}, tree.Reading{Base: base})
		for _, name := range c.dropped {
			if p.reason(tree.Change{Path: name, NewMode: "100644"}) == "" {
				t.Errorf("%s: %s is graded", parser, name)
			}
		}
		for _, name := range c.graded {
			if why := p.reason(tree.Change{Path: name, NewMode: "100644"}); why != "" {
				t.Errorf("%s: %s is dropped: %s", parser, name, why)
			}
		}
	}
}

func TestACargoManifestThatTheGoldPatchChangesIsComparedAsAWhole(t *testing.T) {
	for _, name := range []string{"Cargo.toml", ".cargo/config.toml"} {
		if settingsReader(name) != nil {
			t.Errorf("%s is compared by keys", name)
		}
	}
}

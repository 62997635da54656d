package testcmd

import (
	"strings"
	"testing"

	"relabel/testlog"
)

func TestRunnersAreAskedForAReportWhereTheyCanBe(t *testing.T) {
	for _, c := range []struct {
		runner         testlog.Runner
		command, added string
	}{
		{testlog.PHPUnit, "vendor/bin/phpunit --testdox tests", " --log-junit /tmp/r"},
		{testlog.PHPUnit, "phpunit --log-junit x.xml", ""},
		{testlog.PHPUnit, "phpunit a; phpunit b", ""},
		{testlog.PHPUnit, "composer test", ""},
		{testlog.CTest, "cd build && ctest --output-on-failure 2>&1", " --output-junit /tmp/r"},
		{testlog.CTest, "ctest | tee log", ""},
		{testlog.RSpec, "bundle exec rspec --format documentation spec", " --format json --out /tmp/r"},
		{testlog.RSpec, "rspec spec", ""},
		{testlog.RSpec, "rspec -f d -o out.txt", ""},
		{testlog.GTest, "./build/tests", "export GTEST_OUTPUT=xml:/tmp/r\n"},
		{testlog.GTest, "./tests --gtest_output=xml", ""},
		{testlog.Maven, "mvn test", "relabel_reports -exec cat"},
		{testlog.Gradle, "./gradlew test", "relabel_reports -exec cat"},
		{testlog.Cargo, "cargo test", ""},
	} {
		got, ok := ReportCommand(c.runner, c.command, "/tmp/r")
		if ok != (c.added != "") || ok && (!strings.Contains(got, c.added) || len(got) <= len(c.command)) {
			t.Errorf("%s: %v %s", c.command, ok, got)
		}
	}
}

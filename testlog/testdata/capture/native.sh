#!/usr/bin/env bash
# Makes the logs of cargo, PHPUnit, RSpec, Minitest, test-unit, Cucumber, CTest, GoogleTest, doctest and Ant again, in /out. It runs in an
# image of Debian bookworm with the packages phpunit, ruby, ruby-rspec, ruby-minitest, ruby-test-unit, cucumber, ant, ant-optional,
# junit4, cmake, g++, libgtest-dev, doctest-dev, rustc-web, cargo-web and jq.
set -u
export LC_ALL=C.UTF-8
mkdir -p /w && cd /w
# --- cargo
mkdir -p rs/src rs/tests && cd rs
cat > Cargo.toml <<E
[package]
name = "calc"
version = "0.1.0"
edition = "2021"
E
cat > src/lib.rs <<E
//! Adds.
/// Adds.
/// \`\`\`
/// assert_eq!(calc::add(1, 2), 3);
/// \`\`\`
pub fn add(a: i64, b: i64) -> i64 { a + b }
#[cfg(test)]
mod tests {
    use super::*;
    #[test] fn adds() { println!("adding\nok"); assert_eq!(add(1, 2), 3); }
    #[test] fn fails() { println!("test tests::other ... ok"); assert_eq!(add(1, 2), 4); }
    #[test] #[ignore] fn ignored() {}
    #[test] #[ignore = "slow"] fn ignored_for_a_reason() {}
    #[test] #[should_panic] fn panics() { panic!("as it must"); }
    #[test] #[should_panic] fn does_not_panic() {}
    mod inner { #[test] fn deep() {} }
}
E
cat > tests/it.rs <<E
#[test] fn adds() { assert_eq!(calc::add(2, 2), 4); }
#[test] fn errors() -> Result<(), String> { Err("no".into()) }
E
cargo test --offline --no-fail-fast >/out/cargo.log 2>&1
cargo test --offline --no-fail-fast -- --nocapture --test-threads=1 >/out/cargo-nocapture.log 2>&1
cargo test --offline --no-fail-fast --color always -- --color always >/out/cargo-colour.log 2>&1
cd ..
# --- phpunit
mkdir -p php && cd php
cat > CalcTest.php <<'E'
<?php
use PHPUnit\Framework\TestCase;
final class CalcTest extends TestCase {
    public function testAdds(): void { $this->assertSame(3, 1 + 2); }
    public function testAddsFloats(): void { $this->assertSame(0.3, 0.1 + 0.2); }
    public function testBreaks(): void { throw new RuntimeException("broken"); }
    public function testSkipped(): void { $this->markTestSkipped("not here"); }
    public function testIncomplete(): void { $this->markTestIncomplete("later"); }
    public function testRisky(): void { }
    public function testPrints(): void { echo "noise\n ✔ Forged\n"; $this->assertTrue(true); }
    /** @dataProvider pairs */
    public function testPairs(int $a, int $b): void { $this->assertSame($a, $b); }
    public static function pairs(): array { return ["equal (1)" => [1, 1], "unequal" => [1, 2], [3, 3]]; }
}
E
cat > OtherTest.php <<'E'
<?php
namespace Shop\Tests;
final class OtherTest extends \PHPUnit\Framework\TestCase { public function test_under_score(): void { $this->assertTrue(true); } }
E
phpunit --testdox . >/out/phpunit.log 2>&1
phpunit --testdox --colors=always . >/out/phpunit-colour.log 2>&1
phpunit --testdox --log-junit /out/phpunit.xml . >/dev/null 2>&1
cd ..
# --- ruby
mkdir -p rb/features/step_definitions && cd rb
cat > calc_spec.rb <<'E'
RSpec.describe "Calc" do
  describe "#add" do
    it("adds") { expect(1 + 2).to eq 3 }
    it("fails - badly") { expect(1).to eq 2 }
    it("breaks") { raise "no" }
    context "with floats" do
      it("adds - floats") { expect(0.5 + 0.5).to eq 1.0 }
      xit("is skipped") { }
      it("prints") { puts "  forged example"; expect(1).to eq 1 }
    end
  end
  it { expect(1).to eq 1 }
end
E
rspec -f d calc_spec.rb >/out/rspec.log 2>&1
rspec -f d --force-color calc_spec.rb >/out/rspec-colour.log 2>&1
rspec -f json calc_spec.rb >/out/rspec_json.log 2>&1
rspec -f json calc_spec.rb 2>&1 | sed -n '/^{/,$p' | jq -r '.examples[] | "\(.description) - \(.status)"' >/out/rspec_transformed_json.log
cat > test_mini.rb <<'E'
require "minitest/autorun"
class TestCalc < Minitest::Test
  def test_adds; puts "noise"; assert_equal 3, 1 + 2; end
  def test_fails; assert_equal 3, 4; end
  def test_breaks; raise "no"; end
  def test_skips; skip "later"; end
  define_method("test_: Calc should add. ") { assert true }
  define_method("test_: Calc should fail. ") { assert false }
end
E
ruby test_mini.rb -v --seed 1 >/out/minitest.log 2>&1
cat > test_unit.rb <<'E'
require "test/unit"
class CalcTest < Test::Unit::TestCase
  test("adds numbers") { assert_equal 3, 1 + 2 }
  test("fails: badly") { assert_equal 3, 4 }
  def test_breaks; raise "no"; end
  def test_omitted; omit "later"; end
  def test_pending; pend "later"; end
  def test_prints; puts "noise"; assert true; end
  data("one" => 1, "two" => 2)
  def test_data(n); assert_equal 1, n; end
  sub_test_case("inner") { test("deep") { assert true } }
end
E
ruby test_unit.rb -v >/out/ruby_unit.log 2>&1
ruby test_unit.rb -v --use-color=yes >/out/ruby_unit-colour.log 2>&1
cat > features/calc.feature <<'E'
Feature: Calc
  Scenario: adds
    Given a number
    Then it is right
  Scenario: fails
    Given a number
    Then it is wrong
  Scenario: undefined
    Given nothing
E
cat > features/step_definitions/s.rb <<'E'
Given("a number") { @n = 1 }
Then("it is right") { raise unless @n == 1 }
Then("it is wrong") { raise "wrong" }
E
cucumber --format progress --no-color >/out/cucumber.log 2>&1
cucumber --format pretty --no-color >/out/cucumber-pretty.log 2>&1
cd ..
# --- C++
mkdir -p cpp && cd cpp
cat > CMakeLists.txt <<'E'
cmake_minimum_required(VERSION 3.20)
project(calc CXX)
enable_testing()
find_package(GTest REQUIRED)
add_executable(g g.cpp)
target_link_libraries(g GTest::gtest_main)
add_executable(d d.cpp)
add_test(NAME unit COMMAND g)
add_test(NAME "with space" COMMAND true)
add_test(NAME fails COMMAND false)
add_test(NAME gone COMMAND /no/such/program)
add_test(NAME skips COMMAND sh -c "exit 77")
set_tests_properties(skips PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME slow COMMAND sleep 5)
set_tests_properties(slow PROPERTIES TIMEOUT 1)
add_test(NAME crashes COMMAND sh -c "kill -SEGV $$")
add_test(NAME off COMMAND true)
set_tests_properties(off PROPERTIES DISABLED ON)
E
cat > g.cpp <<'E'
#include <gtest/gtest.h>
#include <stdexcept>
#include <cstdio>
TEST(Calc, Adds) { EXPECT_EQ(1 + 2, 3); }
TEST(Calc, Fails) { EXPECT_EQ(1 + 2, 4); }
TEST(Calc, Throws) { throw std::runtime_error("no"); }
TEST(Calc, Skips) { GTEST_SKIP() << "later"; }
TEST(Calc, Prints) { std::printf("noise without end"); }
TEST(Calc, DISABLED_Off) {}
class P : public ::testing::TestWithParam<int> {};
TEST_P(P, Even) { EXPECT_EQ(GetParam() % 2, 0); }
INSTANTIATE_TEST_SUITE_P(All, P, ::testing::Values(1, 2));
E
cat > d.cpp <<'E'
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
TEST_CASE("adds") {
  SUBCASE("small") { CHECK(1 + 2 == 3); SUBCASE("inner <a>") { CHECK(true); } }
  SUBCASE("wrong & bad") { CHECK(1 + 2 == 4); }
  SUBCASE("empty") { }
}
TEST_CASE("throws") { SUBCASE("deep") { throw 1; } }
E
(cmake -S . -B b && cmake --build b -j2) >/tmp/cmake.log 2>&1 || tail -5 /tmp/cmake.log
(cd b; ctest --output-on-failure >/out/ctest.log 2>&1; ctest -j4 --output-junit /out/ctest.xml >/dev/null 2>&1
 ./g >/out/googletest.log 2>&1; ./g --gtest_color=yes >/out/googletest-colour.log 2>&1; GTEST_OUTPUT=xml:/out/gtest/ ./g >/dev/null 2>&1; ./d -s -r=xml >/out/doctest.log 2>&1)
cd ..
# --- ant
mkdir -p ant/src && cd ant
cat > src/CalcTest.java <<'E'
import org.junit.*;
public class CalcTest {
  @Test public void adds() { System.out.println("noise"); Assert.assertEquals(3, 1 + 2); }
  @Test public void fails() { Assert.assertEquals(3, 4); }
  @Test public void breaks() { throw new RuntimeException("no"); }
  @Ignore @Test public void ignored() { }
}
E
cat > src/Formatter.java <<'E'
import java.io.*;
import junit.framework.*;
import org.apache.tools.ant.taskdefs.optional.junit.*;
public class Formatter implements JUnitResultFormatter {
  PrintStream out; boolean bad;
  public void startTestSuite(JUnitTest s) { out.println("Testsuite: " + s.getName()); }
  public void endTestSuite(JUnitTest s) { out.flush(); }
  public void setOutput(OutputStream o) { out = new PrintStream(o); }
  public void setSystemOutput(String s) { out.print(s); }
  public void setSystemError(String s) { }
  public void startTest(Test t) { bad = false; }
  public void endTest(Test t) { if (!bad) out.println("[PASS] " + t); }
  public void addError(Test t, Throwable e) { bad = true; out.println("[ERR] " + t + " " + e); }
  public void addFailure(Test t, AssertionFailedError e) { bad = true; out.println("[FAIL] " + t + " " + e.getMessage()); }
}
E
cat > build.xml <<'E'
<project default="test"><path id="cp"><pathelement location="out"/><fileset dir="/usr/share/java" includes="junit4.jar,hamcrest*.jar,ant.jar,ant-junit*.jar"/></path>
<target name="test"><mkdir dir="out"/><javac srcdir="src" destdir="out" includeantruntime="true" classpathref="cp"/>
<junit fork="true" forkmode="once" printsummary="yes"><formatter classname="Formatter" usefile="false"/><classpath refid="cp"/><test name="CalcTest"/></junit></target></project>
E
ant >/out/ant.log 2>&1
cd ..
ls -la /out

package verify

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"relabel"
)

const classes = `import unittest
from .cases import (
    Mixed,
    ShopTestCase,
)


class Helper:
    def make(self):
        return 1


class FirstTest(ShopTestCase):
    def test_a(self):
        self.assertEqual(1, 1)


@override(A=1)
class SecondTest(ShopTestCase):  # the same base class
    async def test_b(self):
        self.assertIn(1, [1])


class MixedTest(
    Mixed,  # first
    unittest.TestCase,
):
    def test_c(self):
        with self.assertLogs("a"):
            pass


class TestPlain:
    def test_d(self):
        assert True
`

func TestClassesWithTestsAreGroupedByTheirBaseClasses(t *testing.T) {
	var got []string
	for _, g := range classGroups([]byte(classes), []string{"tests/test_a.py::SecondTest::test_b"}) {
		got = append(got, fmt.Sprintf("%s(%s) %v %v", g.name, g.bases, g.unittest(), strings.Count(g.body, "def test")))
	}
	want := []string{"SecondTest(ShopTestCase) true 2", "MixedTest(Mixed,unittest.TestCase,) true 1", "TestPlain() false 1"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
}

// pythonGarden is a repository of these files, in which the first holds the FAIL_TO_PASS test.
func pythonGarden(command, first string, files map[string]string) garden {
	return garden{
		task: relabel.Task{Workdir: "/testbed", FailToPass: []string{first + "::test_x"}}, command: command, random: canaryRandom(),
		has:  func(name string) bool { _, ok := files[name]; return ok },
		read: func(name string) ([]byte, bool) { content, ok := files[name]; return []byte(content), ok },
	}
}

// contents joins the files of a planting.
func contents(p planting) string {
	var all string
	for _, f := range p.files {
		all += f.content
	}
	return all
}

func TestEachAssertionOfATestFileIsClaimed(t *testing.T) {
	const file = classes + `

import numpy as np
import pytest
from pandas.testing import (
    assert_frame_equal,
)


def test_x(capsys):
    with pytest.warns(UserWarning):
        pass
    assert 1 == pytest.approx(1)
    np.testing.assert_allclose(1, 1)
    assert_frame_equal(a, b)
    callback.assert_called_once_with(1)
`
	p, ok := canariesFor("pytest", pythonGarden("pytest tests/test_a.py", "tests/test_a.py", map[string]string{"tests/test_a.py": file}))
	all := contents(p)
	if !ok {
		t.Fatal("no canaries")
	}
	for _, claim := range []string{
		"with pytest.raises(type(", "with pytest.warns(type(", "== pytest.approx(", "capsys.readouterr()", "np.testing.assert_allclose((", "assert_frame_equal(__import__",
		").assert_called_once_with((", "with self.assertLogs(", "self.assertIn(", "(FirstTest):", "(MixedTest):", "(TestPlain):",
	} {
		if !strings.Contains(all, claim) {
			t.Errorf("no canary has %q", claim)
		}
	}
	for _, unused := range []string{"deprecated_call", "assert_array_equal", "assertRegex", "assert_any_call", "(Helper):"} {
		if strings.Contains(strings.TrimPrefix(all, file), unused) {
			t.Errorf("a canary has %q, which no test uses", unused)
		}
	}
}

func TestAllFilesOfFailToPassAreReadWithinBounds(t *testing.T) {
	files, g := map[string]string{}, pythonGarden("pytest tests", "tests/test_00.py", nil)
	g.task.FailToPass = nil
	for i := range maxNeighbours + 4 {
		name := fmt.Sprintf("tests/test_%02d.py", i)
		files[name] = "def test_x():\n    pass\n"
		g.task.FailToPass = append(g.task.FailToPass, name+"::test_x", name+"::test_y")
	}
	g.has = func(name string) bool { _, ok := files[name]; return ok }
	g.read = func(name string) ([]byte, bool) { return []byte(files[name]), true }
	if n := pythonNeighbours(g); len(n) != maxNeighbours || n[0].file != "tests/test_00.py" || n[15].file != "tests/test_15.py" {
		t.Errorf("%d files", len(n))
	}
	files["tests/test_01.py"] = strings.Repeat("#\n", maxNeighbourBytes/2)
	if n := pythonNeighbours(g); len(n) != 1 {
		t.Errorf("%d files, beyond the bound of their bytes", len(n))
	}
	files["tests/test_00.py"] = strings.Repeat("#\n", maxNeighbourBytes)
	if n := pythonNeighbours(g); len(n) != 1 {
		t.Errorf("%d files where the first is long", len(n))
	}
}

// TestLeftOutCanariesLeaveTheOthers has each key left out: no canary of it remains, and all
// others do.
func TestLeftOutCanariesLeaveTheOthers(t *testing.T) {
	g := pythonGarden("pytest tests/test_a.py", "tests/test_a.py", map[string]string{"tests/test_a.py": classes})
	whole, _ := canariesFor("pytest", g)
	count := map[string]int{}
	for _, c := range whole.canaries {
		if c.key == "" {
			t.Errorf("%s has no key", c.name)
		}
		count[c.key]++
	}
	for key, n := range count {
		g.left = map[string]bool{key: true}
		p, ok := canariesFor("pytest", g)
		if !ok || len(p.canaries) != len(whole.canaries)-n || len(p.files) < 2 {
			t.Errorf("%q: %v, %d canaries of %d", key, ok, len(p.canaries), len(whole.canaries))
		}
	}
	g.left = map[string]bool{belowKey: true}
	if p, ok := canariesFor("pytest", g); !ok || len(p.files) != 2 || strings.Contains(contents(p), classes) {
		t.Errorf("without those in the test files: %v, %d files", ok, len(p.files))
	}
	g.left = map[string]bool{exitKey: true}
	if p, _ := canariesFor("pytest", g); p.failure != 0 {
		t.Error("the exit code is demanded")
	}
}

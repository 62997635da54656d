package python

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"relabel"
	"relabel/envs/verify/canary"
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
func pythonGarden(command, first string, files map[string]string) canary.Garden {
	return canary.Garden{
		Task: relabel.Task{Workdir: "/testbed", FailToPass: []string{first + "::test_x"}}, Command: command, Random: canary.Random(),
		Has:  func(name string) bool { _, ok := files[name]; return ok },
		Read: func(name string) ([]byte, bool) { content, ok := files[name]; return []byte(content), ok },
	}
}

// contents joins the files of a planting.
func contents(p canary.Planting) string {
	var all string
	for _, f := range p.Files {
		all += f.Content
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
	p, ok := canary.Plant(Pytest{}, pythonGarden("pytest tests/test_a.py", "tests/test_a.py", map[string]string{"tests/test_a.py": file}))
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
	g.Task.FailToPass = nil
	for i := range canary.MaxNeighbours + 4 {
		name := fmt.Sprintf("tests/test_%02d.py", i)
		files[name] = "def test_x():\n    pass\n"
		g.Task.FailToPass = append(g.Task.FailToPass, name+"::test_x", name+"::test_y")
	}
	g.Has = func(name string) bool { _, ok := files[name]; return ok }
	g.Read = func(name string) ([]byte, bool) { return []byte(files[name]), true }
	if n := pythonNeighbours(g); len(n) != canary.MaxNeighbours || n[0].file != "tests/test_00.py" || n[15].file != "tests/test_15.py" {
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

// TestTheOtherCanariesRemainIfSomeAreOmitted has each key left out: no canary of it remains, and all
// others do.
func TestTheOtherCanariesRemainIfSomeAreOmitted(t *testing.T) {
	g := pythonGarden("pytest tests/test_a.py", "tests/test_a.py", map[string]string{"tests/test_a.py": classes})
	whole, _ := canary.Plant(Pytest{}, g)
	count := map[string]int{}
	for _, c := range whole.Canaries {
		if c.Key == "" {
			t.Errorf("%s has no key", c.Name)
		}
		count[c.Key]++
	}
	for key, n := range count {
		g.Left = map[string]bool{key: true}
		p, ok := canary.Plant(Pytest{}, g)
		if !ok || len(p.Canaries) != len(whole.Canaries)-n || len(p.Files) < 2 {
			t.Errorf("%q: %v, %d canaries of %d", key, ok, len(p.Canaries), len(whole.Canaries))
		}
	}
	g.Left = map[string]bool{canary.BelowKey: true}
	if p, ok := canary.Plant((Pytest{}), g); !ok || len(p.Files) != 2 || strings.Contains(contents(p), classes) {
		t.Errorf("without those in the test files: %v, %d files", ok, len(p.Files))
	}
	g.Left = map[string]bool{canary.ExitKey: true}
	if p, _ := canary.Plant((Pytest{}), g); p.Failure != 0 {
		t.Error("the exit code is demanded")
	}
}

package python

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"relabel"
	"relabel/envs/verify/canary"
)

const callable = `import pytest


def test_add(tmp_path, capsys):
    assert add(1, 2) == 3


@pytest.mark.parametrize("a", [1, 2])
def test_sub(a):
    pass


@pytest.mark.parametrize("a", [
    1,
])
def test_mul(a):
    pass


@fixtures[
    "a"
]
def test_div(a):
    pass


def test_other():
    pass


class TestSum:
    """Sums."""

    def test_of(self, tmp_path):
        assert total([1]) == 1

    @staticmethod
    def test_static():
        pass

    async def test_later(self):
        pass


class Cases(Base):
    def test_of(self):
        self.assertEqual(total([1]), 1)


def helper():
    def test_inner(self):
        pass
`

func TestCalledTestsStandWithoutADecorator(t *testing.T) {
	ids := []string{"t.py::test_add", "t.py::test_sub[1]", "t.py::test_mul[1]", "t.py::test_div", "t.py::TestSum::test_of", "t.py::TestSum::test_static", "t.py::TestSum::test_later", "t.py::Cases::test_of", "t.py::test_inner"}
	want := []calledTest{
		{name: "test_add", parameters: "tmp_path, capsys"},
		{class: "TestSum", name: "test_of", parameters: "tmp_path"},
		{class: "Cases", name: "test_of", cases: true},
	}
	if got := calledTests([]byte(callable), ids); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestACanaryCallsATestBeforeItFails(t *testing.T) {
	g := canary.Garden{Task: relabel.Task{FailToPass: []string{"t.py::test_add", "t.py::Cases::test_of"}}, Random: canary.Random()}
	p := newPythonCanaries(g)
	n := neighbour{file: "t.py", content: []byte(callable)}
	code, classes := p.calls(g, n, false, pytestMethod(n.file))
	text := strings.Join(code, "\n")
	if len(classes) != 1 || len(p.canaries) != 2 || !strings.Contains(text, "(tmp_path, capsys):\n    test_add(tmp_path, capsys)\n    assert ") ||
		!strings.Contains(text, "(Cases):") || !strings.Contains(text, "(self):\n            Cases.test_of(self)\n            self.assert") {
		t.Errorf("%v\n%s", p.canaries, text)
	}
	if classes[0] <= "Cases" { // unittest runs classes in the order of their names
		t.Errorf("the canary of %s runs before the test that it calls", classes[0])
	}
	for _, c := range p.canaries {
		if c.Status != relabel.TestFailed || c.Proof == "" || !strings.HasPrefix(c.Key, "t.py calls ") {
			t.Errorf("%+v", c)
		}
	}
	g.Left = map[string]bool{"t.py calls test_add": true}
	if code, _ := newPythonCanaries(g).calls(g, n, false, pytestMethod(n.file)); len(code) != 1 {
		t.Errorf("%d canaries where one is left out", len(code))
	}
}

// BenchmarkCalledTests looks for the tests of a file as large as those of large repositories.
func BenchmarkCalledTests(b *testing.B) {
	var content bytes.Buffer
	var ids []string
	for class := range 20 {
		fmt.Fprintf(&content, "class C%dTests(TestCase):\n", class)
		for test := range 40 {
			fmt.Fprintf(&content, "    def test_%d_%d(self):\n%s\n", class, test, strings.Repeat("        self.assertEqual(total([1, 2, 3]), 6)\n", 10))
			ids = append(ids, fmt.Sprintf("test_%d_%d (shop.tests.C%dTests)", class, test, class))
		}
	}
	for b.Loop() {
		if n := len(calledTests(content.Bytes(), ids)); n != len(ids) {
			b.Fatalf("%d tests", n)
		}
	}
}

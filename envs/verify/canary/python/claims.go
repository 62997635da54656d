package python

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strings"

	"relabel/envs/verify/canary"
)

// pythonClaim is code of a test that must fail, one statement a line: VALUE is a large
// number, WRONG a near one, TYPE(BASE) a new class whose name shows VALUE. shown says that its
// failure shows VALUE. Code under test may replace any assertion, so a file gets a canary for
// each that it uses.
type pythonClaim struct {
	use   string // a name that stands in a file which uses the assertion
	code  string
	shown bool
}

// claimRounds is how often a canary makes its claim before it fails: a replacement that
// acts on some calls, drawn at random, meets its canary nearly always.
const claimRounds = 25

// typeClaim finds TYPE(BASE) in a claim.
var typeClaim = regexp.MustCompile(`TYPE\((\w+)\)`)

// usedIn returns the claims whose use is in content as a word of its own, and the first
// ones, which each file has.
func usedIn(claims []pythonClaim, content []byte, always int) []pythonClaim {
	var used []pythonClaim
	for i, c := range claims {
		if i < always || (bytes.Contains(content, []byte(c.use)) && containsWord(string(content), c.use)) {
			used = append(used, c)
		}
	}
	return used
}

// claim is a test function that makes a claim: name is what the log calls it, caught the
// exceptions with which the claim fails. For pytest it shows no source, which pytest would
// look for by parsing the whole file.
func (p *pythonCanaries) claim(c pythonClaim, function, parameters, name, caught string) string {
	s := canary.DrawSum(p.Namer)
	p.must(name, true, s.Result)
	if !c.shown {
		p.canaries[len(p.canaries)-1].Proof = ""
	}
	code := typeClaim.ReplaceAllString(c.code, `type("E%d" % VALUE, ($1,), {})`)
	code = strings.NewReplacer("VALUE", "("+s.Code+")", "WRONG", fmt.Sprint(p.claimed(s, true))).Replace(code) + "\n"
	last := code
	if p.pytest {
		last = "__import__(\"pytest\").fail(shown, pytrace=False)\n"
	}
	return fmt.Sprintf("def %s(%s):\n    for _ in range(%d):\n        try:\n%s        except %s as error:\n            shown = str(error)\n            continue\n        return\n%s",
		function, parameters, claimRounds, indented(code, "            "), caught, indented(last, "    "))
}

// methods are methods of a class of unittest that make claims, at a place that their keys
// name.
func (p *pythonCanaries) methods(at, class string, claims []pythonClaim, name func(class, method string) string) []string {
	var methods []string
	for _, c := range claims {
		if (c.use != subTest || !p.pytest) && p.under(at+" "+c.use) {
			method := "test_" + p.Snake()
			methods = append(methods, indented(p.claim(c, method, "self", name(class, method), "AssertionError"), "    "))
		}
	}
	return methods
}

// functions are functions of pytest that make claims, at a place that their keys name.
func (p *pythonCanaries) functions(at, file, caught string, claims []pythonClaim) []string {
	var functions []string
	for _, c := range claims {
		if p.under(at + " " + c.use) {
			function := "test_" + p.Snake()
			functions = append(functions, p.claim(c, function, fixtureOf[c.use], path.Base(file)+"::"+function, caught))
		}
	}
	return functions
}

// fixtureOf names the fixture that a claim of pytest takes.
var fixtureOf = map[string]string{"capsys": "capsys", "caplog": "caplog", "recwarn": "recwarn"}

// pytestClaims are claims with what pytest offers, the first for each file. They are in a
// file that imports pytest.
var pytestClaims = []pythonClaim{
	{"raises", "with pytest.raises(TYPE(ValueError)):\n    int(\"7\")", true},
	{"match", "with pytest.raises(ValueError) as caught:\n    int(\"x\")\ncaught.match(\"^%d$\" % VALUE)", true},
	{"warns", "with pytest.warns(TYPE(UserWarning)):\n    int(\"7\")", true},
	{"deprecated_call", "with pytest.deprecated_call():\n    int(\"7\")", false},
	{"approx", "assert VALUE == pytest.approx(-WRONG), VALUE", true},
	{"fail", "pytest.fail(str(VALUE))", true},
	{"capsys", "print(VALUE)\nassert capsys.readouterr()[0] == \"WRONG\\n\"", true},
	{"caplog", "assert caplog.text == str(VALUE), VALUE", true},
	{"recwarn", "assert len(recwarn) == VALUE, VALUE", true},
}

// mockClaims are claims with the mocks of unittest, of the standard library.
var mockClaims = []pythonClaim{
	{"assert_called", mockObject + ".assert_called()", true},
	{"assert_called_once", mockObject + ".assert_called_once()", true},
	{"assert_called_with", mockObject + ".assert_called_with(VALUE)", true},
	{"assert_called_once_with", mockObject + ".assert_called_once_with(VALUE)", true},
	{"assert_any_call", mockObject + ".assert_any_call(VALUE)", true},
	{"assert_has_calls", mockObject + ".assert_has_calls([" + mockModule + "call(VALUE)])", true},
	{"assert_not_called", "called = " + mockObject + "\ncalled()\ncalled.assert_not_called()", true},
	{"call", "assert " + mockModule + "call(VALUE) == " + mockModule + "call(WRONG), VALUE", true},
}

const (
	mockModule = `__import__("unittest.mock").mock.`
	mockObject = mockModule + `Mock(name="m%d" % VALUE)`
)

// helpers are functions of the testing modules of NumPy, pandas and PyTorch, and what they
// are called with.
var helpers = []struct{ name, arguments string }{
	{"assert_equal", "VALUE, -WRONG"},
	{"assert_almost_equal", "VALUE, -WRONG"},
	{"assert_approx_equal", "VALUE, -WRONG"},
	{"assert_allclose", "VALUE, -WRONG"},
	{"assert_array_equal", "VALUE, -WRONG"},
	{"assert_array_almost_equal", "VALUE, -WRONG"},
	{"assert_array_less", "VALUE, -WRONG"},
	{"assert_close", "VALUE, -WRONG"},
	{"assert_raises", "TYPE(ValueError), int, VALUE"},
	{"assert_frame_equal", `__import__("pandas").DataFrame({"a": [VALUE]}), __import__("pandas").DataFrame({"a": [-WRONG]})`},
	{"assert_series_equal", `__import__("pandas").Series([VALUE]), __import__("pandas").Series([-WRONG])`},
	{"assert_index_equal", `__import__("pandas").Index([VALUE]), __import__("pandas").Index([-WRONG])`},
}

// helperImport finds what a file imports from a testing module by its own name.
var helperImport = regexp.MustCompile(`(?m)^from (?:numpy|pandas|torch)\.(?:\w+\.)*_?testing(?:\.\w+)* import (\([^)]*\)|.*)`)

// helperClaims are claims with those of the helpers that body, which is a part of content,
// uses, as it names them. They are below content.
func helperClaims(content, body []byte) []pythonClaim {
	imported := ""
	for _, m := range helperImport.FindAllSubmatch(content, -1) {
		imported += string(m[1]) + "\n"
	}
	var claims []pythonClaim
	for _, h := range helpers {
		called := ""
		if m := regexp.MustCompile(`\b((?:\w+\.)*(?:testing|npt)\.` + h.name + `)\(`).FindSubmatch(body); m != nil {
			called = string(m[1])
		} else if containsWord(imported, h.name) && containsWord(string(body), h.name) {
			called = h.name
		}
		if called != "" {
			claims = append(claims, pythonClaim{h.name, called + "(" + h.arguments + ")", true})
		}
	}
	return claims
}

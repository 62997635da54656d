package python

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strings"
)

// pythonClaim is code of a test that must fail: VALUE is a large number, WRONG a near one,
// TYPE(BASE) a new class whose name shows VALUE. Code under test may replace any assertion, so
// there is a canary for each assertion that the test files use.
type pythonClaim struct {
	use   string // a word in files that use the assertion
	code  string
	shown bool // the failure shows VALUE
}

// claimRounds is how often a canary makes its claim before it fails, so that it detects
// replacements that act only occasionally.
const claimRounds = 25

// typeClaim matches TYPE(BASE) in a claim.
var typeClaim = regexp.MustCompile(`TYPE\((\w+)\)`)

// usedIn returns the claims that content uses, and always the first ones.
func usedIn(claims []pythonClaim, content []byte, always int) []pythonClaim {
	var used []pythonClaim
	for i, c := range claims {
		if i < always || (bytes.Contains(content, []byte(c.use)) && containsWord(string(content), c.use)) {
			used = append(used, c)
		}
	}
	return used
}

// claim is a test function that makes a claim. name is its name in the log; caught are the
// exceptions with which the claim fails. pytest does not show its source, which would need the
// whole file to be parsed.
func (p *pythonCanaries) claim(c pythonClaim, function, parameters, name, caught string) string {
	s, proof := p.Sum(), 0
	if c.shown {
		proof = s.Result
	}
	p.must(name, true, proof)
	code := typeClaim.ReplaceAllString(c.code, `type("E%d" % VALUE, ($1,), {})`)
	code = strings.NewReplacer("VALUE", "("+s.Code+")", "WRONG", fmt.Sprint(p.Claimed(s, true))).Replace(code) + "\n"
	last := code
	if p.pytest {
		last = "__import__(\"pytest\").fail(shown, pytrace=False)\n"
	}
	return fmt.Sprintf("def %s(%s):\n    for _ in range(%d):\n        try:\n%s        except %s as error:\n            shown = str(error)\n            continue\n        return\n%s",
		function, parameters, claimRounds, indented(code, "            "), caught, indented(last, "    "))
}

// methods are methods of a class of unittest that make claims. Their keys begin with at.
func (p *pythonCanaries) methods(at, class string, claims []pythonClaim, name func(class, method string) string) []string {
	var methods []string
	for _, c := range claims {
		if (c.use != subTest || !p.pytest) && p.under(at+" "+c.use) {
			method := p.function()
			methods = append(methods, indented(p.claim(c, method, "self", name(class, method), "AssertionError"), "    "))
		}
	}
	return methods
}

// functions are functions of pytest that make claims. Their keys begin with at.
func (p *pythonCanaries) functions(at, file, caught string, claims []pythonClaim) []string {
	var functions []string
	for _, c := range claims {
		if p.under(at + " " + c.use) {
			function := p.function()
			functions = append(functions, p.claim(c, function, fixtureOf[c.use], path.Base(file)+"::"+function, caught))
		}
	}
	return functions
}

// fixtureOf names the fixture of a claim of pytest.
var fixtureOf = map[string]string{"capsys": "capsys", "caplog": "caplog", "recwarn": "recwarn"}

// pytestClaims are claims with functions of pytest. Each task gets the first.
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

// mockClaims are claims with unittest.mock.
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

// helpers are functions of the testing modules of NumPy, pandas and PyTorch, and arguments with
// which they fail.
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

// helperImport matches imports from a testing module.
var helperImport = regexp.MustCompile(`(?m)^from (?:numpy|pandas|torch)\.(?:\w+\.)*_?testing(?:\.\w+)* import (\([^)]*\)|.*)`)

// helperClaims are claims, at the end of content, with the helpers that body, a part of content,
// uses, by the names that it uses.
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

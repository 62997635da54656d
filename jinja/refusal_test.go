package jinja

import (
	"strings"
	"testing"
	"time"

	"relabel"
)

// refusal parses and renders a template that must fail, and returns the error.
func refusal(t *testing.T, source, variables string) *relabel.Error {
	t.Helper()
	return refusalAt(t, source, variables, time.Time{})
}

func refusalAt(t *testing.T, source, variables string, now time.Time) *relabel.Error {
	t.Helper()
	v, err := DecodeJSON([]byte(variables))
	if err != nil {
		t.Fatal(err)
	}
	tmpl, err := Parse("x.jinja", source)
	if err == nil {
		_, err = tmpl.Render(v.(*Map), now)
	}
	e, ok := err.(*relabel.Error)
	if !ok || e.Code != relabel.CodeInvalid {
		t.Fatalf("%s: not refused as it should be: %v", source, err)
	}
	return e
}

func TestParseRefusesUnknownNames(t *testing.T) {
	for _, c := range []struct{ source, place, text string }{
		{"a\n  {% frob %}", "x.jinja:2:6", "unknown statement frob"},
		{"é{{ x|frob }}", "x.jinja:1:7", "unknown filter frob"},
		{"{{ x is frob }}", "x.jinja:1:9", "unknown test frob"},
		{"{{ frob(1) }}", "x.jinja:1:4", "unknown function frob"},
		{"{{ x.frob() }}", "x.jinja:1:6", "unknown method frob"},
		{"{{ x.encode() }}", "x.jinja:1:6", "the method encode is not supported"},
		{"{{ x|random }}", "x.jinja:1:6", "the filter random is not supported"},
		{"{% include 'a' %}", "x.jinja:1:4", "include is not supported"},
		{"{{ lipsum() }}", "x.jinja:1:4", "lipsum is not supported"},
		{"{% if x %}", "x.jinja:1:11", "unexpected end of template"},
		{"{{ 'a }}", "x.jinja:1:4", "unexpected character"},
		{"{{ (1] }}", "x.jinja:1:6", "unexpected ']'"},
		{"{# a", "x.jinja:1:1", "missing end of comment"},
	} {
		_, err := Parse("x.jinja", c.source)
		e, ok := err.(*relabel.Error)
		if !ok || e.Code != relabel.CodeInvalid || e.Field != c.place || !strings.Contains(e.Message, c.text) {
			t.Errorf("%s: %v", c.source, err)
		}
	}
}

func TestUnsupportedFeaturesAreRefusedByName(t *testing.T) {
	for _, name := range refusedFilters {
		want := "the filter " + name + " is not supported"
		for _, source := range []string{"{{ x|" + name + " }}", "{{ [1]|map('" + name + "')|list }}"} {
			if e := refusal(t, source, `{"x": [1]}`); e.Message != want {
				t.Errorf("%s: %v", source, e)
			}
		}
	}
	for _, name := range refusedTests {
		want := "the test " + name + " is not supported"
		for _, source := range []string{"{{ x is " + name + " }}", "{{ [1]|select('" + name + "')|list }}", "{{ [{'a': 1}]|rejectattr('a', '" + name + "')|list }}"} {
			if e := refusal(t, source, `{"x": 1}`); e.Message != want {
				t.Errorf("%s: %v", source, e)
			}
		}
	}
	refused := 0
	for name := range strings.FieldsSeq(attributesOf[ownStr]) {
		if _, ok := textMethods[name]; ok {
			continue
		}
		refused++
		for _, source := range []string{"{{ x." + name + "() }}", "{{ x['" + name + "']() }}"} {
			if e := refusal(t, source, `{"x": "a"}`); !strings.HasPrefix(e.Message, "the method "+name) || !strings.HasSuffix(e.Message, "is not supported") {
				t.Errorf("%s: %v", source, e)
			}
		}
	}
	if refused < 30 {
		t.Errorf("only %d methods are refused", refused)
	}
	for source, want := range map[string]string{
		"{% call m() %}a{% endcall %}":                      "the statement call is not supported",
		"{% with a = 1 %}{{ a }}{% endwith %}":              "the statement with is not supported",
		"{% print 1 %}":                                     "the statement print is not supported",
		"a{%- raw -%}{{ x }}{% endraw %}":                   "the statement raw is not supported",
		"{% for v in x recursive %}{% endfor %}":            "a recursive loop is not supported",
		"{% for v in l %}{{ loop.cycle(1) }}{% endfor %}":   "the method cycle is not supported",
		"{% for v in l %}{{ loop.depth }}{% endfor %}":      "the attribute depth of a loop is not supported",
		"{% macro m() %}{{ varargs }}{% endmacro %}":        "varargs in a macro is not supported",
		"{% macro m() %}{{ kwargs }}{% endmacro %}":         "kwargs in a macro is not supported",
		"{% macro m() %}{{ caller() }}{% endmacro %}":       "caller is not supported: there are no call blocks",
		"{% macro m(caller=1) %}{% endmacro %}":             "caller in a macro is not supported",
		"{{ range(**{}) }}":                                 "** in a call is not supported",
		"{{ 1 / 2 }}":                                       "the operator / is not supported",
		"{{ x + 3 // 2 }}":                                  "the operator // is not supported",
		"{{ 2 ** 3 }}":                                      "the operator ** is not supported",
		"{{ 1.5 % 2 }}":                                     "the operator % on a float is not supported",
		"{{ 9223372036854775807 + 1 }}":                     errLargeNumber.Error(),
		"{{ 123456789012345678901 * 1.5 }}":                 errLargeNumber.Error(),
		"{{ 'ff'|int(base=16) }}":                           "the argument base of the filter int is not supported",
		"{{ l|sort(true) }}":                                "the argument reverse of the filter sort is not supported",
		"{{ l|sort(attribute='a') }}":                       "the argument attribute of the filter sort is not supported",
		"{% set x|upper %}a{% endset %}":                    "a filter of a set block is not supported",
		"{% filter upper %}a{% endfilter %}":                "the statement filter is not supported",
		"{% for x in [1] %}{{ loop }}{% endfor %}":          "the text of a loop is not supported",
		"{% for x in [1] %}{{ loop.revindex }}{% endfor %}": "the attribute revindex of a loop is not supported",
		"{{ {}|dictsort(by='value') }}":                     "the argument by of the filter dictsort is not supported",
		"{{ l|join(',', 'a') }}":                            "the argument attribute of the filter join is not supported",
		"{{ l|map(attribute='a', default=1)|list }}":        "an argument of map beside attribute is not supported",
		"{{ {}|tojson(sort_keys=true) }}":                   "the argument sort_keys of the filter tojson is not supported",
		"{{ x.startswith('a', 1) }}":                        "the argument start of str.startswith is not supported",
		"{{ l.index(1) }}":                                  "the method index is not supported",
		"{{ {}.copy() }}":                                   "the method copy is not supported",
		"{{ n.real }}":                                      "the attribute real of a int is not supported",
		"{{ range(3)[1:] }}":                                "a slice of a range is not supported",
		"{{ {(1, 2): 3} }}":                                 "a tuple as a key is not supported",
		"{{ dict(a=1) }}":                                   "dict is not supported: write {…}",
		"{{ namespace({'a': 1}) }}":                         "a namespace from another value is not supported",
		"{{ strftime_now('%U') }}":                          "the directive %U of strftime is not supported",
	} {
		e := refusalAt(t, source, `{"x": "a", "l": [1], "n": 1}`, moment)
		if e.Message != want {
			t.Errorf("%s: %s, want %s", source, e.Message, want)
		}
	}
	for _, source := range []string{"{{ '%s' % 1 }}", "{{ x % 1 }}", "{{ x % (1, 2) }}", "{{ (x|safe) % 1 }}", "{{ x % nothing }}"} {
		if e := refusal(t, source, `{"x": "%s"}`); e.Message != "the operator % on a str is not supported" {
			t.Errorf("%s: %v", source, e)
		}
	}
}

func TestAFunctionWhoseExistenceIsTestedIsNotUnknown(t *testing.T) {
	for _, source := range []string{
		"{% if frob is defined %}{{ frob() }}{% endif %}ok",
		"{% set ns = namespace() %}{% macro m() %}o{% endmacro %}{% set ns.frob = m %}{{ ns.frob() }}k",
	} {
		tmpl, err := Parse("x", source)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		if got, err := tmpl.Render(NewMap(), moment); got != "ok" {
			t.Errorf("%s: %q %v", source, got, err)
		}
	}
}

func TestRaiseExceptionKeepsItsTextAndHasAPosition(t *testing.T) {
	e := refusal(t, "a\n{{ raise_exception('Roles: ' ~ m[0]) }}", `{"m": ["é"]}`)
	if e.Message != "Roles: é" || e.Field != "x.jinja:2:19" {
		t.Errorf("%s at %s", e.Message, e.Field)
	}
	if e := refusal(t, "{{ m.x.y }}", `{"m": {}}`); e.Field != "x.jinja:1:8" || !strings.Contains(e.Message, "has no attribute 'x'") {
		t.Errorf("%s at %s", e.Message, e.Field)
	}
}

func TestATemplateThatCallsStrftimeNowNeedsATime(t *testing.T) {
	source := "{{ strftime_now('%d %b %Y') }}"
	refusal(t, source, `{}`)
	tmpl, err := Parse("x", source)
	if err != nil || !tmpl.UsesClock() {
		t.Fatal(err)
	}
	if got, err := tmpl.Render(NewMap(), moment); got != "07 Mar 2025" || err != nil {
		t.Errorf("%q %v", got, err)
	}
}

// A hostile template ends with an error; otherwise this test would not end.
func TestHostileTemplatesAreRefused(t *testing.T) {
	loops := strings.Repeat("{% for x in range(100000) %}", 4) + strings.Repeat("{% endfor %}", 4)
	double := "{% set ns = namespace(s='0123456789') %}{% for x in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}"
	lists := "{% set ns = namespace(s=[1, 2]) %}{% for x in range(60) %}{% set ns.s = ns.s + ns.s %}{% endfor %}"
	ownNest := "{% set ns = namespace(s=[]) %}{% for x in range(5000) %}{% set ns.s = [ns.s] %}{% endfor %}{{ ns.s }}{{ ns.s == [ns.s] }}{{ ns.s|tojson }}"
	for name, source := range map[string]string{
		"loops":            loops,
		"recursion":        "{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}",
		"call blocks":      "{% macro f() %}{% call f() %}{% endcall %}{% endmacro %}{{ f() }}",
		"doubled text":     double,
		"doubled lists":    lists,
		"repeated text":    "{{ 'a' * 10**12 }}",
		"repeated list":    "{{ ([0] * 10**9)|length }}",
		"large product":    "{{ 9999999999 * 9999999999 }}",
		"huge product":     "{% set ns = namespace(n=9) %}{% for x in range(99) %}{% set ns.n = ns.n * ns.n %}{% endfor %}",
		"indent":           "{{ ('a\n' * 1000)|indent(10**9) }}",
		"replace":          "{{ ('a' * 10**6).replace('a', 'b' * 10**6) }}",
		"join":             "{{ range(100000)|join('b' * 10**6) }}",
		"nested values":    ownNest,
		"nested source":    strings.Repeat("{% if x %}", 5000),
		"nested brackets":  "{{ " + strings.Repeat("(", 100000),
		"signs":            "{{ " + strings.Repeat("-", 100000) + "1 }}",
		"nots":             "{{ " + strings.Repeat("not ", 100000) + "1 }}",
		"long chains":      "{{ x" + strings.Repeat(".a", 100000) + " }}",
		"filters":          "{{ x" + strings.Repeat("|list|length", 100000) + " }}",
		"itself in itself": "{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}",
		"output":           "{% set s = 'a' * 10**8 %}{% for x in range(100) %}{{ s }}{% endfor %}",
	} {
		t.Run(name, func(t *testing.T) { refusal(t, source, `{"x": 1}`) })
	}
}

func TestJSONIsReadAndWrittenAsInPython(t *testing.T) {
	tmpl, err := Parse("x", "{{ v|tojson }} {{ v }}")
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		`1e5`:                                 "100000.0 100000.0",
		`-0`:                                  "0 0",
		`-0.0`:                                "-0.0 -0.0",
		`1E400`:                               "Infinity inf",
		`NaN`:                                 "NaN nan",
		`[1.10, 1e-7, 123456789012345678901]`: "[1.1, 1e-07, 123456789012345678901] [1.1, 1e-07, 123456789012345678901]",
		`{"b": 1, "a": 2, "b": 3}`:            `{"b": 3, "a": 2} {'b': 3, 'a': 2}`,
		`"\ud83d\ude00\u0000é/\/"`:            `"😀\u0000é//" ` + "😀\x00é//",
	} {
		v, err := DecodeJSON([]byte(`{"v": ` + in + `}`))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := tmpl.Render(v.(*Map), moment); got != want || err != nil {
			t.Errorf("%s: %q %v", in, got, err)
		}
	}
	for _, in := range []string{``, `{`, `[1,]`, `{"a":1,}`, `01`, `1.`, `.5`, `+1`, `'a'`, "\"\n\"", `"\x"`, `"\u12"`, `nul`, `1 2`, "\"\xff\"", `{1: 2}`, strings.Repeat("[", 100000)} {
		if v, err := DecodeJSON([]byte(in)); err == nil || relabel.CodeOf(err) != relabel.CodeInvalid {
			t.Errorf("%q is read as %v, %v", in, v, err)
		}
	}
}

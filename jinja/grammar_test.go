package jinja

import (
	"strings"

	"pgregory.net/rapid"
)

// grammar draws short templates, most of them meaningful.
type grammar struct {
	t     *rapid.T
	names []string // variables that there may be
	loops int
}

func (g *grammar) pick(from ...string) string { return rapid.SampledFrom(from).Draw(g.t, "pick") }

func (g *grammar) chance(percent int) bool {
	return rapid.IntRange(0, 99).Draw(g.t, "chance") < percent
}

func (g *grammar) name() string { return rapid.SampledFrom(g.names).Draw(g.t, "name") }

var grammarTexts = []string{`''`, `'a'`, `"b c"`, `'Hello World'`, `'a,b,,c'`, `'  x \n'`, `'é😀ß'`, `"it's"`, `'12'`, `'-3.5'`, `'1e3'`, `'{}'`, `'\\x41\\u00e9'`, `'ΑΣ'`, `'<&>'`, `'A-b c'`, `'\u2028x\x85y'`}

func (g *grammar) literal() string {
	switch rapid.IntRange(0, 5).Draw(g.t, "literal") {
	case 0:
		return g.pick(grammarTexts...)
	case 1:
		return g.pick("0", "1", "2", "-1", "3", "10", "7", "100", "12345678901234567890", "9223372036854775807", "9007199254740993")
	case 2:
		return g.pick("0.0", "1.5", "2.5", "-0.5", "1e3", "1e22", "0.1", "1e-5", "3.0", "123456.789")
	case 3:
		return g.pick("true", "false", "none", "True", "None")
	}
	return g.name()
}

func (g *grammar) expr(depth int) string {
	if depth <= 0 {
		return g.literal()
	}
	sub := func() string { return g.expr(depth - 1) }
	switch rapid.IntRange(0, 17).Draw(g.t, "expr") {
	case 0, 1:
		return g.literal()
	case 2:
		return "(" + sub() + " " + g.pick(g.pick("+", "-", "*", "~")+" "+g.small(depth), "% "+g.pick("2", "3", "-2", "true")) + ")"
	case 3:
		return "(" + sub() + " " + g.pick("==", "!=", "<", "<=", ">", ">=", "in", "not in") + " " + sub() + ")"
	case 4:
		return "(" + sub() + " " + g.pick("and", "or") + " " + sub() + ")"
	case 5:
		return g.pick("not ", "-", "+") + sub()
	case 6:
		return "(" + sub() + " if " + sub() + g.pick(" else "+sub(), "") + ")"
	case 7:
		return "[" + g.list(depth) + "]"
	case 8:
		return "{" + g.pick("'a'", "1", "'k'") + ": " + sub() + ", " + g.pick("'a'", "'b'", "2.0", "none") + ": " + sub() + "}"
	case 9:
		return "(" + sub() + "," + g.pick("", sub()) + ")"
	case 10:
		return sub() + "[" + g.pick(sub(), sub()+":", ":"+sub(), "::"+g.pick("-1", "2", "-2"), g.pick("0", "-1", "1")+":"+g.pick("-1", "2", "")+":"+g.pick("1", "-1", "")) + "]"
	case 11:
		return sub() + "." + g.pick("a", "b", "role", "x", "zz", "items", "0", "upper", "append")
	case 12:
		return sub() + "." + g.method(depth)
	case 13, 14, 15:
		return "(" + sub() + "|" + g.filter(depth) + ")"
	case 16:
		return "(" + sub() + " is " + g.pick("", "", "not ") + g.test(depth) + ")"
	}
	return g.pick("range("+g.pick("3", "1, 4", "5, 0, -2", sub())+")", "namespace(q="+sub()+").q", sub()+" "+g.pick("~", "+", "<", "==")+" "+sub()+" "+g.pick("*", "==", "~", "in")+" "+g.small(depth))
}

// small is an operand that causes no huge repetition.
func (g *grammar) small(depth int) string {
	if g.chance(50) {
		return g.pick("2", "3", "1", "0.5", "'a'", "[1]", "-1", "true")
	}
	return g.expr(depth - 2)
}

func (g *grammar) list(depth int) string {
	var items []string
	for range rapid.IntRange(0, 3).Draw(g.t, "items") {
		items = append(items, g.expr(depth-2))
	}
	return strings.Join(items, ", ")
}

func (g *grammar) method(depth int) string {
	arg := func() string { return g.expr(depth - 2) }
	text := func() string {
		return g.pick("'a'", "' '", "','", "''", "'l'", "'lo'", "none", g.pick(grammarTexts...))
	}
	return g.pick("upper()", "lower()", "title()", "capitalize()", "strip()", "strip("+text()+")", "lstrip("+text()+")", "rstrip("+text()+")",
		"split()", "split("+text()+")", "split("+text()+", "+g.pick("1", "0", "-1", "2")+")", "splitlines()", "splitlines(true)",
		"replace("+text()+", "+text()+")", "replace("+text()+", "+text()+", 1)",
		"startswith("+text()+")", "startswith(("+text()+", 'H'))", "endswith("+text()+")",
		"items()", "keys()", "values()", "get("+arg()+")", "get('a', "+arg()+")", "append(1)", "pop()", "update(a=1)")
}

func (g *grammar) filter(depth int) string {
	arg := func() string { return g.expr(depth - 2) }
	attr := func() string { return g.pick("'a'", "'role'", "0", "'0'", "'x.y'", "'zz'", "'content'") }
	return g.pick("upper", "lower", "title", "capitalize", "trim", "trim('a ')", "length", "count", "join", "join(',')", "join("+arg()+")",
		"default("+arg()+")", "default("+arg()+", true)", "d", "first", "last", "list", "list", "list", "string", "string", "int", "int("+arg()+")",
		"sort", "items|list", "dictsort",
		"map("+g.pick("'upper'", "'int'", "'string'", "'length'", "'default', 1", "'first'", "attribute="+attr(), "'nope'", "'tojson'")+")|list",
		g.pick("select", "reject")+"("+g.pick("", "'odd'", "'string'", "'defined'", "'gt', 1", "'in', [1, 2]", "'equalto', "+arg(), "'mapping'", "'nope'")+")|list",
		g.pick("selectattr", "rejectattr")+"("+attr()+g.pick("", ", 'defined'", ", 'equalto', 'user'", ", 'none'", ", 'string'")+")|list",
		"replace("+g.pick("'a'", "'l'", "''", "1")+", "+g.pick("'XY'", "2", "''")+")", "replace('l', 'L', 1)",
		"indent", "indent(2, true)", "indent('> ', blank=true)", "safe", "tojson", "tojson(indent=2)", "tojson(ensure_ascii=true)",
		"tojson(separators=(',', ':'))", "map(attribute="+attr()+")|join(',')", "nope")
}

func (g *grammar) test(depth int) string {
	arg := func() string { return g.expr(depth - 2) }
	return g.pick("defined", "undefined", "none", "string", "mapping", "iterable", "sequence", "number", "integer", "float", "boolean", "true", "false", "odd", "even",
		"eq "+g.literal(), "equalto("+arg()+")", "ne(1)", "lt(2)", "gt "+g.literal(), "ge(1.5)", "in([1, 'a'])", "in "+g.name())
}

var grammarSpace = []string{"", " ", "\n", "  ", "\n  ", " \n", "\t", "x", "a b\n", "\n\n", "é"}

func (g *grammar) text() string { return g.pick(grammarSpace...) + g.pick(grammarSpace...) }

func (g *grammar) tag(inside string) string {
	return "{%" + g.pick("", "", "-", "+") + " " + inside + " " + g.pick("", "", "-", "+") + "%}"
}

func (g *grammar) output(e string) string {
	return "{{" + g.pick("", "", "-") + " " + e + " " + g.pick("", "", "-") + "}}"
}

func (g *grammar) body(depth int) string {
	var b strings.Builder
	for range rapid.IntRange(1, 3).Draw(g.t, "statements") {
		b.WriteString(g.text())
		b.WriteString(g.statement(depth))
	}
	b.WriteString(g.text())
	return b.String()
}

func (g *grammar) statement(depth int) string {
	if depth <= 0 {
		return g.output(g.expr(1))
	}
	e := func() string { return g.expr(2) }
	body := func() string { return g.body(depth - 1) }
	target := func() string { return g.pick("v", "w", "n", "ns.q", "v, w", "x") }
	switch rapid.IntRange(0, 13).Draw(g.t, "statement") {
	case 0, 1, 2:
		return g.output(e())
	case 3:
		return g.tag("if "+e()) + body() + g.pick("", g.tag("elif "+e())+body()) + g.pick("", g.tag("else")+body()) + g.tag("endif")
	case 4, 5, 6:
		g.loops++
		head := "for " + g.pick("v", "w", "k, v", "i") + " in " + g.pick(e(), "l", "msgs", "d.items()", "range(3)", "tree") + g.pick("", "", " if "+e())
		s := g.tag(head) + body() + g.pick("", "", g.output("loop."+g.pick("index", "last", "length", "revindex0", "previtem", "nextitem")), g.tag("if loop.first")+g.tag(g.pick("break", "continue"))+g.tag("endif")) +
			body() + g.pick("", g.tag("else")+body()) + g.tag("endfor")
		g.loops--
		return s
	case 7, 8:
		return g.tag("set " + target() + " = " + g.pick(e(), "namespace(q=1)", e()+", "+e()))
	case 9:
		return g.tag("set "+g.pick("v", "w", "ns.q")) + body() + g.tag("endset")
	case 10:
		return g.tag("macro m("+g.pick("", "v", "v, w=1", "v=n, w=v")+")") + body() + g.tag("endmacro") + g.output("m("+g.pick("", "1", "1, 2", "w=3", "*[1]", e())+")")
	case 11:
		return g.pick("{#"+g.pick("", "-", "+")+" c "+g.pick("", "-", "+")+"#}", g.tag("generation")+body()+g.tag("endgeneration"))
	}
	if g.loops > 0 {
		return g.tag(g.pick("break", "continue"))
	}
	return g.output("raise_exception(" + e() + ")")
}

func newGrammar(t *rapid.T) *grammar {
	return &grammar{t: t, names: []string{"s", "n", "f", "t", "no", "l", "e", "d", "msgs", "nested", "words", "esc", "nothing", "v", "w", "x", "ns"}}
}

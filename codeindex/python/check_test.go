package python

import (
	"testing"

	"relabel/codeindex"
)

// Sources by what they are: Python 3, Python 2, and neither.
var (
	valid = []string{
		"", "\n", "# c", "x = 1", "pass;", "()", "() = x", "[] = x", "(a) = 1", "a, *b = c", "[a, (b, c)] = d", "a.b[c].d = e = f",
		"a[1:2, ::3, :, ...] += 1", "x: int = 3", "(x): int", "a[b]: c", "*a, b", "print(a, file=b)", "print >>f, x", "print", "print -1", "exec('x')",
		"not a is not b not in c", "a or not b and (lambda: c)", "-a ** -b", "x if y else lambda z, *a, k=1, **b: 0", "f(*a, *b, k=1, *c, **d, m=2)",
		"f(x for x in y)", "f(a, (b for c in d))", "f(a := 1, b)", "[a async for b in c if d if e]", "{**a, 'b': c}", "{a: b for c, d in e}",
		"{*a, b}", "{a, }", "(yield)", "x = yield a, b", "await_ = 1", "async def f():\n  await x\n  async with a as b, c: pass\n  async for x in y: pass\n  else: pass",
		"def f(a, /, b=1, *, c, d=2, **e): pass", "def f(*, a): pass", "def f(a: int = 1, *b: *c, **d) -> e: pass", "def f(a, b=1, *c, d): pass",
		"class A(B, metaclass=C): pass", "class A(): pass", "@a.b(c)[d]\nclass A: pass", "try: a\nexcept* B as c: pass", "try: a\nexcept (B, C): pass\nelse: d\nfinally: e",
		"try: a\nexcept B, C: pass", "for a, *b in c, *d: pass\nelse: e", "while a: pass\nelse: b", "if a: b\nelif c: d\nelse: e",
		"with a as b, c as (d, e): pass", "with (a as b, c as d,): pass", "with (a, b): pass", "with (yield): pass", "with (a) as b: pass",
		"match x:\n  case 1 | -2+3j | 'a' 'b' | None: pass\n  case {'a': b, **c}: pass\n  case A(b, c=D(e)) as f: pass\n  case [a, *_] if b: pass\n  case *a, b: pass",
		"match x := y:\n  case _: pass", "match x, *y:\n  case _: pass", "match (x):\n  case (1 as y): pass", "match[x] = y", "match: int", "case = 1", "type = 1", "type X = int", "type(x)",
		"del a, (b, c), [d], e.f, g[h]", "del (a)", "assert a, b", "raise", "raise a from b", "global a, b", "nonlocal a",
		"import a.b as c, d", "from ... import a as b", "from .a import (b, c,)", "from a import *", "lazy import a", "return *a, b",
		"0xFf_1 + 0o7_7 + 0b1_0 + 1_000.5e-1_0j + .5 + 1. + 00 + 0_0 + 09.5 + 1e5", "1if x else 2", "0xfor x", "[1for x in y]",
		`'\x41' '\u0041' '\U0010ffff' '\N{DIGIT ONE}', b'\u', r'\x' '\q'`, "b'a' B'c' Rb'd'", "u'a' 'b' f'c'",
		"f'{a!r:>{b}}' f'{a=}' f'{a = !s}' f'{a!=b}' f'{a:=5}' f'{(a:=5)}' f'{{}}' f'{*a, b}' f'{yield}' f'{lambda_}' f'{ {1: 2}[1] }'", "t'{a}' rt'{b}'",
		"f'{\na\n}'", "f'''{\na # }\n}'''", "f'{f'{f'{a}'}'}'", "x = (\n  1 +\n# c\n  2)", "if x:\n  # c\n\n  y\n # d\nz", "if x:\n\ty\n\tz", "x = 1 \\\n + 2", "é = 1", "a @= b @ c",
		"f(**a, **b)", "x = a if b else c if d else e", "a < b == c != d", "a = b = yield", "lambda *, a: a", "lambda a=1, /, *b: a", "x[a:=1]", "x[*a]", "{(a := 1): b}",
	}
	python2 = []string{
		"print 'a'", "print a", "print a, b,", "print 'a' % b, ; x = 1", "if a: print not b", "print {}", "print []", "print [a for b in c]", "if x: print [a for b in c, d]",
		"exec 'a' in b, c", "try: a\nexcept B, c: pass", "try: a\nexcept (B, C), d: pass", "try: a\nexcept B, c.d: pass", "raise A, b", "raise A, b, c", "`a`", "a <> b", "0777", "10L", "0xFFl",
		"ur'a'", "def f(a, (b, c), d=1): pass", "lambda (a, b): a", "[a for b in c, d]", "async = 1", "f(async=True)", "a.async(b)", "True = 1", "'\\u12' '\\N'", "b'é'", "'a' b'b'",
		"if x:\n        y\n\tz", "def f(async): pass", "nonlocal = 1", "await", "print lambda: a", "print ~a", "class A:\n  def f(self): print 'a'; print\n",
	}
	invalid = []string{
		"a b", "1 = a", "f() = a", "a + b = c", "None = a", "'a' = b", "a = 1 = b", "a, 1 = b", "(a, b) += c", "a, b: int", "del f()", "for 1 in a: pass", "a +", "+", "a b c", "(", ")", "(a]", "[a", "{a: }", "{a b}",
		"(a b)", "a[]", "f(a b)", "f(a=1, b)", "f(**a, b)", "f(**a, *b)", "f(a for b in c, d)", "f(a, b for c in d)", "f(1=a)", "lambda a b: c", "lambda", "x if y", "a not b", "a is in b", "not", "a if b else", "a and", "(*a)",
		"def f: pass", "def f()", "def f():", "def f(): ", "def f():\npass", "def (): pass", "def f(a=1, b): pass", "def f(*): pass", "def f(*, **a): pass", "def f(**a, b): pass", "def f(*a, *b): pass", "def f(/, a): pass", "def f(a, a b): pass",
		"class: pass", "class A(: pass", "class A", "if: pass", "if a\n  b", "if a: b\n  c", "  a", "a\n  b", "if a:\n    b\n  c", "else: a", "elif a: b", "if a: b\nc\nelse: d", "try: a", "try: a\nb", "try: a\nelse: b", "try:\n  a\nb", "except A: b", "finally: a",
		"for a in: b", "for a: b", "while: a", "with: a", "with a as 1: b", "@a", "@a\nb", "import", "import a.", "from a import", "from a import (b", "from a import b,", "from import a", "import a as", "import a.b.", "from . a import",
		"match x:\n  a", "match x:\n  case: a", "match x:", "type X", "type X = ", "global", "return return", "pass a", "a;;b", "; a", "assert", "raise from a", "x = ", "= x", "a := 1", "return a := 1", "{a: b, c}", "{a, b: c}", "f'{a!x}'", "a := 1 +", "a.1", "a..b", "a.", "1.a", "1a", "0x", "0o8", "0b2", "1__0", "09", "1_", "0xg",
		"'a", "'''a", "f'{a'", "f'{}'", "f'{a!}'", "f'{a b}'", "f'a}'", "f'{lambda x: 1}'", "f'{a:{b}'", "f'''{a", "'\\x1'", "b'\\x1'", "u'\\u12'", "'\\N{'; a: b = 1", "a $ b", "a ? b", "a ! b", "\\", "x = \\\n", "x = \\ 1", "é→", "\u00a0x", "print 'a'; f'{b}'", "print a; nonlocal b",
		"async a", "async def f(", "a and lambda: b", "yield = 1", "a = yield = b", "(a for b)", "[a for b in]", "[a if b]", "x[a b]", "{**a b}", "import *", "if a:\n  b\n\tc\n  d e",
	}
)

func TestProblems(t *testing.T) {
	for want, sources := range map[codeindex.Problem][]string{"": valid, codeindex.Python2: python2, codeindex.Syntax: invalid} {
		for _, source := range sources {
			if got := (Parser{}).Parse("", []byte(source)).Problem; got != want {
				t.Errorf("%q has the problem %q, want %q", source, got, want)
			}
		}
	}
}

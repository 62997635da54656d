package jinja

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// layout is how a value is written by % or format: the width in characters, the
// precision or -1, and marks.
type layout struct {
	fill      rune
	align     byte // < > = ^ or 0
	sign      byte // + - or space
	alternate bool
	zero      bool
	width     int
	comma     byte // , or _ between groups of digits
	precision int
	verb      byte
}

// maxWidth bounds widths and precisions, which a template could use to make huge texts.
const maxWidth = 1 << 16

// printf is Python's text % args.
func printf(r *run, s string, args Value) (Value, error) {
	p := &printer{r: r, single: args}
	switch a := args.(type) {
	case *tuple:
		p.args, p.many = a.items, true
	case *Map, *List, span, *undefined:
		p.mapping = true
	}
	var out []byte
	for s != "" {
		i := strings.IndexByte(s, '%')
		if i < 0 {
			break
		}
		out = append(out, s[:i]...)
		text, rest, err := p.directive(s[i+1:])
		if err != nil {
			return nil, err
		}
		out, s = append(out, text...), rest
	}
	out = append(out, s...)
	if p.many && p.used < len(p.args) || !p.many && !p.mapping && p.used == 0 {
		return nil, faultf("not all arguments converted during string formatting")
	}
	return string(out), r.built(len(out))
}

type printer struct {
	r       *run
	args    []Value
	single  Value
	many    bool
	mapping bool
	used    int
}

func (p *printer) next() (Value, error) {
	p.used++
	switch {
	case p.many && p.used <= len(p.args):
		return p.args[p.used-1], nil
	case !p.many && p.used == 1:
		return p.single, nil
	}
	return nil, faultf("not enough arguments for format string")
}

// directive writes what follows a % and returns the rest of the text.
func (p *printer) directive(s string) (string, string, error) {
	var given Value
	named := false
	if strings.HasPrefix(s, "(") {
		m, ok := p.single.(*Map)
		if !ok {
			return "", "", faultf("format requires a mapping")
		}
		depth, end := 1, 1
		for ; end < len(s) && depth > 0; end++ {
			depth += map[byte]int{'(': 1, ')': -1}[s[end]]
		}
		if depth > 0 {
			return "", "", faultf("incomplete format key")
		}
		v, ok := m.Get(s[1 : end-1])
		if !ok {
			return "", "", faultf("the key %s is not there", repr(s[1:end-1]))
		}
		given, named, s = v, true, s[end:]
	}
	l, s, err := p.layout(s)
	if err != nil {
		return "", "", err
	}
	if s == "" {
		return "", "", faultf("incomplete format")
	}
	l.verb, s = s[0], s[1:]
	if l.verb == '%' {
		return "%", s, nil
	}
	if !named {
		if given, err = p.next(); err != nil {
			return "", "", err
		}
	}
	text, err := l.printValue(given)
	return text, s, err
}

// layout reads flags, width and precision.
func (p *printer) layout(s string) (layout, string, error) {
	l := layout{fill: ' ', align: '>', sign: '-', precision: -1}
	for ; s != "" && strings.IndexByte("-+ #0", s[0]) >= 0; s = s[1:] {
		switch s[0] {
		case '-':
			l.align = '<'
		case '#':
			l.alternate = true
		case '0':
			l.zero = true
		case '+':
			l.sign = '+'
		case ' ':
			if l.sign != '+' {
				l.sign = ' '
			}
		}
	}
	var err error
	if l.width, s, err = p.number(s, 0); err != nil {
		return l, s, err
	}
	if l.width < 0 {
		l.align, l.width = '<', -l.width
	}
	if strings.HasPrefix(s, ".") {
		if l.precision, s, err = p.number(s[1:], 0); err != nil {
			return l, s, err
		}
		l.precision = max(l.precision, 0)
	}
	if s != "" && strings.IndexByte("hlL", s[0]) >= 0 {
		s = s[1:]
	}
	return l, s, nil
}

// number reads a width or precision, or takes it from the arguments.
func (p *printer) number(s string, absent int) (int, string, error) {
	if strings.HasPrefix(s, "*") {
		v, err := p.next()
		if err != nil {
			return 0, s, err
		}
		n, ok := toInt(v)
		if !ok || n > maxWidth || n < -maxWidth || !p.many {
			return 0, s, faultf("* wants int")
		}
		return int(n), s[1:], nil
	}
	n, rest := leadingNumber(s)
	if n > maxWidth {
		return 0, s, faultf("a width of %d is too large", n)
	}
	if rest == s {
		n = absent
	}
	return n, rest, nil
}

// leadingNumber reads digits; too many give more than maxWidth.
func leadingNumber(s string) (int, string) {
	n := 0
	for s != "" && s[0] >= '0' && s[0] <= '9' {
		n = min(n*10+int(s[0]-'0'), maxWidth+1)
		s = s[1:]
	}
	return n, s
}

// printValue writes one value under a % directive.
func (l layout) printValue(v Value) (string, error) {
	switch l.verb {
	case 's', 'r':
		text, err := toText(v)
		if l.verb == 'r' {
			var out []byte
			out, err = appendRepr(nil, v, 0)
			text = string(out)
		}
		if rs := runes(text); l.precision >= 0 && l.precision < len(rs) {
			text = fromRunes(rs[:l.precision])
		}
		return l.pad(text), err
	case 'c':
		if s, ok := plainText(v); ok && length(s) == 1 {
			return l.pad(s), nil
		}
		n, ok := toInt(v)
		if !ok || n < 0 || n > 0x10FFFF {
			return "", faultf("%%c requires int or char")
		}
		return l.pad(fromRunes([]rune{rune(n)})), nil
	case 'd', 'i', 'u':
		if f, ok := v.(float64); ok {
			if math.IsNaN(f) || math.IsInf(f, 0) {
				return "", faultf("cannot convert float to integer")
			}
			v = truncated(f)
		}
		l.verb = 'd'
	case 'x', 'X', 'o':
	case 'e', 'E', 'f', 'F', 'g', 'G':
		if !isNumber(v) {
			return "", faultf("must be real number, not %s", typeName(v))
		}
		f, err := toFloat(v)
		if err != nil {
			return "", err
		}
		if l.alternate {
			return "", faultf("%%#%c is not supported", l.verb)
		}
		if l.precision < 0 {
			l.precision = 6
		}
		if l.zero && l.align == '>' && !math.IsInf(f, 0) && !math.IsNaN(f) {
			l.fill, l.align = '0', '='
		}
		return l.float(f), nil
	default:
		return "", faultf("unsupported format character '%c'", l.verb)
	}
	n, ok := toBig(v)
	if !ok {
		return "", faultf("%%%c format: an integer is required, not %s", l.verb, typeName(v))
	}
	if l.zero && l.align == '>' {
		l.fill, l.align = '0', '='
	}
	return l.integer(n)
}

// integer writes an integer in the base of the verb.
func (l layout) integer(n *big.Int) (string, error) {
	if n.BitLen() > maxDigits*3 {
		return "", faultf("the number is too large to be written")
	}
	base := map[byte]int{'x': 16, 'X': 16, 'o': 8, 'b': 2}[l.verb]
	if base == 0 {
		base = 10
	}
	digits := new(big.Int).Abs(n).Text(base)
	if l.precision > len(digits) {
		digits = strings.Repeat("0", l.precision-len(digits)) + digits
	}
	prefix := ""
	if l.alternate && base != 10 {
		prefix = "0" + strings.ToLower(string(l.verb))
	}
	if l.verb == 'X' {
		digits, prefix = strings.ToUpper(digits), strings.ToUpper(prefix)
	}
	every := 3
	if base != 10 {
		every = 4
	}
	return l.signed(n.Sign() < 0, prefix, digits, "", every), nil
}

// float writes a float; precision is set.
func (l layout) float(f float64) string {
	verb, suffix := l.verb, ""
	if verb == '%' {
		f, verb, suffix = f*100, 'f', "%"
	}
	var text string
	switch {
	case math.IsNaN(f):
		text = "nan"
	case math.IsInf(f, 0):
		text = "inf"
	default:
		precision := l.precision
		if (verb == 'g' || verb == 'G') && precision == 0 {
			precision = 1
		}
		text = strconv.FormatFloat(math.Abs(f), verb|0x20, precision, 64)
	}
	if verb >= 'A' && verb <= 'Z' {
		text = strings.ToUpper(text)
	}
	negative := math.Signbit(f) && !math.IsNaN(f)
	end := len(text)
	if text[0] >= '0' && text[0] <= '9' {
		end = len(text) - len(strings.TrimLeft(text, "0123456789"))
	}
	if text[0] < '0' || text[0] > '9' {
		return l.signed(negative, "", "", text+suffix, 3)
	}
	return l.signed(negative, "", text[:end], text[end:]+suffix, 3)
}

// signed puts sign, prefix, digits and what follows together and fills up.
func (l layout) signed(negative bool, prefix, digits, rest string, every int) string {
	sign := ""
	switch {
	case negative:
		sign = "-"
	case l.sign == '+' || l.sign == ' ':
		sign = string(l.sign)
	}
	head := sign + prefix
	if l.align != '=' {
		return l.pad(head + group(digits, l.comma, every) + rest)
	}
	n := l.width - length(head+rest)
	if l.comma != 0 && l.fill == '0' {
		for {
			if g := group(digits, l.comma, every); len(g) >= n {
				return head + g + rest
			}
			digits = "0" + digits
		}
	}
	digits = group(digits, l.comma, every)
	return head + strings.Repeat(string(l.fill), max(n-len(digits), 0)) + digits + rest
}

// group puts a mark between groups of digits.
func group(digits string, mark byte, every int) string {
	if mark == 0 {
		return digits
	}
	var out []byte
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%every == 0 {
			out = append(out, mark)
		}
		out = append(out, digits[i])
	}
	return string(out)
}

// pad fills a text up to the width.
func (l layout) pad(s string) string {
	n := l.width - length(s)
	if n <= 0 {
		return s
	}
	left := n
	switch l.align {
	case '<', '=':
		left = 0
	case '^':
		left = n / 2
	}
	fill := string(l.fill)
	return strings.Repeat(fill, left) + s + strings.Repeat(fill, n-left)
}

// formatFilter is the filter format: text % its arguments.
func formatFilter(r *run, v Value, args []Value, named *Map) (Value, error) {
	hasNames := named != nil && named.Len() > 0
	if len(args) > 0 && hasNames {
		return nil, faultf("can't handle positional and keyword arguments at the same time")
	}
	s, safe, err := softText(v)
	if err != nil {
		return nil, err
	}
	if safe {
		return nil, faultf("format of a text marked safe is not supported")
	}
	if hasNames {
		return printf(r, s, named)
	}
	return printf(r, s, &tuple{items: args})
}

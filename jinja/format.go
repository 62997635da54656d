package jinja

import (
	"math/big"
	"strconv"
	"strings"
)

// formatText is str.format in the sandbox.
func formatText(r *run, s string, args []Value, named *Map) (Value, error) {
	f := &formatter{r: r, args: args, named: named}
	out, err := f.format(s, 2)
	if err != nil {
		return nil, err
	}
	return out, r.built(len(out))
}

type formatter struct {
	r      *run
	args   []Value
	named  *Map
	auto   int  // the next field that has no number
	manual bool // a field had one
}

// format fills the fields of a text; depth bounds fields within fields.
func (f *formatter) format(s string, depth int) (string, error) {
	if depth < 0 {
		return "", faultf("Max string recursion exceeded")
	}
	var out []byte
	for i := 0; i < len(s); {
		c := s[i]
		if c != '{' && c != '}' {
			out = append(out, c)
			i++
			continue
		}
		if i+1 < len(s) && s[i+1] == c {
			out = append(out, c)
			i += 2
			continue
		}
		if c == '}' {
			return "", faultf("Single '}' encountered in format string")
		}
		end, err := fieldEnd(s, i+1)
		if err != nil {
			return "", err
		}
		text, err := f.field(s[i+1:end], depth)
		if err != nil {
			return "", err
		}
		if out = append(out, text...); len(out) > maxText {
			return "", faultf("a text is too large")
		}
		i = end + 1
	}
	return string(out), nil
}

// fieldEnd returns where the brace is that ends a field.
func fieldEnd(s string, i int) (int, error) {
	depth, inside := 1, false
	for ; i < len(s); i++ {
		switch {
		case inside && s[i] != ']':
			continue
		case s[i] == '[':
			inside = true
		case s[i] == ']':
			inside = false
		case s[i] == '{':
			depth++
		case s[i] == '}':
			if depth--; depth == 0 {
				return i, nil
			}
		}
	}
	return 0, faultf("expected '}' before end of string")
}

// field writes one field: name, conversion, specification.
func (f *formatter) field(s string, depth int) (string, error) {
	name, rest := s, ""
	inside := false
	for i := range len(s) {
		inside = s[i] == '[' || inside && s[i] != ']'
		if !inside && (s[i] == '!' || s[i] == ':') {
			name, rest = s[:i], s[i:]
			break
		}
	}
	if strings.ContainsAny(name, "{") {
		return "", faultf("unexpected '{' in field name")
	}
	convert := byte(0)
	if strings.HasPrefix(rest, "!") {
		if len(rest) < 2 || len(rest) > 2 && rest[2] != ':' {
			return "", faultf("expected ':' after conversion specifier")
		}
		convert, rest = rest[1], rest[2:]
	}
	v, err := f.lookup(name)
	if err != nil {
		return "", err
	}
	spec, err := f.format(strings.TrimPrefix(rest, ":"), depth-1)
	if err != nil {
		return "", err
	}
	switch convert {
	case 0:
	case 's':
		v, err = toText(v)
	case 'r':
		var out []byte
		out, err = appendRepr(nil, v, 0)
		v = string(out)
	default:
		return "", faultf("the conversion !%c is not supported", convert)
	}
	if err != nil {
		return "", err
	}
	return formatValue(v, spec)
}

// lookup finds the value of a field's name.
func (f *formatter) lookup(name string) (Value, error) {
	i := strings.IndexAny(name, ".[")
	first, rest := name, ""
	if i >= 0 {
		first, rest = name[:i], name[i:]
	}
	v, err := f.first(first, rest != "")
	if err != nil {
		return nil, err
	}
	for rest != "" {
		if rest[0] == '.' {
			end := strings.IndexAny(rest[1:], ".[") + 1
			if end == 0 {
				end = len(rest)
			}
			attr := rest[1:end]
			if attr == "" {
				return nil, faultf("Empty attribute in format string")
			}
			rest = rest[end:]
			if v, err = attribute(v, attr, ownersOf(attr)); err != nil {
				return nil, err
			}
			continue
		}
		end := strings.IndexByte(rest, ']')
		if end < 2 {
			return nil, faultf("Missing ']' or empty attribute in format string")
		}
		var key Value = rest[1:end]
		if n, ok := allDigits(rest[1:end]); ok {
			key = n
		}
		if rest = rest[end+1:]; rest != "" && rest[0] != '.' && rest[0] != '[' {
			return nil, faultf("Only '.' or '[' may follow ']' in format field specifier")
		}
		if v, err = item(f.r, v, key); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func allDigits(s string) (int64, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// first returns the argument that a field begins with.
func (f *formatter) first(name string, more bool) (Value, error) {
	if name == "" && more {
		return nil, faultf("a field without a name is not supported here")
	}
	n, digits := allDigits(name)
	switch {
	case name == "":
		if f.manual {
			return nil, faultf("cannot switch from manual field specification to automatic field numbering")
		}
		n = int64(f.auto)
		f.auto++
	case digits:
		if f.auto > 0 {
			return nil, faultf("cannot switch from automatic field numbering to manual field specification")
		}
		f.manual = true
	default:
		if f.named != nil {
			if v, ok := f.named.Get(name); ok {
				return v, nil
			}
		}
		return nil, faultf("the argument %s is not there", repr(name))
	}
	if n >= int64(len(f.args)) {
		return nil, faultf("Replacement index %d out of range for positional args tuple", n)
	}
	return f.args[n], nil
}

// formatValue is Python's format(v, spec).
func formatValue(v Value, spec string) (string, error) {
	if spec == "" {
		return toText(v)
	}
	l, err := parseSpec(spec)
	if err != nil {
		return "", err
	}
	if s, ok := v.(string); ok {
		return l.formatString(s)
	}
	n, isInt := toBig(v)
	f, isFloat := v.(float64)
	switch {
	case !isInt && !isFloat:
		return "", faultf("unsupported format string passed to %s.__format__", typeName(v))
	case isInt && strings.IndexByte("eEfFgG%", l.verb) >= 0 && l.verb != 0:
		if f, err = toFloat(v); err != nil {
			return "", err
		}
		isFloat = true
	}
	if l.align == 0 {
		l.align = '>'
		if l.zero {
			l.align = '='
		}
	}
	if l.zero && !l.filled() {
		l.fill = '0'
	}
	if isFloat {
		return l.formatFloat(f)
	}
	return l.formatInt(n)
}

func (l layout) filled() bool { return l.fill != 0 }

// parseSpec reads a format specification.
func parseSpec(spec string) (layout, error) {
	l := layout{precision: -1}
	rs := runes(spec)
	aligns := func(c rune) bool { return c == '<' || c == '>' || c == '=' || c == '^' }
	switch {
	case len(rs) > 1 && aligns(rs[1]):
		l.fill, l.align, rs = rs[0], byte(rs[1]), rs[2:]
	case len(rs) > 0 && aligns(rs[0]):
		l.align, rs = byte(rs[0]), rs[1:]
	}
	s := fromRunes(rs)
	if s != "" && strings.IndexByte("+- ", s[0]) >= 0 {
		l.sign, s = s[0], s[1:]
	}
	if strings.HasPrefix(s, "#") {
		l.alternate, s = true, s[1:]
	}
	if strings.HasPrefix(s, "0") {
		l.zero, s = true, s[1:]
	}
	l.width, s = leadingNumber(s)
	if s != "" && (s[0] == ',' || s[0] == '_') {
		l.comma, s = s[0], s[1:]
	}
	if strings.HasPrefix(s, ".") {
		before := s[1:]
		if l.precision, s = leadingNumber(before); s == before {
			return l, faultf("Format specifier missing precision")
		}
	}
	if l.width > maxWidth || l.precision > maxWidth {
		return l, faultf("a width in a format specification is too large")
	}
	if len(s) > 1 {
		return l, faultf("Invalid format specifier")
	}
	if s != "" {
		l.verb = s[0]
	}
	return l, nil
}

func (l layout) formatString(s string) (string, error) {
	if l.verb != 0 && l.verb != 's' || l.sign != 0 || l.alternate || l.comma != 0 || l.align == '=' {
		return "", faultf("Invalid format specification for a str")
	}
	if l.zero && l.fill == 0 {
		l.fill = '0'
	}
	if l.fill == 0 {
		l.fill = ' '
	}
	if l.align == 0 {
		l.align = '<'
	}
	if rs := runes(s); l.precision >= 0 && l.precision < len(rs) {
		s = fromRunes(rs[:l.precision])
	}
	return l.pad(s), nil
}

func (l layout) formatInt(n *big.Int) (string, error) {
	if l.fill == 0 {
		l.fill = ' '
	}
	if l.precision >= 0 {
		return "", faultf("Precision not allowed in integer format specifier")
	}
	switch l.verb {
	case 0:
		l.verb = 'd'
	case 'd':
	case 'b', 'o', 'x', 'X':
		if l.comma == ',' {
			return "", faultf("Cannot specify ',' with '%c'.", l.verb)
		}
	default:
		return "", faultf("Unknown format code '%c' for object of type 'int'", l.verb)
	}
	return l.integer(n)
}

func (l layout) formatFloat(f float64) (string, error) {
	if l.fill == 0 {
		l.fill = ' '
	}
	switch l.verb {
	case 'e', 'E', 'f', 'F', 'g', 'G', '%':
	default:
		return "", faultf("the format code %q of a float is not supported", string(l.verb))
	}
	if l.alternate {
		return "", faultf("# in the format of a float is not supported")
	}
	if l.precision < 0 {
		l.precision = 6
	}
	return l.float(f), nil
}

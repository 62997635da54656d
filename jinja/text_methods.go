package jinja

import (
	"strings"
)

// textMethod is a method of str. Its parameters are positional unless keywords is set. Methods that no
// published chat template uses are refused.
type textMethod struct {
	params   []parameter
	keywords bool
	call     func(r *run, s string, a []Value) (Value, error)
}

// whole makes a method from a function of text.
func whole(f func(string) string) textMethod {
	return textMethod{call: func(r *run, s string, _ []Value) (Value, error) {
		out := f(s)
		return out, r.built(len(out))
	}}
}

var textMethods map[string]textMethod

func init() {
	search := []parameter{required("sub"), refused("start"), refused("end")}
	chars := []parameter{optional("chars", nil)}
	splitting := []parameter{optional("sep", nil), optional("maxsplit", int64(-1))}
	textMethods = map[string]textMethod{
		"upper":      whole(upper),
		"lower":      whole(lower),
		"title":      whole(titleCase),
		"capitalize": whole(capitalize),
		"strip":      {params: chars, call: stripper(true, true)},
		"lstrip":     {params: chars, call: stripper(true, false)},
		"rstrip":     {params: chars, call: stripper(false, true)},
		"split":      {params: splitting, keywords: true, call: splitText},
		"splitlines": {params: []parameter{optional("keepends", false)}, keywords: true, call: splitLinesMethod},
		"replace":    {params: []parameter{required("old"), required("new"), optional("count", int64(-1))}, call: replaceMethod},
		"startswith": {params: search, call: affix(strings.HasPrefix)},
		"endswith":   {params: search, call: affix(strings.HasSuffix)},
	}
}

// callText calls a method of a text.
func callText(r *run, s, name string, args []Value, named *Map) (Value, error) {
	m, ok := textMethods[name]
	if !ok {
		return nil, faultf("the method %s of a str is not supported", name)
	}
	if !m.keywords && named != nil && named.Len() > 0 {
		return nil, faultf("str.%s() takes no keyword arguments", name)
	}
	a, err := bind("str."+name, m.params, args, named)
	if err != nil {
		return nil, err
	}
	if err := r.looked(len(s)); err != nil {
		return nil, err
	}
	return m.call(r, s, a)
}

func textArg(v Value) (string, error) {
	if s, ok := plainText(v); ok {
		return s, nil
	}
	return "", faultf("expected a str, not %s", typeName(v))
}

// intArg reads an argument that must be an integer of 64 bits.
func intArg(v Value) (int, error) {
	n, ok := toBig(v)
	if !ok {
		return 0, faultf("'%s' object cannot be interpreted as an integer", typeName(v))
	}
	if !n.IsInt64() {
		return 0, faultf("Python int too large to convert to C ssize_t")
	}
	return int(n.Int64()), nil
}

// stripper is strip on one or both sides.
func stripper(left, right bool) func(*run, string, []Value) (Value, error) {
	return func(_ *run, s string, a []Value) (Value, error) {
		drop := isSpace
		if a[0] != nil {
			chars, err := textArg(a[0])
			if err != nil {
				return nil, err
			}
			set := map[rune]bool{}
			for _, c := range runes(chars) {
				set[c] = true
			}
			drop = func(c rune) bool { return set[c] }
		}
		if left {
			s = trimLeftFunc(s, drop)
		}
		if right {
			s = trimRightFunc(s, drop)
		}
		return s, nil
	}
}

func textList(r *run, parts []string) (Value, error) {
	l := &List{make([]Value, len(parts))}
	for i, p := range parts {
		l.items[i] = p
	}
	return l, r.built(32 * len(parts))
}

// splitArgs reads the separator, if there is one, and the maximum number of splits; -1 means all.
func splitArgs(a []Value) (sep string, none bool, n int, err error) {
	if n, err = intArg(a[1]); err != nil {
		return
	}
	if a[0] == nil {
		return "", true, n, nil
	}
	if sep, err = textArg(a[0]); err == nil && sep == "" {
		err = faultf("empty separator")
	}
	return
}

func splitText(r *run, s string, a []Value) (Value, error) {
	sep, none, n, err := splitArgs(a)
	if err != nil {
		return nil, err
	}
	if !none {
		if n < 0 {
			return textList(r, strings.Split(s, sep))
		}
		return textList(r, strings.SplitN(s, sep, n+1))
	}
	parts := []string{}
	s = trimLeftFunc(s, isSpace)
	for s != "" && n != 0 {
		i := strings.IndexFunc(s, isSpace)
		if i < 0 {
			break
		}
		parts = append(parts, s[:i])
		s = trimLeftFunc(s[i:], isSpace)
		n--
	}
	if s != "" {
		parts = append(parts, s)
	}
	return textList(r, parts)
}

// splitLines is Python's str.splitlines.
func splitLines(s string, keep bool) []string {
	lines := []string{}
	start := 0
	for i := 0; i < len(s); {
		c, n := decodeRune(s[i:])
		if !(c >= 10 && c <= 13 || c >= 28 && c <= 30 || c == 0x85 || c == 0x2028 || c == 0x2029) {
			i += n
			continue
		}
		end := i
		i += n
		if c == '\r' && i < len(s) && s[i] == '\n' {
			i++
		}
		if keep {
			end = i
		}
		lines = append(lines, s[start:end])
		start = i
	}
	if start < len(s) {
		lines = append(lines, s[start:])
	}
	return lines
}

func splitLinesMethod(r *run, s string, a []Value) (Value, error) {
	if _, ok := toInt(a[0]); !ok {
		return nil, faultf("'%s' object cannot be interpreted as an integer", typeName(a[0]))
	}
	return textList(r, splitLines(s, truth(a[0])))
}

package jinja

import (
	"strings"
	"unicode/utf8"
)

func replaceMethod(r *run, s string, a []Value) (Value, error) {
	old, err := textArg(a[0])
	if err != nil {
		return nil, err
	}
	with, err := textArg(a[1])
	if err != nil {
		return nil, err
	}
	n, err := intArg(a[2])
	if err != nil {
		return nil, err
	}
	return replaceText(r, s, old, with, n)
}

// replaceText is Python's str.replace; n < 0 replaces all.
func replaceText(r *run, s, old, with string, n int) (Value, error) {
	if n == 0 || old == with {
		return s, nil
	}
	if old == "" {
		return replaceNothing(r, s, with, n)
	}
	found := strings.Count(s, old)
	if n > 0 {
		found = min(found, n)
	}
	if err := r.built(len(s) + found*(len(with)-len(old))); err != nil {
		return nil, err
	}
	return strings.Replace(s, old, with, n), nil
}

// replaceNothing puts a text between all characters.
func replaceNothing(r *run, s, with string, n int) (Value, error) {
	rs := runes(s)
	if n < 0 {
		n = len(rs) + 1
	}
	n = min(n, len(rs)+1)
	if n > 0 && len(with) > maxText/n {
		return nil, faultf("a text is too large")
	}
	if err := r.built(len(s) + n*len(with)); err != nil {
		return nil, err
	}
	var out []byte
	for _, c := range rs {
		if n > 0 {
			out = append(out, with...)
			n--
		}
		out = appendRune(out, c)
	}
	if n > 0 {
		out = append(out, with...)
	}
	return string(out), nil
}

// window cuts a text as the optional start and end of a search say. ok is false where
// the start lies behind the end: nothing is found there, not even nothing.
func window(s string, a []Value) (cut string, start int, ok bool, err error) {
	if a[0] == nil && a[1] == nil {
		return s, 0, true, nil
	}
	n := length(s)
	start, end, err := searchBounds(a, n)
	if err != nil {
		return "", 0, false, err
	}
	if given, isInt := toInt(a[0]); isInt && given > int64(n) {
		return "", 0, false, nil
	}
	if start > end {
		return "", 0, false, nil
	}
	return sliceText(s, start, 1, end-start), start, true, nil
}

// finder is find, rfind, index or rindex.
func finder(right, must bool) func(*run, string, []Value) (Value, error) {
	return func(_ *run, s string, a []Value) (Value, error) {
		sub, err := textArg(a[0])
		if err != nil {
			return nil, err
		}
		cut, start, ok, err := window(s, a[1:])
		if err != nil {
			return nil, err
		}
		i := -1
		if ok {
			if right {
				i = strings.LastIndex(cut, sub)
			} else {
				i = strings.Index(cut, sub)
			}
		}
		if i < 0 {
			if must {
				return nil, faultf("substring not found")
			}
			return int64(-1), nil
		}
		return int64(start + length(cut[:i])), nil
	}
}

func countText(_ *run, s string, a []Value) (Value, error) {
	sub, err := textArg(a[0])
	if err != nil {
		return nil, err
	}
	cut, _, ok, err := window(s, a[1:])
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return int64(0), nil
	case sub == "":
		return int64(length(cut) + 1), nil
	}
	return int64(strings.Count(cut, sub)), nil
}

// affix is startswith or endswith, of one text or a tuple of them.
func affix(has func(s, part string) bool) func(*run, string, []Value) (Value, error) {
	return func(_ *run, s string, a []Value) (Value, error) {
		cut, _, ok, err := window(s, a[1:])
		if err != nil {
			return nil, err
		}
		if t, many := a[0].(*tuple); many {
			for _, item := range t.items {
				part, err := textArg(item)
				if err != nil {
					return nil, err
				}
				if ok && has(cut, part) {
					return true, nil
				}
			}
			return false, nil
		}
		part, err := textArg(a[0])
		return ok && err == nil && has(cut, part), err
	}
}

// centered shares n characters between both sides as CPython does.
func centered(n, width int) (left, right int) {
	left = n/2 + (n & width & 1)
	return left, n - left
}

// justify fills a text up to a width.
func justify[F func(int) (int, int) | func(int, int) (int, int)](share F) func(*run, string, []Value) (Value, error) {
	return func(r *run, s string, a []Value) (Value, error) {
		width, err := intArg(a[0])
		if err != nil {
			return nil, err
		}
		fill, err := textArg(a[1])
		if err != nil || length(fill) != 1 {
			return nil, faultf("the fill character must be exactly one character long")
		}
		n := width - length(s)
		if n <= 0 {
			return s, nil
		}
		if n > maxText/utf8.UTFMax {
			return nil, faultf("a text of width %d is too large", width)
		}
		var left, right int
		switch share := any(share).(type) {
		case func(int) (int, int):
			left, right = share(n)
		case func(int, int) (int, int):
			left, right = share(n, width)
		}
		if err := r.built(len(s) + n*len(fill)); err != nil {
			return nil, err
		}
		return strings.Repeat(fill, left) + s + strings.Repeat(fill, right), nil
	}
}

func zeroFill(r *run, s string, a []Value) (Value, error) {
	width, err := intArg(a[0])
	if err != nil {
		return nil, err
	}
	n := width - length(s)
	if n <= 0 {
		return s, nil
	}
	if err := r.built(n); err != nil {
		return nil, err
	}
	sign := ""
	if s != "" && (s[0] == '+' || s[0] == '-') {
		sign, s = s[:1], s[1:]
	}
	return sign + strings.Repeat("0", n) + s, nil
}

func expandTabs(r *run, s string, a []Value) (Value, error) {
	size, err := intArg(a[0])
	if err != nil {
		return nil, err
	}
	if size > 0 && strings.Count(s, "\t") > maxText/size {
		return nil, faultf("a text is too large")
	}
	var out []byte
	column := 0
	for _, c := range runes(s) {
		switch {
		case c == '\t':
			if size > 0 {
				n := size - column%size
				out = append(out, strings.Repeat(" ", n)...)
				column += n
			}
			continue
		case c == '\n' || c == '\r':
			column = -1
		}
		out = appendRune(out, c)
		column++
	}
	return string(out), r.built(len(out))
}

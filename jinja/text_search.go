package jinja

import "strings"

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

// replaceNothing inserts a text around all characters, up to n times.
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

// affix is startswith or endswith, of one text or a tuple of texts.
func affix(has func(s, part string) bool) func(*run, string, []Value) (Value, error) {
	return func(_ *run, s string, a []Value) (Value, error) {
		if t, many := a[0].(*tuple); many {
			for _, item := range t.items {
				part, err := textArg(item)
				if err != nil {
					return nil, err
				}
				if has(s, part) {
					return true, nil
				}
			}
			return false, nil
		}
		part, err := textArg(a[0])
		return err == nil && has(s, part), err
	}
}

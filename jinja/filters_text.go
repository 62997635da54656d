package jinja

import (
	"strings"
)

// softText is markupsafe's soft_str: it converts a value to text and reports whether it was marked
// safe.
func softText(v Value) (string, bool, error) {
	if s, ok := v.(markup); ok {
		return string(s), true, nil
	}
	s, err := toText(v)
	return s, false, err
}

// marked marks a text as safe if safe is set.
func marked(s string, safe bool) Value {
	if safe {
		return markup(s)
	}
	return s
}

// textFilter makes a filter from a function of text.
func textFilter(do func(string) string) *filter {
	return &filter{value: "s", do: func(r *run, v Value, _ []Value) (Value, error) {
		s, safe, err := softText(v)
		if err != nil {
			return nil, err
		}
		s = do(s)
		return marked(s, safe), r.built(len(s))
	}}
}

// titleWords is the filter title: words start only after hyphens, white space and opening brackets.
func titleWords(s string) string {
	breaks := func(c rune) bool { return isSpace(c) || strings.ContainsRune("-({[<", c) }
	var out []byte
	for s != "" {
		rest := trimLeftFunc(s, breaks)
		out = append(out, s[:len(s)-len(rest)]...)
		s = trimLeftFunc(rest, func(c rune) bool { return !breaks(c) })
		if word := runes(rest[:len(rest)-len(s)]); len(word) > 0 {
			out = append(out, upper(fromRunes(word[:1]))...)
			out = append(out, lower(fromRunes(word[1:]))...)
		}
	}
	return string(out)
}

func trimFilter(r *run, v Value, a []Value) (Value, error) {
	s, safe, err := softText(v)
	if err != nil {
		return nil, err
	}
	out, err := stripper(true, true)(r, s, a)
	if err != nil {
		return nil, err
	}
	return marked(out.(string), safe), r.looked(len(s))
}

func replaceFilter(r *run, v Value, a []Value) (Value, error) {
	var texts [3]string
	for i, x := range []Value{v, a[0], a[1]} {
		var err error
		if texts[i], err = toText(x); err != nil {
			return nil, err
		}
	}
	n := -1
	if a[2] != nil {
		var err error
		if n, err = intArg(a[2]); err != nil {
			return nil, err
		}
	}
	if err := r.looked(len(texts[0])); err != nil {
		return nil, err
	}
	return replaceText(r, texts[0], texts[1], texts[2], n)
}

func indentFilter(r *run, v Value, a []Value) (Value, error) {
	s, ok := plainText(v)
	if !ok {
		return nil, faultf("indent of a %s", typeName(v))
	}
	pad, ok := plainText(a[0])
	if !ok {
		n, err := intArg(a[0])
		if err != nil {
			return nil, err
		}
		if n > maxText {
			return nil, faultf("an indent of %d is too large", n)
		}
		pad = strings.Repeat(" ", max(n, 0))
	}
	lines := splitLines(s+"\n", false)
	if err := r.built(len(s) + len(lines)*len(pad)); err != nil {
		return nil, err
	}
	var out []byte
	if truth(a[1]) {
		out = append(out, pad...)
	}
	for i, line := range lines {
		if i > 0 {
			out = append(out, '\n')
			if line != "" || truth(a[2]) {
				out = append(out, pad...)
			}
		}
		out = append(out, line...)
	}
	_, safe := v.(markup)
	return marked(string(out), safe), nil
}

func safeFilter(_ *run, v Value, _ []Value) (Value, error) {
	s, err := toText(v)
	return markup(s), err
}

var htmlEscaper = strings.NewReplacer("&", "&amp;", ">", "&gt;", "<", "&lt;", "'", "&#39;", `"`, "&#34;")

func escapeHTML(s string) string { return htmlEscaper.Replace(s) }

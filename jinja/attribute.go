package jinja

import (
	"math/big"
	"strings"
)

// owners is a set of Python types.
type owners uint16

const (
	ownStr owners = 1 << iota
	ownList
	ownDict
	ownTuple
	ownInt
	ownFloat
	ownRange
	ownView
	ownGenerator
	ownMacro
)

// The attributes of Python's types, except those with underscores.
var attributesOf = map[owners]string{
	ownStr: "capitalize casefold center count encode endswith expandtabs find format format_map index isalnum isalpha isascii isdecimal " +
		"isdigit isidentifier islower isnumeric isprintable isspace istitle isupper join ljust lower lstrip maketrans partition removeprefix " +
		"removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines startswith strip swapcase title translate upper zfill",
	ownList:      "append clear copy count extend index insert pop remove reverse sort",
	ownDict:      "clear copy fromkeys get items keys pop popitem setdefault update values",
	ownTuple:     "count index",
	ownInt:       "as_integer_ratio bit_count bit_length conjugate denominator from_bytes imag numerator real to_bytes",
	ownFloat:     "as_integer_ratio conjugate fromhex hex imag is_integer real",
	ownRange:     "count index start step stop",
	ownView:      "isdisjoint mapping",
	ownGenerator: "close gi_code gi_frame gi_running gi_suspended gi_yieldfrom send throw",
	ownMacro:     "arguments caller catch_kwargs catch_varargs explicit_caller name",
}

// changing are the methods that the immutable sandbox forbids, by type.
var changing = map[owners]string{
	ownList: " append clear pop reverse insert sort extend remove ",
	ownDict: " clear pop popitem setdefault update ",
}

// otherMethods are the methods of maps that can be called.
const otherMethods = " get items keys values "

// isSupported reports whether a method is known. Calls of forbidden ones fail during rendering.
func isSupported(name string) bool {
	_, ok := textMethods[name]
	wanted := " " + name + " "
	return ok || strings.Contains(otherMethods, wanted) || strings.Contains(changing[ownList], wanted) || strings.Contains(changing[ownDict], wanted)
}

// ownersByName are the types that have an attribute.
var ownersByName = map[string]owners{}

func init() {
	for own, names := range attributesOf {
		for _, name := range strings.Fields(names) {
			ownersByName[name] |= own
		}
	}
}

// ownerOf returns the type of a value; 0 if it has no attributes.
func ownerOf(v Value) owners {
	switch v := v.(type) {
	case string, markup:
		return ownStr
	case *Map:
		return ownDict
	case *List:
		return ownList
	case *tuple:
		return ownTuple
	case bool, int64, *big.Int:
		return ownInt
	case float64:
		return ownFloat
	case span:
		return ownRange
	case *view:
		if v.kind == "values" {
			return ownView << 8 // its only attribute is mapping
		}
		return ownView
	case *generator:
		return ownGenerator
	case *macro:
		return ownMacro
	}
	return 0
}

// own is Python's getattr; false if the value does not have the attribute.
func own(v Value, name string, on owners) (Value, bool, error) {
	switch v := v.(type) {
	case *namespace:
		w, ok := v.attrs.Get(name)
		return w, ok, nil
	case *loop:
		return v.attr(name)
	case *undefined:
		return nil, false, faultf("%s", v.why)
	case *method, *builtin:
		return nil, false, faultf("attributes of functions are not supported")
	}
	is := ownerOf(v)
	if is&on == 0 || is == 0 {
		return nil, false, nil
	}
	if strings.Contains(changing[is], " "+name+" ") {
		return &undefined{"access to attribute " + repr(name) + " of '" + typeName(v) + "' object is unsafe."}, true, nil
	}
	switch v.(type) {
	case string, markup, *Map, *List, *tuple:
		return &method{v, name}, true, nil
	}
	return nil, false, faultf("the attribute %s of a %s is not supported", name, typeName(v))
}

// attribute is v.name: the attribute, otherwise the item of that name.
func attribute(v Value, name string, on owners) (Value, error) {
	if m, ok := v.(*Map); ok && on&ownDict == 0 && !strings.HasPrefix(name, "__") {
		if w, ok := m.Get(name); ok {
			return w, nil
		}
		return noAttribute(v, name), nil
	}
	w, ok, err := own(v, name, on)
	if ok || err != nil {
		return w, err
	}
	if m, ok := v.(*Map); ok {
		if w, ok := m.Get(name); ok {
			if strings.HasPrefix(name, "__") {
				return nil, faultf("the attribute %s is not supported", name)
			}
			return w, nil
		}
	}
	return noAttribute(v, name), nil
}

func noAttribute(v Value, name string) Value {
	return &undefined{"'" + typeName(v) + " object' has no attribute " + repr(name)}
}

// item is v[arg]: the item, otherwise the attribute of that name.
func item(r *run, v, arg Value) (Value, error) {
	switch v := v.(type) {
	case *undefined:
		return nil, faultf("%s", v.why)
	case *Map:
		if w, ok, err := v.get(arg); err == nil && ok {
			return w, nil
		}
	case *List, *tuple:
		items, _ := itemsOf(v)
		if i, ok := index(arg, len(items)); ok {
			return items[i], nil
		}
	case span:
		if i, ok := index(arg, int(v.len())); ok {
			return v.start + int64(i)*v.step, nil
		}
	case string, markup:
		s, _ := plainText(v)
		if c, ok := characterAt(s, arg); ok {
			return marked(c, isType[markup](v)), r.looked(len(s))
		}
	}
	if name, ok := plainText(arg); ok {
		w, ok, err := own(v, name, ownersByName[name])
		if ok || err != nil {
			return w, err
		}
		return noAttribute(v, name), nil
	}
	return &undefined{typeName(v) + " object has no such element"}, nil
}

// index converts an index into n items, which may be negative; false if it is out of range.
func index(arg Value, n int) (int, bool) {
	i, ok := toInt(arg)
	if !ok {
		return 0, false
	}
	if i < 0 {
		i += int64(n)
	}
	return int(i), i >= 0 && i < int64(n)
}

func characterAt(s string, arg Value) (string, bool) {
	if _, ok := toInt(arg); !ok {
		return "", false
	}
	i, ok := index(arg, length(s))
	if !ok {
		return "", false
	}
	return sliceText(s, i, 1, 1), true
}

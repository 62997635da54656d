package jinja

import (
	"slices"
	"strings"
)

// filter is a filter of Jinja2: its parameters after the value or, if free is set, a function of all
// arguments.
type filter struct {
	params []parameter
	do     func(r *run, v Value, a []Value) (Value, error)
	free   func(r *run, v Value, args []Value, named *Map) (Value, error)
	bare   bool // takes no keyword arguments
	name   string
	value  string // Python's name of the first parameter
}

// refusedFilters are the filters of Jinja2 that no published chat template uses.
var refusedFilters = strings.Fields("abs attr batch center e escape filesizeformat float forceescape format groupby max min pprint " +
	"random reverse round slice striptags sum truncate unique urlencode urlize wordcount wordwrap xmlattr")

var filters map[string]*filter

// findFilter returns a filter by name. The error names a refused or unknown one.
func findFilter(name string) (*filter, error) {
	if f, ok := filters[name]; ok {
		return f, nil
	}
	if slices.Contains(refusedFilters, name) {
		return nil, faultf("the filter %s is not supported", name)
	}
	return nil, faultf("unknown filter %s", name)
}

func (f *filter) call(r *run, v Value, args []Value, named *Map) (Value, error) {
	if err := r.step(1); err != nil {
		return nil, err
	}
	if f.free != nil {
		return f.free(r, v, args, named)
	}
	if named != nil && named.Len() > 0 {
		if _, twice := named.Get(f.value); twice || f.bare {
			return nil, faultf("the filter %s got an unexpected keyword argument %v", f.name, named.keys[0])
		}
	}
	if len(args) == 0 && named == nil && len(f.params) == 0 {
		return f.do(r, v, nil)
	}
	a, err := bind("the filter "+f.name, f.params, args, named)
	if err != nil {
		return nil, err
	}
	return f.do(r, v, a)
}

func init() {
	on := func(do func(*run, Value, []Value) (Value, error), params ...parameter) *filter {
		return &filter{params: params, do: do, value: "value"}
	}
	bare := func(do func(*run, Value, []Value) (Value, error)) *filter {
		return &filter{do: do, bare: true}
	}
	filters = map[string]*filter{
		"length":   bare(lengthFilter),
		"count":    bare(lengthFilter),
		"default":  on(defaultFilter, optional("default_value", ""), optional("boolean", false)),
		"sort":     on(sortFilter, refused("reverse"), refused("case_sensitive"), refused("attribute")),
		"dictsort": on(dictSortFilter, refused("case_sensitive"), refused("by"), refused("reverse")),
		"first":    endFilter("first", iterate),
		"last":     endFilter("last", reversed),
		"list":     on(listFilter),
		"items":    on(itemsFilter),
		"join":     on(joinFilter, optional("d", ""), refused("attribute")),

		"map":        {free: mapFilter},
		"select":     {free: selectFilter(true, false)},
		"reject":     {free: selectFilter(false, false)},
		"selectattr": {free: selectFilter(true, true)},
		"rejectattr": {free: selectFilter(false, true)},

		"int":        on(intFilter, optional("default", int64(0)), refused("base")),
		"upper":      textFilter(upper),
		"lower":      textFilter(lower),
		"capitalize": textFilter(capitalize),
		"title":      textFilter(titleWords),
		"trim":       on(trimFilter, optional("chars", nil)),
		"string":     bare(textFilter(func(s string) string { return s }).do),
		"replace":    {params: []parameter{required("old"), required("new"), optional("count", nil)}, do: replaceFilter, value: "s"},
		"indent":     {params: []parameter{optional("width", int64(4)), optional("first", false), optional("blank", false)}, do: indentFilter, value: "s"},
		"safe":       on(safeFilter),
		"tojson": {params: []parameter{optional("ensure_ascii", false), optional("indent", nil), optional("separators", nil), refused("sort_keys")},
			do: tojson, value: "x"},
	}
	filters["d"] = filters["default"]
	for name, f := range filters {
		f.name = name
	}
}

func lengthFilter(_ *run, v Value, _ []Value) (Value, error) {
	n, err := lengthOf(v)
	return int64(n), err
}

func defaultFilter(_ *run, v Value, a []Value) (Value, error) {
	if _, ok := v.(*undefined); ok || truth(a[1]) && !truth(v) {
		return a[0], nil
	}
	return v, nil
}

// endFilter is first or last, given the iterator from that end.
func endFilter(which string, iterate func(*run, Value) (iterator, error)) *filter {
	return &filter{value: "seq", do: func(r *run, v Value, _ []Value) (Value, error) {
		next, err := iterate(r, v)
		if err != nil {
			return nil, err
		}
		w, ok, err := next()
		if !ok && err == nil {
			return &undefined{"No " + which + " item, sequence was empty."}, nil
		}
		return w, err
	}}
}

func listFilter(r *run, v Value, _ []Value) (Value, error) {
	items, err := listOf(r, v)
	return &List{items}, err
}

func itemsFilter(_ *run, v Value, _ []Value) (Value, error) {
	return lazily(func() (iterator, step, error) {
		m, ok := v.(*Map)
		if isType[*undefined](v) {
			m = NewMap()
		} else if !ok {
			return nil, nil, faultf("Can only get item pairs from a mapping.")
		}
		keepAll := func(pair Value) (Value, bool, error) { return pair, true, nil }
		return overItems((&view{m, "items"}).items()), keepAll, nil
	}), nil
}

func joinFilter(r *run, v Value, a []Value) (Value, error) {
	items, err := listOf(r, v)
	if err != nil {
		return nil, err
	}
	sep, err := toText(a[0])
	if err != nil {
		return nil, err
	}
	var out []byte
	for i, item := range items {
		if i > 0 {
			out = append(out, sep...)
		}
		text, err := toText(item)
		if err != nil {
			return nil, err
		}
		if len(out)+len(text) > maxText {
			return nil, faultf("a text is too large")
		}
		out = append(out, text...)
	}
	return string(out), r.built(len(out))
}

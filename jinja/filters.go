package jinja

// filter is one of Jinja2's: its parameters after the value, or, where free is set, all
// its arguments as they are.
type filter struct {
	params     []parameter
	do         func(r *run, v Value, a []Value) (Value, error)
	free       func(r *run, v Value, args []Value, named *Map) (Value, error)
	bare       bool // takes no keyword arguments
	contextual bool // looks at what is rendered, so that it is never constant
	name       string
	value      string // what Python calls the first parameter
}

// refusedFilters are those of Jinja2 that we do not have, and why.
var refusedFilters = map[string]string{
	"random":    "what it gives is no two times the same",
	"pprint":    "it is for debugging",
	"urlize":    "it makes HTML",
	"xmlattr":   "it makes HTML",
	"wordwrap":  "it is for pages",
	"striptags": "it reads HTML",
}

var filters map[string]*filter

// findFilter returns a filter by name, or nil.
func findFilter(name string) *filter {
	if f, ok := filters[name]; ok {
		return f
	}
	if _, ok := refusedFilters[name]; ok {
		return &filter{name: name}
	}
	return nil
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
	attr := optional("attribute", nil)
	cased := optional("case_sensitive", false)
	on := func(do func(*run, Value, []Value) (Value, error), params ...parameter) *filter {
		return &filter{params: params, do: do, value: "value"}
	}
	bare := func(do func(*run, Value, []Value) (Value, error)) *filter {
		return &filter{do: do, bare: true}
	}
	filters = map[string]*filter{
		"abs": bare(absFilter), "length": bare(lengthFilter), "count": bare(lengthFilter),
		"attr":     {params: []parameter{required("name")}, do: attrFilter, value: "obj"},
		"batch":    on(batchFilter, required("linecount"), optional("fill_with", nil)),
		"slice":    on(sliceFilter, required("slices"), optional("fill_with", nil)),
		"default":  on(defaultFilter, optional("default_value", ""), optional("boolean", false)),
		"dictsort": on(dictSortFilter, cased, optional("by", "key"), optional("reverse", false)),
		"sort":     on(sortFilter, optional("reverse", false), cased, attr),
		"unique":   on(uniqueFilter, cased, attr),
		"min":      on(extremeFilter(false), cased, attr), "max": on(extremeFilter(true), cased, attr),
		"groupby": on(groupByFilter, required("attribute"), optional("default", nil), cased),
		"sum":     {params: []parameter{attr, optional("start", int64(0))}, do: sumFilter, value: "iterable"},
		"first":   {do: firstFilter, value: "seq"}, "last": {do: lastFilter, value: "seq"},
		"list": on(listFilter), "items": on(itemsFilter), "reverse": on(reverseFilter),
		"join": on(joinFilter, optional("d", ""), attr),
		"map":  {free: mapFilter, contextual: true}, "select": {free: selectFilter(true, false), contextual: true}, "reject": {free: selectFilter(false, false), contextual: true},
		"selectattr": {free: selectFilter(true, true), contextual: true}, "rejectattr": {free: selectFilter(false, true), contextual: true},
		"int":   on(intFilter, optional("default", int64(0)), optional("base", int64(10))),
		"float": on(floatFilter, optional("default", 0.0)),
		"round": on(roundFilter, optional("precision", int64(0)), optional("method", "common")),
		"upper": textFilter(upper), "lower": textFilter(lower), "capitalize": textFilter(capitalize), "title": textFilter(titleWords),
		"trim":    on(trimFilter, optional("chars", nil)),
		"string":  bare(stringFilter),
		"replace": {params: []parameter{required("old"), required("new"), optional("count", nil)}, do: replaceFilter, value: "s"},
		"indent":  {params: []parameter{optional("width", int64(4)), optional("first", false), optional("blank", false)}, do: indentFilter, value: "s"},
		"center":  on(centerFilter, optional("width", int64(80))),
		"truncate": {params: []parameter{optional("length", int64(255)), optional("killwords", false), optional("end", "..."), optional("leeway", nil)},
			do: truncateFilter, value: "s"},
		"wordcount": {do: wordCountFilter, value: "s"},
		"urlencode": on(urlEncodeFilter),
		"safe":      on(safeFilter), "escape": bare(escapeFilter), "e": bare(escapeFilter), "forceescape": on(forceEscapeFilter),
		"format":         {free: formatFilter},
		"filesizeformat": on(fileSizeFilter, optional("binary", false)),
		"tojson": {params: []parameter{optional("ensure_ascii", false), optional("indent", nil), optional("separators", nil), optional("sort_keys", false)},
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

func attrFilter(_ *run, v Value, a []Value) (Value, error) {
	name, ok := plainText(a[0])
	if !ok {
		return nil, faultf("attribute name must be string, not '%s'", typeName(a[0]))
	}
	w, found, err := own(v, name, ownersOf(name))
	if err != nil || found {
		return w, err
	}
	return noAttribute(v, name), nil
}

func firstFilter(r *run, v Value, _ []Value) (Value, error) {
	next, err := iterate(r, v)
	if err != nil {
		return nil, err
	}
	w, ok, err := next()
	if !ok && err == nil {
		return &undefined{"No first item, sequence was empty."}, nil
	}
	return w, err
}

func lastFilter(r *run, v Value, _ []Value) (Value, error) {
	next, err := reversed(r, v)
	if err != nil {
		return nil, err
	}
	w, ok, err := next()
	if !ok && err == nil {
		return &undefined{"No last item, sequence was empty."}, nil
	}
	return w, err
}

func listFilter(r *run, v Value, _ []Value) (Value, error) {
	items, err := listOf(r, v)
	return &List{items}, err
}

func itemsFilter(r *run, v Value, _ []Value) (Value, error) {
	started := iterator(nil)
	return &generator{func() (Value, bool, error) {
		if started == nil {
			m, ok := v.(*Map)
			if _, nothing := v.(*undefined); nothing {
				m = NewMap()
			} else if !ok {
				return nil, false, faultf("Can only get item pairs from a mapping.")
			}
			started = overItems(r, (&view{m, "items"}).items())
		}
		return started()
	}}, nil
}

func reverseFilter(r *run, v Value, _ []Value) (Value, error) {
	switch s := v.(type) {
	case string:
		return slice(r, s, [3]Value{nil, nil, int64(-1)})
	case markup:
		return slice(r, s, [3]Value{nil, nil, int64(-1)})
	}
	next, err := reversed(r, v)
	if err == nil {
		return &generator{next}, nil
	}
	items, err := listOf(r, v)
	if err != nil {
		return nil, faultf("argument must be iterable")
	}
	for i, j := 0, len(items)-1; i < j; i, j = i+1, j-1 {
		items[i], items[j] = items[j], items[i]
	}
	return &List{items}, nil
}

func joinFilter(r *run, v Value, a []Value) (Value, error) {
	items, err := listOf(r, v)
	if err != nil {
		return nil, err
	}
	get := getter(r, a[1], nil, nil)
	sep, err := toText(a[0])
	if err != nil {
		return nil, err
	}
	var out []byte
	for i, item := range items {
		if a[1] != nil {
			if item, err = get(item); err != nil {
				return nil, err
			}
		}
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

func batchFilter(r *run, v Value, a []Value) (Value, error) {
	var next iterator
	done := false
	return &generator{func() (Value, bool, error) {
		if done {
			return nil, false, nil
		}
		if next == nil {
			var err error
			if next, err = iterate(r, v); err != nil {
				return nil, false, err
			}
		}
		batch := &List{}
		for {
			if n, ok := a[0].(int64); ok && len(batch.items) > 0 && int64(len(batch.items)) == n {
				return batch, true, nil
			} else if !ok {
				return nil, false, faultf("the size of a batch must be an integer")
			}
			item, ok, err := next()
			if err != nil {
				return nil, false, err
			}
			if !ok {
				break
			}
			batch.items = append(batch.items, item)
		}
		done = true
		if len(batch.items) == 0 {
			return nil, false, nil
		}
		if n := a[0].(int64); a[1] != nil && int64(len(batch.items)) < n {
			if err := r.built(16 * int(min(n, maxText))); err != nil {
				return nil, false, err
			}
			for int64(len(batch.items)) < n {
				batch.items = append(batch.items, a[1])
			}
		}
		return batch, true, nil
	}}, nil
}

func sliceFilter(r *run, v Value, a []Value) (Value, error) {
	var items []Value
	var n, i, offset int
	started := false
	return &generator{func() (Value, bool, error) {
		if !started {
			var err error
			if items, err = listOf(r, v); err != nil {
				return nil, false, err
			}
			if n, err = intArg(a[0]); err != nil || n == 0 {
				return nil, false, faultf("the number of slices must be an integer other than 0")
			}
			started = true
		}
		if i >= n {
			return nil, false, nil
		}
		each, extra := len(items)/n, len(items)%n
		start := offset + i*each
		if i < extra {
			offset++
		}
		end := offset + (i+1)*each
		part := &List{append([]Value(nil), items[start:end]...)}
		if a[1] != nil && i >= extra {
			part.items = append(part.items, a[1])
		}
		i++
		return part, true, r.built(128 + 16*len(part.items))
	}}, nil
}

package jinja

// maxRange is the sandbox's limit on the length of a range.
const maxRange = 100000

// refusedGlobals are the unsupported functions of Jinja2, with the reason.
var refusedGlobals = map[string]string{
	"dict":   "write {…}",
	"caller": "there are no call blocks",
	"lipsum": "its output is random",
	"cycler": "it is for web pages",
	"joiner": "it is for web pages",
	"self":   "it is for blocks",
}

// globals are the functions of every template.
var globals map[string]*builtin

func init() {
	globals = map[string]*builtin{}
	for name, call := range map[string]func(*run, []Value, *Map) (Value, error){
		"range":           rangeGlobal,
		"namespace":       namespaceGlobal,
		"raise_exception": raiseGlobal,
		"strftime_now":    strftimeGlobal,
	} {
		globals[name] = &builtin{name, call}
	}
}

func rangeGlobal(_ *run, args []Value, named *Map) (Value, error) {
	if named != nil && named.Len() > 0 {
		return nil, faultf("range() takes no keyword arguments")
	}
	if len(args) < 1 || len(args) > 3 {
		return nil, faultf("range expected 1 to 3 arguments, got %d", len(args))
	}
	var n [3]int64
	for i, a := range args {
		v, err := intArg(a)
		if err != nil {
			return nil, err
		}
		const far = 1 << 40
		if v > far || v < -far {
			return nil, faultf("a range up to %d is not supported", v)
		}
		n[i] = int64(v)
	}
	s := span{n[0], n[1], 1}
	switch len(args) {
	case 1:
		s = span{0, n[0], 1}
	case 3:
		if s.step = n[2]; s.step == 0 {
			return nil, faultf("range() arg 3 must not be zero")
		}
	}
	if s.len() > maxRange {
		return nil, faultf("Range too big. The sandbox blocks ranges larger than MAX_RANGE (%d).", maxRange)
	}
	return s, nil
}

func namespaceGlobal(r *run, args []Value, named *Map) (Value, error) {
	if len(args) > 0 {
		return nil, faultf("a namespace from another value is not supported")
	}
	ns := &namespace{NewMap()}
	if named == nil {
		return ns, nil
	}
	for i, k := range named.keys {
		if err := ns.set(k.(string), named.vals[i]); err != nil {
			return nil, err
		}
	}
	return ns, r.built(64 * named.Len())
}

func raiseGlobal(_ *run, args []Value, named *Map) (Value, error) {
	a, err := bind("raise_exception", []parameter{required("message")}, args, named)
	if err != nil {
		return nil, err
	}
	text, err := toText(a[0])
	if err != nil {
		return nil, err
	}
	return nil, &fault{pos: -1, text: text, raised: true}
}

func strftimeGlobal(r *run, args []Value, named *Map) (Value, error) {
	a, err := bind("strftime_now", []parameter{required("format")}, args, named)
	if err != nil {
		return nil, err
	}
	format, err := textArg(a[0])
	if err != nil {
		return nil, err
	}
	if r.now.IsZero() {
		return nil, faultf("the template calls strftime_now, but no time is given")
	}
	return strftime(r.now, format)
}

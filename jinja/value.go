package jinja

import (
	"math/big"
)

// Value is a value of a template: nil (None), bool, int64, *big.Int (for larger integers), float64,
// string (UTF-8, lone surrogates in their three-byte form), *List, *Map, or an internal type that callers
// cannot create.
type Value = any

// List is a Python list.
type List struct{ items []Value }

// NewList makes a list. It does not copy the items.
func NewList(items ...Value) *List { return &List{items} }

// Len returns the number of items.
func (l *List) Len() int { return len(l.items) }

// At returns the i-th item, counted from 0.
func (l *List) At(i int) Value { return l.items[i] }

// Append adds an item. A list must not change during a rendering.
func (l *List) Append(v Value) { l.items = append(l.items, v) }

// tuple is a Python tuple.
type tuple struct{ items []Value }

// Map is a Python dict: it keeps the order of insertion.
type Map struct {
	keys  []Value
	vals  []Value
	index map[any]int // by hash key; nil for small maps
}

// NewMap makes an empty map.
func NewMap() *Map { return &Map{} }

// indexFrom is the size at which a map gets an index.
const indexFrom = 12

// Len returns the number of entries.
func (m *Map) Len() int { return len(m.keys) }

// Set sets the value of a string key. An existing key keeps its position.
func (m *Map) Set(key string, v Value) { m.put(key, key, v) }

// Get returns the value of a string key.
func (m *Map) Get(key string) (Value, bool) {
	i := m.find(key)
	if i < 0 {
		return nil, false
	}
	return m.vals[i], true
}

// Key returns the i-th key, counted from 0: a string in maps from JSON.
func (m *Map) Key(i int) Value { return m.keys[i] }

// ValueAt returns the i-th value, counted from 0.
func (m *Map) ValueAt(i int) Value { return m.vals[i] }

// find returns the index of a hash key, or -1.
func (m *Map) find(hash any) int {
	if m.index != nil {
		if i, ok := m.index[hash]; ok {
			return i
		}
		return -1
	}
	if s, ok := hash.(string); ok {
		for i, k := range m.keys {
			if t, ok := k.(string); ok && t == s {
				return i
			}
		}
		return -1
	}
	for i, k := range m.keys {
		if h, err := hashKey(k); err == nil && h == hash {
			return i
		}
	}
	return -1
}

func (m *Map) put(hash any, key, v Value) {
	if i := m.find(hash); i >= 0 {
		m.vals[i] = v
		return
	}
	m.keys = append(m.keys, key)
	m.vals = append(m.vals, v)
	switch {
	case m.index != nil:
		m.index[hash] = len(m.keys) - 1
	case len(m.keys) >= indexFrom:
		m.index = make(map[any]int, 2*indexFrom)
		for i, k := range m.keys {
			if h, err := hashKey(k); err == nil {
				m.index[h] = i
			}
		}
	}
}

// set sets the value of any hashable key.
func (m *Map) set(key, v Value) error {
	h, err := hashKey(key)
	if err != nil {
		return err
	}
	if s, ok := key.(markup); ok {
		key = string(s)
	}
	m.put(h, key, v)
	return nil
}

// get returns the value of any hashable key.
func (m *Map) get(key Value) (Value, bool, error) {
	h, err := hashKey(key)
	if err != nil {
		return nil, false, err
	}
	if i := m.find(h); i >= 0 {
		return m.vals[i], true, nil
	}
	return nil, false, nil
}

func (m *Map) copy() *Map {
	c := &Map{}
	for i, k := range m.keys {
		h, _ := hashKey(k)
		c.put(h, k, m.vals[i])
	}
	return c
}

// The internal types.
type (
	// undefined is Jinja2's Undefined; why names the missing value.
	undefined struct{ why string }
	// missing is the content of a slot without a value.
	missing struct{}
	// markup is a text that is marked safe.
	markup string
	// span is a Python range.
	span struct{ start, stop, step int64 }
	// view is the result of a map's items, keys or values.
	view struct {
		m    *Map
		kind string
	}
	// generator yields its items once, on request.
	generator struct{ next func() (Value, bool, error) }
	// namespace is the only type whose attributes can be set.
	namespace struct{ attrs *Map }
	// method is a method bound to a value.
	method struct {
		of   Value
		name string
	}
	// builtin is a global function.
	builtin struct {
		name string
		call func(r *run, args []Value, named *Map) (Value, error)
	}
)

var absent = missing{}

// typeName is Python's name of a value's type, for errors.
func typeName(v Value) string {
	switch v := v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int64, *big.Int:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case markup:
		return "Markup"
	case *List:
		return "list"
	case *tuple:
		return "tuple"
	case *Map:
		return "dict"
	case span:
		return "range"
	case *view:
		return "dict_" + v.kind
	case *undefined:
		return "Undefined"
	case *namespace:
		return "Namespace"
	case *generator:
		return "generator"
	case *macro:
		return "Macro"
	case *loop:
		return "LoopContext"
	}
	return "function"
}

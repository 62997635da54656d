package tokenizer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"relabel"
)

// refusal is what the parsers of this package panic with, so that only Parse and
// compilePattern handle errors.
type refusal struct{ error }

// rescue stores a refusal that was panicked with in err. It must be deferred.
func rescue(err *error) {
	switch r := recover().(type) {
	case nil:
	case refusal:
		*err = r.error
	default:
		panic(r)
	}
}

// node is a value of tokenizer.json with its path, which every error names. Its methods panic
// with a refusal.
type node struct {
	path string
	raw  json.RawMessage
}

// refuse returns the refusal of an unknown or invalid value at this path.
func (n node) refuse(format string, args ...any) refusal {
	return refusal{relabel.Errorf(relabel.CodeInvalid, format, args...).On(n.path)}
}

// absent reports whether the value is null or missing.
func (n node) absent() bool { return len(n.raw) == 0 || bytes.Equal(n.raw, []byte("null")) }

// decode reads the value into v.
func (n node) decode(v any, want string) {
	if n.absent() {
		panic(n.refuse("is missing; %s is needed", want))
	}
	if err := json.Unmarshal(n.raw, v); err != nil {
		panic(n.refuse("is not %s", want))
	}
}

// object reads an object whose keys must all be in known. Keys that are absent have a node too.
func (n node) object(known ...string) map[string]node {
	n.bound(mostMembers)
	var raw map[string]json.RawMessage
	n.decode(&raw, "an object")
	at := func(key string) node {
		path := key
		if n.path != "" {
			path = n.path + "." + key
		}
		return node{path, raw[key]}
	}
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		if !slices.Contains(known, key) {
			panic(at(key).refuse("is an unknown option"))
		}
	}
	members := make(map[string]node, len(known))
	for _, key := range known {
		members[key] = at(key)
	}
	return members
}

// list reads an array.
func (n node) list() []node {
	n.bound(mostItems)
	var raw []json.RawMessage
	n.decode(&raw, "a list")
	nodes := make([]node, len(raw))
	for i, r := range raw {
		nodes[i] = node{fmt.Sprintf("%s[%d]", n.path, i), r}
	}
	return nodes
}

// sequence reads the components of a Sequence, which are listed under key.
func sequence[T any](n node, key string, parse func(node) T) (all []T) {
	for _, item := range n.object("type", key)[key].list() {
		if item.absent() {
			panic(item.refuse("is missing"))
		}
		all = append(all, parse(item))
	}
	return all
}

// text reads a string.
func (n node) text() (s string) {
	n.decode(&s, "a string")
	return s
}

// flag reads true or false.
func (n node) flag() (b bool) {
	n.decode(&b, "true or false")
	return b
}

// flagOr reads true or false, or returns other if the value is absent.
func (n node) flagOr(other bool) bool {
	if n.absent() {
		return other
	}
	return n.flag()
}

// kind reads the "type" of a component.
func (n node) kind() string {
	var typed struct {
		Type *string `json:"type"`
	}
	n.decode(&typed, "an object with a type")
	if typed.Type == nil {
		panic(n.refuse("has no type"))
	}
	return *typed.Type
}

// unknownKind refuses a component by its type.
func (n node) unknownKind(what, kind string) refusal {
	return node{path: n.path + ".type"}.refuse("the %s %q is unknown", what, kind)
}

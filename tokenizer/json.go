package tokenizer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"relabel"
)

// node is a value of tokenizer.json with its path, which every error names.
type node struct {
	path string
	raw  json.RawMessage
}

// refuse returns the error for an unknown or invalid value at this path.
func (n node) refuse(format string, args ...any) error {
	return relabel.Errorf(relabel.CodeInvalid, format, args...).On(n.path)
}

// absent reports whether the value is null or missing.
func (n node) absent() bool { return len(n.raw) == 0 || bytes.Equal(n.raw, []byte("null")) }

// decode reads the value into v.
func (n node) decode(v any, want string) error {
	if n.absent() {
		return n.refuse("is missing; %s is needed", want)
	}
	if err := json.Unmarshal(n.raw, v); err != nil {
		return n.refuse("is not %s", want)
	}
	return nil
}

// object reads an object whose keys must all be in known.
func (n node) object(known ...string) (map[string]node, error) {
	if err := n.bound(mostMembers); err != nil {
		return nil, err
	}
	var raw map[string]json.RawMessage
	if err := n.decode(&raw, "an object"); err != nil {
		return nil, err
	}
	members := make(map[string]node, len(raw))
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		member := node{path: n.pathOf(key), raw: raw[key]}
		if !slices.Contains(known, key) {
			return nil, member.refuse("is an option that is not known")
		}
		members[key] = member
	}
	for _, key := range known { // so that what is absent has a path too
		if _, ok := members[key]; !ok {
			members[key] = node{path: n.pathOf(key)}
		}
	}
	return members, nil
}

func (n node) pathOf(key string) string {
	if n.path == "" {
		return key
	}
	return n.path + "." + key
}

// list reads an array.
func (n node) list() ([]node, error) {
	if err := n.bound(mostItems); err != nil {
		return nil, err
	}
	var raw []json.RawMessage
	if err := n.decode(&raw, "a list"); err != nil {
		return nil, err
	}
	nodes := make([]node, len(raw))
	for i, r := range raw {
		nodes[i] = node{path: fmt.Sprintf("%s[%d]", n.path, i), raw: r}
	}
	return nodes, nil
}

// text reads a string.
func (n node) text() (string, error) {
	var s string
	err := n.decode(&s, "a string")
	return s, err
}

// flag reads true or false.
func (n node) flag() (bool, error) {
	var b bool
	err := n.decode(&b, "true or false")
	return b, err
}

// flagOr reads true or false, or returns other where the value is absent.
func (n node) flagOr(other bool) (bool, error) {
	if n.absent() {
		return other, nil
	}
	return n.flag()
}

// kind reads the "type" of a component.
func (n node) kind() (string, error) {
	var typed struct {
		Type *string `json:"type"`
	}
	if err := n.decode(&typed, "an object with a type"); err != nil {
		return "", err
	}
	if typed.Type == nil {
		return "", n.refuse("has no type")
	}
	return *typed.Type, nil
}

// unknownKind refuses a component by its type.
func (n node) unknownKind(what, kind string) error {
	return node{path: n.path + ".type"}.refuse("the %s %q is not known", what, kind)
}

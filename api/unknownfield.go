package api

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// UnknownField returns the path of a field in a JSON text that a type does not have, and the names that it could
// have; "" if there is none. Values of another kind than the type's are not looked into.
func UnknownField(text []byte, of reflect.Type) (path string, known []string) {
	path, known = unknownIn(text, of)
	return strings.TrimPrefix(path, "."), known
}

func unknownIn(text []byte, of reflect.Type) (path string, known []string) {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch {
	case of.Kind() == reflect.Struct && !reflect.PointerTo(of).Implements(reflect.TypeFor[json.Unmarshaler]()):
		return unknownInObject(text, fieldsOf(of))
	case of.Kind() == reflect.Slice && of != reflect.TypeFor[json.RawMessage]():
		var items []json.RawMessage
		_ = json.Unmarshal(text, &items)
		for i, item := range items {
			if path, known := unknownIn(item, of.Elem()); path != "" {
				return fmt.Sprintf("[%d]%s", i, path), known
			}
		}
	}
	return "", nil
}

func unknownInObject(text []byte, fields map[string]reflect.Type) (path string, known []string) {
	var object map[string]json.RawMessage
	_ = json.Unmarshal(text, &object)
	for _, name := range sortedKeys(object) {
		of, is := fields[name]
		if !is {
			return "." + name, sortedKeys(fields)
		}
		if path, known := unknownIn(object[name], of); path != "" {
			return "." + name + path, known
		}
	}
	return "", nil
}

// fieldsOf returns the types of a type's fields by their names in JSON.
func fieldsOf(of reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(of) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			fields[name] = f.Type
		}
	}
	return fields
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

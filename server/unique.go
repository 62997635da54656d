package server

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"relabel"
)

// ownUniqueness removes uniqueItems from the schemas that huma validates with, after they are
// described: huma panics if an item of such a list is itself a list or an object. checkUnique
// validates uniqueness instead.
func ownUniqueness(api *huma.OpenAPI) {
	for _, schema := range api.Components.Schemas.Map() {
		for _, property := range schema.Properties {
			property.UniqueItems = false
		}
	}
}

// checkUnique refuses a request in which a list with the tag uniqueItems holds a value
// twice. v is the request as it was decoded, path the place of v in its body.
func checkUnique(v reflect.Value, path string) error {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return checkUnique(v.Elem(), path)
		}
	case reflect.Slice:
		if elem := v.Type().Elem().Kind(); elem != reflect.Struct && elem != reflect.Pointer {
			return nil
		}
		for i := range v.Len() {
			if err := checkUnique(v.Index(i), fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if err := checkUniqueField(v.Type().Field(i), v.Field(i), path); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkUniqueField is checkUnique of one field of a struct.
func checkUniqueField(field reflect.StructField, v reflect.Value, path string) error {
	if !field.IsExported() {
		return nil
	}
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	if name != "" {
		path = strings.TrimPrefix(path+"."+name, ".")
	}
	if field.Tag.Get("uniqueItems") != "true" {
		return checkUnique(v, path)
	}
	seen := map[any]bool{}
	for i := range v.Len() {
		item := v.Index(i).Interface()
		if seen[item] {
			return relabel.Errorf(relabel.CodeInvalid, "appears twice in the list; give each value once").On(fmt.Sprintf("%s[%d]", path, i))
		}
		seen[item] = true
	}
	return nil
}

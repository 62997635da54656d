package web

import (
	"maps"
	"reflect"
	"relabel/api"
	"slices"
	"strings"
	"testing"
)

// TestEveryOptionOfAnExportIsOnItsPage compares what POST /v1/exports takes with what the page
// that starts an export can send.
func TestEveryOptionOfAnExportIsOnItsPage(t *testing.T) {
	rest, page := jsonNames(reflect.TypeFor[api.NewExport]()), jsonNames(reflect.TypeFor[exportBody]())
	if !maps.Equal(rest, page) {
		t.Errorf("REST takes %v, the page sends %v", slices.Sorted(maps.Keys(rest)), slices.Sorted(maps.Keys(page)))
	}
}

func jsonNames(of reflect.Type) map[string]bool {
	names := map[string]bool{}
	for _, f := range reflect.VisibleFields(of) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && !f.Anonymous {
			names[name] = true
		}
	}
	return names
}

package web

import (
	"net/url"
	"strings"
	"testing"
)

func TestAFormHasNoLongRefusedValueAgain(t *testing.T) {
	o := operationView{operation: operation{Fields: []operationField{{Name: "long"}, {Name: "short"}}}}
	chosen := url.Values{"long": {strings.Repeat("x", 100_000)}, "short": {"y"}}
	if others := o.explain(chosen, refusals{{"long", "is wrong"}, {"short", "is wrong"}}); others != "" {
		t.Errorf("%q", others)
	}
	if long := o.Fields[0]; long.Value != "" || long.Problem != "is wrong (its 100 kB are not shown again)" {
		t.Errorf("%.200q: %.100q", long.Problem, long.Value)
	}
	if short := o.Fields[1]; short.Value != "y" || short.Problem != "is wrong" {
		t.Errorf("%q: %q", short.Problem, short.Value)
	}
}

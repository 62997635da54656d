package jinja

import (
	"sync"
	"testing"
)

func TestATemplateRendersInManyGoroutinesConcurrently(t *testing.T) {
	tmpl, err := Parse("x", "{% macro m(x) %}{{ loop }}{{ x }}{% endmacro %}{% set ns = namespace(n=0) %}{% for x in l if x %}{% set ns.n = ns.n + x %}{{ m(loop.index) }}{% endfor %}{{ ns.n }}")
	if err != nil {
		t.Fatal(err)
	}
	v, _ := DecodeJSON([]byte(`{"l": [1, 2, 0, 3]}`))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if got, err := tmpl.Render(v.(*Map), moment); got != "1236" || err != nil {
					t.Errorf("%q %v", got, err)
					return
				}
			}
		})
	}
	all.Wait()
}

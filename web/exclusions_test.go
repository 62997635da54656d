package web_test

import (
	"strings"
	"testing"

	"relabel/web/webtest"
)

func TestExclusionListsHavePages(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.verified()
	contains(t, s.get(200, "/exclusions"), "No exclusion lists yet")
	s.post(201, "/v1/exclusions", `{"name":"lis<t>","entries":["django/django","none__none-1"]}`, nil)
	contains(t, s.get(200, "/benchmarks"), `href="/exclusions"`)
	contains(t, s.get(200, "/exclusions"), "lis&lt;t&gt;", `<td class="n">2</td>`, `<td class="n">3</td>`)
	p := webtest.Open(t, s.URL+"/exclusions")
	p.Look("exclusions")
	p.Click("tbody td a")
	p.Wait("document.querySelector('h1')?.innerText.startsWith('lis<t>')")
	p.Look("exclusion")
	if text := p.Text("main"); !strings.Contains(text, "reserves 3 tasks") || !strings.Contains(text, "django/django") || !strings.Contains(text, "none__none-1") {
		t.Errorf("%s", text)
	}
	s.get(200, "/exclusions/lis%3Ct%3E")
	s.get(404, "/exclusions/none")
}

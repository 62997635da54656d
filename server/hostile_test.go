package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"relabel/server"
)

// hostileRequests is how many requests a test makes, spread over all operations.
const hostileRequests = 9000

// attacker makes requests of the wrong shape out of the interface's own description.
type attacker struct {
	r       *rand.Rand
	schemas map[string]any
	ids     []string // of things that are there
	rate    int      // one value in this many is hostile, in the present request
}

// hostileTexts stand for texts, ids, names, enums and cursors.
var hostileTexts = []string{"", " ", "x", "-1", "0", "1e999", "NaN", "null", "true", "..", "../../etc/passwd", "a\u202eb", "\x1b[31m", "é\u0301", "%", "'; DROP TABLE runs; --",
	"9223372036854775808", "2147483648", "-9223372036854775809", "00000000-0000-0000-0000-000000000000", "*", "@1", "a@99999999999999999999", strings.Repeat("a", 5000)}

// hostileValues stand for any value of JSON.
var hostileValues = []string{`null`, `[]`, `[[]]`, `[[[]]]`, `{}`, `[{}]`, `[null]`, `[null,null]`, `[[],[]]`, `[{"a":[]},{"a":[]}]`, `{"a":{"b":[{}]}}`, `{"":1}`, `""`, `"\u0000"`, `"\ud800"`, `true`, `false`,
	`0`, `-0`, `-1`, `1.5`, `1e308`, `-1e308`, `1e999`, `9223372036854775807`, `9223372036854775808`, `2147483648`, `-2147483649`, `1e-400`, `["a","a"]`, `[1,1]`, `[true]`, `"2026-01-01"`, `"\u202e"`,
	`{"a":1,"a":2}`, `{"__proto__":{}}`, strings.Repeat("[", 40) + strings.Repeat("]", 40), strings.Repeat(`{"a":`, 30) + "1" + strings.Repeat("}", 30)}

// pick is one of a list.
func pick[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

// text is the id or the name of something that is there, or a hostile text.
func (a *attacker) text() string {
	if a.r.IntN(a.rate) == 0 {
		return pick(a.r, hostileTexts)
	}
	return pick(a.r, a.ids)
}

// value writes a value of a schema, in which one value in a.rate is hostile.
func (a *attacker) value(schema map[string]any, depth int) string {
	if ref, ok := schema["$ref"].(string); ok {
		schema, _ = a.schemas[ref[strings.LastIndex(ref, "/")+1:]].(map[string]any)
	}
	if a.r.IntN(a.rate) == 0 || depth > 6 {
		return pick(a.r, hostileValues)
	}
	kind, _ := schema["type"].(string)
	if kinds, ok := schema["type"].([]any); ok {
		kind, _ = kinds[0].(string)
	}
	if choices, ok := schema["enum"].([]any); ok {
		return encode(pick(a.r, choices))
	}
	switch kind {
	case "object":
		return a.object(schema, depth)
	case "array":
		items, _ := schema["items"].(map[string]any)
		var list []string
		for range a.r.IntN(4) {
			list = append(list, a.value(items, depth+1))
		}
		return "[" + strings.Join(list, ",") + "]"
	case "integer", "number":
		return pick(a.r, []string{"0", "1", "2", "5", "0.5"})
	case "boolean":
		return pick(a.r, []string{"true", "false"})
	case "string":
		return encode(a.text())
	}
	if schema["format"] != nil {
		return encode(pick(a.r, a.ids))
	}
	return pick(a.r, hostileValues)
}

// object writes the required properties of an object and some others, one of them
// sometimes twice.
func (a *attacker) object(schema map[string]any, depth int) string {
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	var fields []string
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		property, _ := properties[name].(map[string]any)
		if slices.Contains(required, any(name)) || a.r.IntN(4) == 0 {
			fields = append(fields, encode(name)+":"+a.value(property, depth+1))
		}
		if a.r.IntN(30*a.rate) == 0 {
			fields = append(fields, encode(name)+":"+pick(a.r, hostileValues))
		}
	}
	if a.r.IntN(5*a.rate) == 0 {
		fields = append(fields, encode(pick(a.r, hostileTexts))+":1")
	}
	return "{" + strings.Join(fields, ",") + "}"
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // made of what JSON was decoded to
	}
	return string(b)
}

// operation is one of the description, as a request is made of it.
type operation struct {
	method, path string
	parameters   []any
	body         map[string]any // its schema; nil: none
	kind         string         // of the body
}

// request makes a hostile request.
func (a *attacker) request(op operation) *http.Request {
	path, query := op.path, url.Values{}
	a.rate = pick(a.r, []int{3, 10, 60})
	for _, p := range op.parameters {
		parameter, _ := p.(map[string]any)
		name, _ := parameter["name"].(string)
		switch parameter["in"] {
		case "path":
			text := a.text()
			if a.r.IntN(2) == 0 || text == "" {
				text = pick(a.r, a.ids)
			}
			path = strings.Replace(path, "{"+name+"}", url.PathEscape(text), 1)
		case "query":
			if a.r.IntN(3) == 0 {
				schema, _ := parameter["schema"].(map[string]any)
				query.Add(name, strings.Trim(a.value(schema, 0), `"`))
			}
		}
	}
	body := ""
	switch {
	case op.kind == "application/x-ndjson":
		body = a.value(map[string]any{"type": "object", "properties": map[string]any{"instance_id": map[string]any{"type": "string"}, "FAIL_TO_PASS": map[string]any{"type": "array"}}}, 0)
	case op.body != nil:
		body = a.value(op.body, 0)
		if a.r.IntN(40) == 0 && len(body) > 1 {
			body = body[:a.r.IntN(len(body))]
		}
	}
	target := path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	method := op.method
	if strings.HasSuffix(op.path, "/events") {
		method = http.MethodHead // a stream has no end
	}
	req := httptest.NewRequest(method, "http://localhost"+target, strings.NewReader(body))
	if body != "" {
		req.Header.Set("Content-Type", op.kind)
	}
	return req
}

// operationsOf reads all operations of the description.
func operationsOf(t *testing.T, document map[string]any) (all []operation) {
	t.Helper()
	paths, _ := document["paths"].(map[string]any)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		item, _ := paths[path].(map[string]any)
		for _, method := range slices.Sorted(maps.Keys(item)) {
			described, _ := item[method].(map[string]any)
			op := operation{method: strings.ToUpper(method), path: path}
			op.parameters, _ = described["parameters"].([]any)
			if body, ok := described["requestBody"].(map[string]any); ok {
				content, _ := body["content"].(map[string]any)
				for kind, media := range content {
					op.kind = kind
					op.body, _ = media.(map[string]any)["schema"].(map[string]any)
				}
			}
			all = append(all, op)
		}
	}
	if len(all) < 40 {
		t.Fatalf("%d operations are described", len(all))
	}
	return all
}

// TestNoRequestIsTheServersFault sends requests of every wrong shape to every operation
// that the description names, over a real database.
func TestNoRequestIsTheServersFault(t *testing.T) {
	t.Parallel()
	var handler http.Handler
	s := startOnPostgres(t)
	handler = s.Config.Handler
	ids := s.seed()
	var document map[string]any
	if err := json.Unmarshal(s.want(200, s.get("/openapi.json")).body, &document); err != nil {
		t.Fatal(err)
	}
	components, _ := document["components"].(map[string]any)
	a := &attacker{r: rand.New(rand.NewPCG(3, 7))}
	a.schemas, _ = components["schemas"].(map[string]any)
	export := s.want(201, s.post("/v1/exports", `{"run":"`+ids.run+`","unfinished":true}`)).fieldText("id")
	a.ids = []string{ids.run, ids.iteration, ids.taskset, ids.teacher, export, "r", "teacher", "student@1", "real", "http://h/v1", "KEY", s.get("/v1/trajectories").field("items", 0, "id").(string)}
	operations := operationsOf(t, document)
	statuses, per := map[int]int{}, hostileRequests/len(operations)+1
	for _, op := range operations {
		for range per {
			req := a.request(op)
			line := fmt.Sprintf("%s %s", req.Method, req.URL)
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, req)
			if statuses[answer.Code]++; answer.Code >= 500 && answer.Code != http.StatusServiceUnavailable {
				t.Errorf("%s: %d %s", line, answer.Code, answer.Body)
			}
		}
	}
	t.Logf("%d operations, statuses %v", len(operations), statuses)
	if t.Failed() {
		t.Log(s.log.String())
	}
}

// TestListsOfAnythingAreRefusedByField holds the case that the validation library panics
// at: a list of distinct items that are lists or objects.
func TestListsOfAnythingAreRefusedByField(t *testing.T) {
	s := start(t, func(c *server.Config) {})
	ids := s.seed()
	for _, c := range []struct{ field, value, named string }{
		{"views", `[[]]`, "views[0]"}, {"views", `[{}]`, "views[0]"}, {"views", `["tree",["tree"]]`, "views[1]"}, {"views", `["tree","tree"]`, "views[1]"},
		{"end_reasons", `[[]]`, "end_reasons[0]"}, {"end_reasons", `["finish","finish"]`, "end_reasons[1]"},
		{"exclude_flags", `[{"a":1}]`, "exclude_flags[0]"}, {"exclude_flags", `["a","a"]`, "exclude_flags[1]"},
	} {
		t.Run(c.field+c.value, func(t *testing.T) {
			s := &service{Server: s.Server, t: t, store: s.store}
			s.refused(s.post("/v1/exports", fmt.Sprintf(`{"run":%q,%q:%s}`, ids.run, c.field, c.value)), 422, "invalid", c.named)
		})
	}
}

func TestEmptyAndRepeatedParametersAreRefused(t *testing.T) {
	s := start(t)
	var d document
	if err := json.Unmarshal(s.want(200, s.get("/openapi.json")).body, &d); err != nil {
		t.Fatal(err)
	}
	id := "00000000-0000-4000-8000-000000000000"
	for path, item := range d.Paths {
		for method, op := range item {
			for _, p := range op.Parameters {
				if p.In != "query" {
					continue
				}
				address := strings.NewReplacer("{id}", id, "{policy}", "p", "{path}", "x", "{t}", "1", "{review}", id, "{delivery}", id).Replace(path)
				s.refused(s.send(strings.ToUpper(method), address+"?"+p.Name+"=", ""), 422, "invalid", p.Name)
				if !slices.Contains([]string{"held_out", "rule", "runs", "other", "entry"}, p.Name) { // these may be repeated
					s.refused(s.send(strings.ToUpper(method), address+"?"+p.Name+"=a&"+p.Name+"=b", ""), 422, "invalid", p.Name)
				}
			}
		}
	}
}

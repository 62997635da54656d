package server_test

import (
	"encoding/json"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"relabel/api"
)

// A code of the REST reference has the status that it is answered with.
func TestReferenceGivesEachCodeItsStatus(t *testing.T) {
	text, err := os.ReadFile("../docs/rest.md")
	if err != nil {
		t.Fatal(err)
	}
	s := start(t)
	page := string(s.want(200, s.get("/docs")).body)
	seen := 0
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]*`) \\| ([0-9, ]+) \\|").FindAllStringSubmatch(string(text), -1) {
		codes, statuses := strings.Split(row[1], ", "), strings.Split(row[2], ", ")
		if len(codes) != len(statuses) {
			t.Fatalf("%s: as many statuses as codes are wanted", row[0])
		}
		for i, code := range codes {
			if want := "<td><code>" + strings.Trim(code, "`") + "</code></td><td>" + statuses[i] + "</td>"; !strings.Contains(page, want) {
				t.Errorf("%s is not answered with %s", code, statuses[i])
			}
			seen++
		}
	}
	if seen < 10 {
		t.Errorf("%d codes", seen)
	}
}

// The REST reference names every field of an iteration and of a benchmark.
func TestReferenceNamesFields(t *testing.T) {
	text, err := os.ReadFile("../docs/rest.md")
	if err != nil {
		t.Fatal(err)
	}
	for operation, request := range map[string]any{"POST /v1/runs/{id}/iterations": api.NewIteration{}, "POST /v1/benchmarks": api.NewBenchmark{}} {
		_, after, _ := strings.Cut(string(text), "`"+operation+"` takes ")
		paragraph, _, _ := strings.Cut(after, "\n\n")
		for _, field := range reflect.VisibleFields(reflect.TypeOf(request)) {
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); !strings.Contains(paragraph, "`"+name+"`") {
				t.Errorf("docs/rest.md does not name %s of %s", name, operation)
			}
		}
	}
}

// The REST reference names every operation that there is, and no other.
func TestReferenceNamesEveryOperation(t *testing.T) {
	text, err := os.ReadFile("../docs/rest.md")
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.Get(start(t).URL + "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var description struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&description); err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for path, operations := range description.Paths {
		for method := range operations {
			there[strings.ToUpper(method)+" "+path] = true
		}
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`((?:GET|POST|PUT|PATCH|DELETE) /[^`?]*)").FindAllStringSubmatch(string(text), -1) {
		named[m[1]] = true
	}
	for operation := range there {
		if !named[operation] {
			t.Errorf("docs/rest.md does not name %s", operation)
		}
	}
	for operation := range named {
		if !there[operation] {
			t.Errorf("docs/rest.md names %s, which there is not", operation)
		}
	}
}

package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"relabel/server"
)

// document is the part of an OpenAPI document that is looked at here.
type document struct {
	OpenAPI    string `json:"openapi"`
	Components struct {
		Schemas map[string]struct {
			Properties map[string]struct {
				Description string `json:"description"`
			} `json:"properties"`
		} `json:"schemas"`
	} `json:"components"`
	Paths map[string]map[string]struct {
		Summary     string `json:"summary"`
		Description string `json:"description"`
		OperationID string `json:"operationId"`
		Tags        []string
		Parameters  []struct {
			Name        string `json:"name"`
			In          string `json:"in"`
			Description string `json:"description"`
		} `json:"parameters"`
		Responses map[string]struct {
			Content map[string]json.RawMessage `json:"content"`
		} `json:"responses"`
	} `json:"paths"`
}

func TestTheDescriptionDescribesEverything(t *testing.T) {
	s := start(t, func(c *server.Config) { c.RequireToken = false })
	var d document
	if err := json.Unmarshal(s.want(200, s.get("/openapi.json")).body, &d); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(d.OpenAPI, "3.1") {
		t.Errorf("openapi %s", d.OpenAPI)
	}
	for _, path := range []string{"/v1/tasksets", "/v1/tasksets/{id}/tasks", "/v1/policies/{policy}", "/v1/runs/{id}/iterations", "/v1/iterations/{id}/cancel",
		"/v1/trajectories/{id}/states/{t}", "/v1/trajectories/{id}/patch", "/v1/trajectories/{id}/verdict", "/v1/exports/{id}/files/{path}", "/healthz", "/readyz"} {
		if d.Paths[path] == nil {
			t.Errorf("%s is not described", path)
		}
	}
	for path, item := range d.Paths {
		for method, op := range item {
			if op.Summary == "" || op.Description == "" || op.OperationID == "" || len(op.Tags) != 1 {
				t.Errorf("%s %s: not described", method, path)
			}
			for _, p := range op.Parameters {
				if p.Description == "" {
					t.Errorf("%s %s: parameter %s is not described", method, path, p.Name)
				}
			}
			if op.Responses["422"].Content["application/problem+json"] == nil {
				t.Errorf("%s %s: no error answers", method, path)
			}
		}
	}
	for name, schema := range d.Components.Schemas {
		for field, property := range schema.Properties {
			if property.Description == "" {
				t.Errorf("%s.%s is not described", name, field)
			}
		}
	}
}

// With the viewer beside it the page leads back there; without one, nowhere.
func TestTheDocsPageLeadsBackToTheViewer(t *testing.T) {
	with := start(t, func(c *server.Config) { c.Pages = http.NotFoundHandler() })
	for _, link := range []string{`href="/"`, `href="/trajectories"`} {
		if !strings.Contains(string(with.want(200, with.get("/docs")).body), link) {
			t.Errorf("the page lacks %s", link)
		}
		alone := start(t)
		if strings.Contains(string(alone.want(200, alone.get("/docs")).body), link) {
			t.Errorf("%s leads nowhere", link)
		}
	}
}

func TestTheDocsPageNeedsNothingFromElsewhere(t *testing.T) {
	s := start(t)
	page := string(s.want(200, s.get("/docs")).body)
	for _, want := range []string{"/v1/trajectories/{id}/states/{t}", "schema-NewRun", "idempotency_reuse", "Idempotency-Key"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for _, outside := range []string{"http://", "https://", "<script"} {
		if strings.Contains(page, outside) {
			t.Errorf("the page has %s", outside)
		}
	}
}

package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"relabel"
	"relabel/api"
)

// apiConfig describes the whole interface. It disables huma's own pages, which load scripts
// from other hosts.
func apiConfig(c Config) huma.Config {
	config := huma.Config{OpenAPI: &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "relabel", Version: c.Version,
			Description: "DAgger data collection for LLM agents: a teacher/student mixture acts in sandboxes, the teacher labels every visited state, and the labelled states are exported as training data. " +
				"Times are RFC 3339, ids UUIDs. Lists page by key: pass a page's next as after. Unknown fields and parameters are refused. " +
				"Every error is a Problem with a stable code. A POST with an Idempotency-Key is executed once.",
			License: &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
		},
		Components: &huma.Components{
			Schemas:         newRegistry(),
			SecuritySchemes: map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer", Description: "Created by relabel token create; required if the server listens beyond loopback."}},
		},
		Tags: []*huma.Tag{
			{Name: "tasksets", Description: "Sets of tasks."},
			{Name: "policies", Description: "Teachers and students, as immutable versions under a name."},
			{Name: "runs", Description: "Experiments and their iterations."},
			{Name: "scheduling", Description: "Priorities, quotas and pauses of runs, and the workers."},
			{Name: "trajectories", Description: "Rollouts turn by turn, with their outcomes."},
			{Name: "reviews", Description: "People's flags and notes on trajectories."},
			{Name: "exports", Description: "Data sets for trainers."},
			{Name: "audit", Description: "Who changed what."},
			{Name: "health", Description: "Whether the server is alive and ready."},
		},
	}}
	if c.RequireToken {
		config.Security = []map[string][]string{{"token": {}}}
	}
	config.Formats = map[string]huma.Format{"application/json": jsonFormat, "json": jsonFormat}
	config.DefaultFormat = "application/json"
	config.RejectUnknownQueryParameters = true
	return config
}

// newRegistry returns an empty registry of schemas.
func newRegistry() huma.Registry {
	schemas := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	schemas.RegisterTypeAlias(reflect.TypeFor[api.Number](), reflect.TypeFor[float64]())
	return schemas
}

// jsonFormat reads and writes JSON without HTML escapes. Its errors name the field that cannot
// be read.
var jsonFormat = huma.Format{
	Marshal: huma.DefaultJSONFormat.Marshal,
	Unmarshal: func(data []byte, v any) error {
		err := json.Unmarshal(data, v)
		if e, ok := err.(*json.UnmarshalTypeError); ok {
			return fmt.Errorf("%s: a %s does not fit %s", e.Field, e.Value, e.Type)
		}
		return err
	},
}

// add registers an operation. Its errors become problems, and the description lists the
// possible ones.
func add[I, O any](s *site, op huma.Operation, do func(context.Context, *I) (*O, error)) {
	describeErrors(s, &op)
	op.MaxBodyBytes, op.BodyReadTimeout = -1, -1 // takeBody has read the body, within its limits
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*O, error) {
		if err := checkUnique(reflect.ValueOf(in), ""); err != nil {
			return nil, problem(ctx, err)
		}
		endRead(ctx)
		out, err := do(ctx, in)
		if err != nil {
			return nil, problem(ctx, err)
		}
		return out, nil
	})
}

// describeErrors lists an operation's error answers and, for a POST, its key: a PATCH
// done twice is done once.
func describeErrors(s *site, op *huma.Operation) {
	op.Errors = append(op.Errors, http.StatusBadRequest, http.StatusForbidden, http.StatusServiceUnavailable)
	if s.RequireToken {
		op.Errors = append(op.Errors, http.StatusUnauthorized)
	}
	if strings.Contains(op.Path, "{") {
		op.Errors = append(op.Errors, http.StatusNotFound)
	}
	op.Errors = append(op.Errors, http.StatusUnprocessableEntity)
	if op.Method == http.MethodGet {
		return
	}
	op.Errors = append(op.Errors, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusRequestTimeout)
	if op.Method != http.MethodPost {
		return
	}
	op.Errors = append(op.Errors, http.StatusConflict)
	longest := 255
	op.Parameters = append(op.Parameters, &huma.Param{
		Name: "Idempotency-Key", In: "header",
		Description: "Any text of 1 to 255 printable ASCII characters. A repeated request with the same key and body gets the first one's answer, with Idempotency-Replayed: true; with another body 409.",
		Schema:      &huma.Schema{Type: "string", MaxLength: &longest},
	})
}

// describeProblems describes the errors of an operation that huma does not serve.
func (s *site) describeProblems(op *huma.Operation) {
	schema := s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[api.Problem](), true, "Problem")
	for _, status := range op.Errors {
		op.Responses[strconv.Itoa(status)] = &huma.Response{
			Description: http.StatusText(status),
			Content:     map[string]*huma.MediaType{"application/problem+json": {Schema: schema}},
		}
	}
}

// addDescription serves /openapi.json and /docs. It comes last: it describes the rest.
func (s *site) addDescription() {
	markIDs(s.api.OpenAPI())
	describeForms(s.api.OpenAPI())
	s.describeNames()
	spec, err := json.Marshal(s.api.OpenAPI())
	if err != nil {
		panic(err) // made of our own types alone
	}
	page := docsPage(s.api.OpenAPI(), s.Pages != nil)
	ownUniqueness(s.api.OpenAPI())
	s.operations = operationIDs(s.api.OpenAPI())
	s.router.Get("/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(spec) // a client that is gone reads nothing
	})
	s.router.Get("/docs", page)
}

// describeForms adds facts about an export's form that tags cannot express: template_options is
// an object, a request has no tokenizer_hash, and a stored form always has views.
func describeForms(description *huma.OpenAPI) {
	schemas := description.Components.Schemas.Map()
	request, form := schemas["NewExport"], schemas["ExportForm"]
	for _, schema := range []*huma.Schema{request, form} {
		schema.Properties["template_options"].Type = huma.TypeObject
	}
	delete(request.Properties, "tokenizer_hash")
	delete(request.Properties, "dialect")
	request.PrecomputeMessages()
	form.Required = append(form.Required, "views")
}

// markIDs marks ids as the UUIDs that they are.
func markIDs(description *huma.OpenAPI) {
	for _, schema := range description.Components.Schemas.Map() {
		for field, property := range schema.Properties {
			if property.Type == huma.TypeString && (field == "id" || strings.HasSuffix(field, "_id")) && field != "instance_id" && field != "call_id" {
				property.Format = "uuid"
			}
		}
	}
}

// IDPath is a path with an id. It is exported, as its kin are, because huma passes over
// embedded types that are not.
type IDPath struct {
	ID relabel.ID `path:"id" format:"uuid" doc:"Its id."`
}

func page(q api.PageQuery) relabel.Page { return relabel.Page{After: q.After, Limit: q.Limit} }

// of is an answer with a body.
type of[T any] struct{ Body T }

func pageOf[T any](items []T, next string, err error) (*of[api.Page[T]], error) {
	if err != nil {
		return nil, err
	}
	if items == nil {
		items = []T{}
	}
	return &of[api.Page[T]]{api.Page[T]{Items: items, Next: next}}, nil
}

func one[T any](item T, err error) (*of[T], error) {
	if err != nil {
		return nil, err
	}
	return &of[T]{item}, nil
}

// operation is the shape that every operation shares.
func operation(method, path, tag, id, summary, description string) huma.Operation {
	op := huma.Operation{Method: method, Path: path, Tags: []string{tag}, OperationID: id, Summary: summary, Description: description}
	if method == http.MethodPost {
		op.DefaultStatus = http.StatusCreated
	}
	return op
}

// action is an operation that changes something and creates nothing.
func action(path, tag, id, summary, description string) huma.Operation {
	op := operation(http.MethodPost, path, tag, id, summary, description)
	op.DefaultStatus = http.StatusOK
	return op
}

// asField turns the absence of something that a body names into that field's fault.
func asField(err error, field string) error {
	var e *relabel.Error
	if errors.As(err, &e) && e.Code == relabel.CodeNotFound {
		return relabel.Errorf(relabel.CodeInvalid, "%s", e.Message).On(field).Because(err)
	}
	return err
}

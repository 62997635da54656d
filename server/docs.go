package server

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed" // the page's template and style
	"encoding/base64"
	"html/template"
	"net/http"
	"slices"
	"sort"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

//go:embed docs.html
var docsTemplate string

//go:embed docs.css
var docsCSS string

// docsOperation is an operation as the page lists it.
type docsOperation struct {
	Method, Path string
	*huma.Operation
	BodyType, BodySchema string
	Answers              []docsAnswer
}

// docsAnswer is one status that an operation may answer with.
type docsAnswer struct {
	Status, Description, Type, Schema string
}

// docsSchema is an object that goes over the line.
type docsSchema struct {
	Name   string
	Fields []docsField
}

// docsField is one field of it.
type docsField struct {
	Name, Type, Link, Description string
	Required                      bool
}

// docsPage renders the description once, as one page without scripts. With a viewer it links
// back to it.
func docsPage(api *huma.OpenAPI, viewer bool) http.HandlerFunc {
	page := template.Must(template.New("docs").Parse(docsTemplate))
	var b bytes.Buffer
	err := page.Execute(&b, map[string]any{"Viewer": viewer, "Info": api.Info, "Tags": api.Tags, "Operations": docsOperations(api), "Schemas": docsSchemas(api), "Codes": docsCodes(), "Style": template.CSS(docsCSS)})
	if err != nil {
		panic(err) // made of our own types alone
	}
	sum := sha256.Sum256([]byte(docsCSS))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(b.Bytes()) // a client that is gone reads nothing
	}
}

// docsOperations groups the operations by tag, each group ordered by path.
func docsOperations(api *huma.OpenAPI) map[string][]docsOperation {
	groups := map[string][]docsOperation{}
	for path, item := range api.Paths {
		for method, op := range map[string]*huma.Operation{"GET": item.Get, "POST": item.Post, "PATCH": item.Patch} {
			if op == nil {
				continue
			}
			d := docsOperation{Method: method, Path: path, Operation: op, Answers: docsAnswers(op)}
			if op.RequestBody != nil {
				for kind, media := range op.RequestBody.Content {
					d.BodyType, d.BodySchema = kind, schemaName(media.Schema)
				}
			}
			groups[op.Tags[0]] = append(groups[op.Tags[0]], d)
		}
	}
	for _, group := range groups {
		slices.SortFunc(group, func(a, b docsOperation) int {
			return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Method, b.Method))
		})
	}
	return groups
}

func docsAnswers(op *huma.Operation) []docsAnswer {
	var answers []docsAnswer
	for status, response := range op.Responses {
		a := docsAnswer{Status: status, Description: response.Description}
		for kind, media := range response.Content {
			a.Type, a.Schema = kind, schemaName(media.Schema)
		}
		answers = append(answers, a)
	}
	sort.Slice(answers, func(i, j int) bool { return answers[i].Status < answers[j].Status })
	return answers
}

func docsSchemas(api *huma.OpenAPI) []docsSchema {
	var schemas []docsSchema
	for name, schema := range api.Components.Schemas.Map() {
		d := docsSchema{Name: name}
		for field, property := range schema.Properties {
			typ, link := typeName(property)
			d.Fields = append(d.Fields, docsField{field, typ, link, property.Description, slices.Contains(schema.Required, field)})
		}
		sort.Slice(d.Fields, func(i, j int) bool { return d.Fields[i].Name < d.Fields[j].Name })
		schemas = append(schemas, d)
	}
	sort.Slice(schemas, func(i, j int) bool { return schemas[i].Name < schemas[j].Name })
	return schemas
}

// docsCodes lists the error codes with their statuses.
func docsCodes() map[string]int {
	codes := map[string]int{}
	for code, status := range statuses {
		codes[string(code)] = status
	}
	return codes
}

// schemaName is the name of a schema that is referred to, or "".
func schemaName(s *huma.Schema) string {
	if s == nil {
		return ""
	}
	return strings.TrimPrefix(s.Ref, "#/components/schemas/")
}

// typeName returns a short name of a field's type and the schema to link to.
func typeName(s *huma.Schema) (name, link string) {
	switch {
	case s == nil:
		return "any", ""
	case s.Ref != "":
		return schemaName(s), schemaName(s)
	case s.Type == huma.TypeArray:
		name, link = typeName(s.Items)
		return "list of " + name, link
	case s.Type == "":
		return "JSON", ""
	case s.Format != "":
		return s.Type + " (" + s.Format + ")", ""
	}
	return s.Type, ""
}

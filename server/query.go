package server

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// repeatable are the query parameters that may be given more than once.
var repeatable = map[string]bool{"entry": true, "held_out": true, "other": true, "rule": true, "runs": true}

// queryProblem returns an error for a parameter that would be ignored, because it is empty or
// given twice; nil if there is none. It accepts all queries of pages, since browsers send the
// empty fields of forms.
func queryProblem(r *http.Request) error {
	if !isAPI(r.URL.Path) {
		return nil
	}
	for name, values := range r.URL.Query() {
		message := ""
		switch {
		case len(values) > 1 && !repeatable[name]:
			message = "is given more than once"
		case values[0] == "":
			message = "is empty; leave it out, or give it a value"
		default:
			continue
		}
		return problemOf(http.StatusUnprocessableEntity, "the query is not valid", []error{&huma.ErrorDetail{Location: "query." + name, Message: message}})
	}
	return nil
}

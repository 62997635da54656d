package server

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// repeatable are the query parameters that may be given more than once.
var repeatable = map[string]bool{"held_out": true}

// checkQuery refuses a query of the interface whose parameters would be ignored: one that
// is empty, and one that is given twice. Pages are left alone: browsers send the empty
// fields of forms.
func (s *site) checkQuery(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isAPI(r.URL.Path) && r.URL.RawQuery != "" {
			if p := queryProblem(r); p != nil {
				s.refuse(w, r, p)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// queryProblem says what is wrong with a query, nil for nothing.
func queryProblem(r *http.Request) error {
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

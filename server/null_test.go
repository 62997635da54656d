package server_test

import (
	"strings"
	"testing"

	"relabel"
)

// TestAValueThatWouldSilentlyBeTheDefaultIsRefused sends null, and 0 where it is not a value.
func TestAValueThatWouldSilentlyBeTheDefaultIsRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	ids := s.seed()
	iterations, run := "/v1/runs/"+ids.run+"/iterations", `{"name":"n","taskset":"real","teacher":"teacher",`
	for _, c := range []struct{ path, body, field string }{
		{"/v1/runs", run + `"limits":null}`, "limits"},
		{"/v1/runs", run + `"limits":{"max_turns":null}}`, "limits.max_turns"},
		{"/v1/runs", run + `"limits":{"max_turns":0}}`, "limits.max_turns"},
		{"/v1/runs", run + `"instances":["a__b-1",null]}`, "instances[1]"},
		{"/v1/exports", `{"run":"r","template_options":null}`, "template_options"},
		{"/v1/exports", `{"run":"r","iteration":0}`, "iteration"},
		{"/v1/exports", `{"run":"r","max_length":0}`, "max_length"},
		{"/v1/exports", `{"run":"r","capacity":0}`, "capacity"},
		{"/v1/exports", `{"run":"r","divide":0}`, "divide"},
		{iterations, `{"student":"student","tasks":0}`, "tasks"},
		{iterations, `{"student":"student","generations":0}`, "generations"},
		{iterations, `{"student":"student","instances":[]}`, "instances"},
		{"/v1/runs", run + `"instances":[]}`, "instances"},
		{"/v1/exports", `{"run":"r","views":[]}`, "views"},
		{"/v1/exports", `{"run":"r","exclude_flags":[]}`, "exclude_flags"},
		{"/v1/exports", `{"run":"r","end_reasons":[]}`, "end_reasons"},
	} {
		a := s.post(c.path, c.body)
		if field, _ := a.field("field").(string); a.StatusCode != 422 || a.field("code") != string(relabel.CodeInvalid) || strings.TrimPrefix(field, "body.") != c.field {
			t.Errorf("%s %s: %d %s", c.path, c.body, a.StatusCode, a.body)
		}
	}
	s.refused(s.post("/v1/exports", `{"run":"r","template_options":{"tools":null}}`), 409, relabel.CodeConflict, "iteration")
}

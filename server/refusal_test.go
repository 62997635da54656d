package server_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"relabel"
)

func TestBadInputIsRefusedNamingTheField(t *testing.T) {
	s := start(t)
	ids := s.seed()
	run := func(rest string) string {
		return fmt.Sprintf(`{"name":"r","recipe":"dagger","taskset":%q,"teacher":"teacher"%s}`, ids.taskset, rest)
	}
	iterations := "/v1/runs/" + ids.run + "/iterations"
	for _, c := range []struct {
		name, path, body string
		status           int
		code             relabel.Code
		field            string
	}{
		{"β below 0", "/v1/runs", run(`,"beta":{"kind":"constant","start":-0.1}`), 422, "invalid", "beta.start"},
		{"β above 1", iterations, `{"student":"student","beta":1.1}`, 422, "invalid", "beta"},
		{"β not a number", iterations, `{"student":"student","beta":NaN}`, 422, "invalid", "body.beta"},
		{"β infinite", iterations, `{"student":"student","beta":-Infinity}`, 422, "invalid", "body.beta"},
		{"β as text", iterations, `{"student":"student","beta":"NaN"}`, 422, "invalid", "beta"},
		{"a number too large", iterations, `{"student":"student","beta":1e999}`, 422, "invalid", "body.beta"},
		{"zero turns", "/v1/runs", run(`,"limits":{"max_turns":0}`), 422, "invalid", "limits.max_turns"},
		{"more turns than any run has", "/v1/runs", run(`,"limits":{"max_turns":1001}`), 422, "invalid", "limits.max_turns"},
		{"a longer prefix than any run has", "/v1/runs", run(`,"rho":{"kind":"uniform","max":1001}`), 422, "invalid", "rho.max"},
		{"a billion tasks", iterations, `{"student":"student","tasks":1000000000}`, 422, "invalid", "tasks"},
		{"a billion rollouts", iterations, `{"student":"student","generations":1000000000}`, 422, "invalid", "generations"},
		{"unknown field", "/v1/runs", run(`,"betta":1`), 422, "invalid", "betta"},
		{"unknown nested field", "/v1/runs", run(`,"limits":{"turns":1}`), 422, "invalid", "limits.turns"},
		{"field in capitals", "/v1/runs", run(`,"SEED":1`), 422, "invalid", "SEED"},
		{"missing field", "/v1/runs", `{"recipe":"sft"}`, 422, "invalid", "name"},
		{"duplicate key", "/v1/runs", run(`,"seed":1,"seed":2`), 400, "malformed", "body.seed"},
		{"escaped duplicate key", "/v1/runs", run(`,"seed":1,"s\u0065ed":2`), 400, "malformed", "body.seed"},
		{"deep nesting", "/v1/runs", strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100), 400, "malformed", "body" + strings.Repeat(".a", 32)},
		{"endless nesting", "/v1/runs", strings.Repeat("[", 1_000_000), 400, "malformed", "body" + strings.Repeat("[0]", 32)},
		{"no JSON", "/v1/runs", "{", 400, "malformed", "body"},
		{"two values", "/v1/runs", "{} {}", 400, "malformed", "body"},
		{"no body", "/v1/runs", "", 400, "malformed", ""},
		{"a list", "/v1/runs", "[]", 422, "invalid", "body"},
		{"broken UTF-8", "/v1/policies", "{\"name\":\"\xff\"}", 400, "malformed", "body"},
		{"half a surrogate pair", "/v1/runs", run(`,"prompts":{"system":"\ud83d x"}`), 400, "malformed", "body"},
		{"a NUL", "/v1/runs", run(`,"prompts":{"system":"a\u0000b"}`), 422, "invalid", "body.prompts.system"},
		{"an integer out of range", "/v1/runs", run(`,"seed":1e30`), 422, "invalid", "seed"},
		{"unknown recipe", "/v1/runs", strings.Replace(run(""), "dagger", "magic", 1), 422, "invalid", "recipe"},
		{"unknown teacher", "/v1/runs", strings.Replace(run(""), `"teacher":"teacher"`, `"teacher":"nobody"`, 1), 422, "invalid", "teacher"},
		{"unknown taskset", "/v1/runs", strings.Replace(run(""), ids.taskset, ids.run, 1), 422, "invalid", "taskset"},
		{"taskset of no such name", "/v1/runs", strings.Replace(run(""), ids.taskset, "x", 1), 422, "invalid", "taskset"},
		{"unknown scaffold", "/v1/runs", run(`,"scaffold":"x"`), 422, "invalid", "scaffold"},
		{"unknown instance", "/v1/runs", run(`,"instances":["a__b-1","x"]`), 422, "invalid", "instances[1]"},
		{"held-out instance", "/v1/runs", run(`,"instances":["a__b-3"]`), 422, "invalid", "instances[0]"},
		{"tool schema that is no object", "/v1/runs", run(`,"prompts":{"tools":[{"name":"a","description":"","parameters":"[]"}]}`), 422, "invalid", "prompts.tools[0].parameters"},
		{"unknown student", iterations, `{"student":"nobody"}`, 422, "invalid", "student"},
		{"credentials in an address", "/v1/policies", `{"name":"p","base_url":"http://u:p@h/v1","model":"m"}`, 422, "invalid", "base_url"},
		{"a key in the place of its name", "/v1/policies", `{"name":"p","base_url":"http://h/v1","model":"m","secret":"sk abc/def"}`, 422, "invalid", "secret"},
		{"a key that looks like a name", "/v1/policies", `{"name":"p","base_url":"http://h/v1","model":"m","secret":"sk-canary"}`, 422, "invalid", "secret"},
		{"a key for a webhook's secret", "/v1/runs", run(`,"webhook":{"url":"https://h/x","secret":"whsec_canary"}`), 422, "invalid", "webhook.secret"},
		{"a key in a webhook's address", "/v1/runs", run(`,"webhook":{"url":"https://h/x?token=canary"}`), 422, "invalid", "webhook.url"},
		{"temperature below 0", "/v1/policies", `{"name":"p","base_url":"http://h/v1","model":"m","sampling":{"temperature":-1}}`, 422, "invalid", "sampling.temperature"},
		{"a name that is an id", "/v1/policies", `{"name":"` + ids.run + `","base_url":"http://h/v1","model":"m"}`, 422, "invalid", "name"},
		{"export of no run", "/v1/exports", `{"run":"` + ids.taskset + `"}`, 422, "invalid", "run"},
		{"export of an iteration to come", "/v1/exports", `{"run":"` + ids.run + `","iteration":2}`, 422, "invalid", "iteration"},
		{"unknown view", "/v1/exports", `{"run":"` + ids.run + `","view":"x"}`, 422, "invalid", "view"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &service{Server: s.Server, t: t, store: s.store}
			a := s.post(c.path, c.body)
			if s.refused(a, c.status, c.code, c.field); strings.Contains(string(a.body), "canary") {
				t.Errorf("the value is shown: %s", a.body)
			}
		})
	}
}

func TestAddressesAreChecked(t *testing.T) {
	s := start(t)
	for _, c := range []struct {
		path   string
		status int
		code   relabel.Code
		field  string
	}{
		{"/v1/nothing", 404, "not_found", ""},
		{"/elsewhere", 404, "not_found", ""},
		{"/v1/runs/x", 404, "not_found", ""},
		{"/v1/iterations/x", 422, "invalid", "id"},
		{"/v1/runs/" + relabel.NewID().String(), 404, "not_found", ""},
		{"/v1/runs?after=x", 422, "invalid", "after"},
		{"/v1/runs?limit=0", 422, "invalid", "limit"},
		{"/v1/runs?limit=501", 422, "invalid", "limit"},
		{"/v1/runs?limit=9999999999999999999999", 422, "invalid", "limit"},
		{"/v1/runs?colour=red", 422, "invalid", "colour"},
		{"/v1/trajectories?state=asleep", 422, "invalid", "state"},
		{"/v1/trajectories?run=x", 422, "invalid", "run"},
		{"/v1/trajectories?turns_min=-1", 422, "invalid", "turns_min"},
		{"/v1/trajectories?turns_max=3e9", 422, "invalid", "turns_max"},
		{"/v1/trajectories?turns_min=NaN", 422, "invalid", "turns_min"},
		{"/v1/trajectories?agreement_min=x", 422, "invalid", "agreement_min"},
		{"/v1/trajectories?agreement_max=1.1", 422, "invalid", "agreement_max"},
		{"/v1/trajectories?verdict=maybe", 422, "invalid", "verdict"},
		{"/v1/trajectories/search", 422, "invalid", "text"},
		{"/v1/trajectories/search?text=", 422, "invalid", "text"},
		{"/v1/trajectories/search?text=x&verdict=maybe", 422, "invalid", "verdict"},
		{"/v1/trajectories/search?text=x&before=x", 422, "invalid", "before"},
		{"/v1/trajectories?instance=a%00b", 400, "malformed", ""},
		{"/v1/trajectories?instance=%ff", 400, "malformed", ""},
		{"/v1/policies/%00", 400, "malformed", ""},
		{"/v1/runs?limit=%zz", 400, "malformed", ""},
		{"/v1/runs?token=abc", 401, "unauthorized", "query.token"},
	} {
		t.Run(c.path, func(t *testing.T) {
			s := &service{Server: s.Server, t: t, store: s.store}
			s.refused(s.get(c.path), c.status, c.code, c.field)
		})
	}
}

func TestMethodsBodiesAndKindsAreChecked(t *testing.T) {
	s := start(t)
	a := s.send(http.MethodDelete, "/v1/runs", "")
	s.refused(a, 405, "method_not_allowed", "")
	if allow := strings.Join(a.Header.Values("Allow"), ","); allow != "GET,HEAD,POST" {
		t.Errorf("Allow: %s", allow)
	}
	s.refused(s.post("/v1/policies", `{"name":"`+strings.Repeat("a", 4<<20)+`"}`), 413, "too_large", "body")
	s.refused(s.post("/v1/policies", "{}", "Content-Type", "text/plain"), 415, "unsupported_media", "body")
	if said := string(s.post("/v1/policies", "{}", "Content-Type", "text/plain").body); !strings.Contains(said, "send JSON with Content-Type: application/json") {
		t.Errorf("it does not say what to send: %s", said)
	}
	s.refused(s.post("/v1/policies", "{}", "Content-Encoding", "gzip"), 415, "unsupported_media", "")
	if head := s.send(http.MethodHead, "/v1/runs", ""); head.StatusCode != 200 || len(head.body) != 0 {
		t.Errorf("HEAD %d %q", head.StatusCode, head.body)
	}
}

func TestCausesAreLoggedAndNeverShown(t *testing.T) {
	s := start(t)
	s.store.broken = errors.New("dial canary-7f3 refused")
	for _, path := range []string{"/v1/runs", "/v1/runs/" + relabel.NewID().String(), "/v1/trajectories?instance=hidden-9"} {
		a := s.get(path)
		s.refused(a, 500, "internal", "")
		if strings.Contains(string(a.body), "canary") {
			t.Errorf("the cause is shown: %s", a.body)
		}
	}
	s.Close() // a request's line is written after its answer
	if log := s.log.String(); !strings.Contains(log, "canary-7f3") || strings.Contains(log, "hidden-9") {
		t.Errorf("the log lacks the cause, or has the query: %s", log)
	}
}

package server_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"relabel"
	"relabel/server"
	"relabel/store/storetest"
)

// startOnPostgres is the interface in front of a real database.
func startOnPostgres(t *testing.T) *service {
	t.Helper()
	db := storetest.New(t)
	return start(t, func(c *server.Config) { c.Store = db })
}

func TestTheInterfaceOverPostgres(t *testing.T) {
	t.Parallel()
	s := startOnPostgres(t)
	ids := s.seed()
	if a := s.want(200, s.get("/v1/iterations/"+ids.iteration)); a.field("progress", "trajectories", "queued") != 2.0 {
		t.Errorf("iteration %s", a.body)
	}
	list := s.want(200, s.get("/v1/trajectories?limit=1&state=queued&run="+ids.run))
	next := s.want(200, s.get("/v1/trajectories?limit=1&state=queued&run="+ids.run+"&after="+url.QueryEscape(list.field("next").(string))))
	if list.field("items", 0, "id") == next.field("items", 0, "id") || next.field("next") != "" {
		t.Errorf("pages %s %s", list.body, next.body)
	}
	id := list.field("items", 0, "id").(string)
	for path, status := range map[string]int{"": 200, "/turns": 200, "/attempts": 200, "/calls": 200, "/verdict": 404, "/states/1": 404} {
		s.want(status, s.get("/v1/trajectories/"+id+path))
	}
	found := s.want(200, s.get("/v1/trajectories/search?limit=1&text=MAKE%20it&run="+ids.run))
	more := s.want(200, s.get("/v1/trajectories/search?limit=1&text=MAKE%20it&run="+ids.run+"&after="+url.QueryEscape(found.fieldText("next"))))
	if found.field("searched") != 1.0 || found.field("total") != 2.0 || found.field("items", 0, "first", 0, "place") != "the task" || more.field("next") != "" ||
		found.field("items", 0, "trajectory", "id") == more.field("items", 0, "trajectory", "id") {
		t.Errorf("searched %s then %s", found.body, more.body)
	}
	export := s.want(201, s.post("/v1/exports", `{"run":"`+ids.run+`","unfinished":true}`))
	s.want(200, s.get("/v1/exports/"+export.field("id").(string)))
	if a := s.want(409, s.post("/v1/tasksets?name=real", fmt.Sprintf(taskLine, "x"))); a.field("code") != "conflict" {
		t.Errorf("the same name again: %s", a.body)
	}
	run := fmt.Sprintf(`{"name":"r","recipe":"dagger","taskset":%q,"teacher":"teacher"}`, ids.taskset)
	a := s.post("/v1/runs", run)
	if s.refused(a, 409, "conflict", "name"); !strings.Contains(a.fieldText("detail"), `"r"`) || strings.Contains(string(a.body), "SQL") {
		t.Errorf("the same run again: %s", a.body)
	}
	s.want(200, s.post("/v1/iterations/"+ids.iteration+"/cancel", ""))
	if a := s.want(200, s.get("/v1/iterations/"+ids.iteration)); a.field("progress", "trajectories", "cancelled") != 2.0 || a.field("state") != "cancelled" {
		t.Errorf("cancelled %s", a.body)
	}
	s.want(200, s.get("/readyz"))
}

func TestAListOfTasksNamesWhatReservesThem(t *testing.T) {
	t.Parallel()
	s := startOnPostgres(t)
	s.seed()
	s.want(201, s.post("/v1/benchmarks", `{"name":"verified","taskset":"real","instances":["a__b-1"]}`))
	s.want(201, s.post("/v1/exclusions", `{"name":"pro","entries":["a__b-1"]}`))
	list := s.want(200, s.get("/v1/tasksets/real/tasks"))
	for i, want := range []string{"[pro verified]", "[verified]"} { // they have the same patch
		if by := fmt.Sprint(list.field("items", i, "reserved_by")); by != want {
			t.Errorf("task %d is reserved by %s: %s", i, by, list.body)
		}
	}
}

// fieldText is a text of the body, or "".
func (a answerOf) fieldText(name string) string {
	text, _ := a.field(name).(string)
	return text
}

func TestEqualPostsAreDoneOnceConcurrently(t *testing.T) {
	t.Parallel()
	s := startOnPostgres(t)
	var wait sync.WaitGroup
	answers := make([]answerOf, 12)
	for i := range answers {
		wait.Go(func() {
			for { // while the first is at work, the others are told so
				answers[i] = s.post("/v1/policies", policyBody, "Idempotency-Key", "same")
				if answers[i].StatusCode != http.StatusConflict {
					return
				}
			}
		})
	}
	wait.Wait()
	for _, a := range answers {
		if s.want(201, a); string(a.body) != string(answers[0].body) {
			t.Errorf("%s against %s", a.body, answers[0].body)
		}
	}
	if n := len(s.get("/v1/policies").field("items").([]any)); n != 1 {
		t.Errorf("%d policies", n)
	}
}

func TestRandomInputIsNeverTheServersFault(t *testing.T) {
	t.Parallel()
	s := startOnPostgres(t)
	ids := s.seed()
	r := rand.New(rand.NewPCG(1, 2))
	export := s.want(201, s.post("/v1/exports", `{"run":"`+ids.run+`","unfinished":true}`)).fieldText("id")
	trajectory := s.get("/v1/trajectories").field("items", 0, "id").(string)
	bodies := map[string]string{
		"/v1/policies": `{"name":"p","base_url":"http://h/v1","model":"m","server":"vllm","secret":"KEY","sampling":{"temperature":1,"top_p":0.5,"max_tokens":5},"limits":{"concurrency":1,"timeout_seconds":1,"retries":0}}`,
		"/v1/runs": fmt.Sprintf(`{"name":"r","recipe":"dagger","taskset":%q,"teacher":"teacher","seed":7,"instances":["a__b-1"],"prompts":{"system":"s","first":"f","tools":[{"name":"a","description":"b","parameters":"{}"}]},
			"beta":{"kind":"list","values":[1,0.5]},"rho":{"kind":"uniform","max":4},"limits":{"max_turns":5},"budget":{"tokens":5,"cost":0.5},"webhook":{"url":"https://h/x","secret":"s"}}`, ids.taskset),
		"/v1/runs/" + ids.run + "/iterations":         `{"student":"student","kind":"collect","beta":0.5,"tasks":1,"instances":["a__b-1"],"held_out":false,"generations":1}`,
		"/v1/iterations/" + ids.iteration + "/cancel": `{}`,
		"/v1/exports": fmt.Sprintf(`{"run":%q,"iteration":1,"aggregated":true,"submitted":true,"resolved":true,"view":"messages"}`, ids.run),
		"/v1/tasksets?name=n&held_out=a&held_out_seed=": fmt.Sprintf(taskLine, "a"),
	}
	for round := range 60 {
		for path, body := range bodies {
			mutated := mutate(r, strings.Replace(body, `"name":"r"`, fmt.Sprintf(`"name":"r%d"`, round), 1)) // a run's name is its own
			if strings.Contains(path, "tasksets") {
				path += url.QueryEscape(odd(r))
			}
			s.faultless("POST", path, mutated)
		}
		for _, path := range []string{"/v1/runs", "/v1/policies", "/v1/tasksets", "/v1/exports", "/v1/trajectories", "/v1/tasksets/" + ids.taskset + "/tasks", "/v1/runs/" + ids.run + "/iterations",
			"/v1/trajectories/" + trajectory + "/turns", "/v1/trajectories/" + trajectory + "/calls"} {
			q := url.Values{}
			for _, name := range []string{"after", "limit", "instance", "state", "run", "from", "raw", "resolved"} {
				if r.IntN(3) == 0 {
					q.Set(name, odd(r))
				}
			}
			s.faultless("GET", path+"?"+q.Encode(), "")
		}
		for _, pattern := range []string{"/v1/runs/%s", "/v1/runs/%s/webhooks", "/v1/runs/" + ids.run + "/events?after=%s", "/v1/policies/%s", "/v1/trajectories/%s/turns", "/v1/trajectories/" + trajectory + "/states/%s", "/v1/exports/" + export + "/files/%s", "/v1/exports/%s/files/a", "/v1/iterations/%s", "/v1/trajectories/search?text=%s"} {
			s.faultless("GET", fmt.Sprintf(pattern, url.PathEscape(odd(r))), "")
		}
	}
}

// faultless checks that an answer is no server error, and that a refusal is a problem.
func (s *service) faultless(method, path, body string) {
	s.t.Helper()
	a := s.send(method, path, body)
	if a.StatusCode >= 500 {
		s.t.Errorf("%s %s with %.300q: %d %s\n%s", method, path, body, a.StatusCode, a.body, s.log)
	}
	if a.StatusCode >= 400 && (a.Header.Get("Content-Type") != "application/problem+json" || a.fieldText("code") == "" || a.fieldText("detail") == "") {
		s.t.Errorf("%s %s: %d is no problem: %s", method, path, a.StatusCode, a.body)
	}
}

// mutate changes one value of a JSON text, or the text itself.
func mutate(r *rand.Rand, body string) string {
	if r.IntN(8) == 0 {
		at := r.IntN(len(body))
		return body[:at] + odd(r) + body[at+r.IntN(len(body)-at):]
	}
	var v map[string]any
	if json.Unmarshal([]byte(body), &v) != nil {
		return body
	}
	change(r, v)
	b, err := json.Marshal(v)
	if err != nil {
		return body
	}
	return string(b)
}

// change puts something odd in the place of a value, at any depth.
func change(r *rand.Rand, v map[string]any) {
	for key, value := range v {
		inner, ok := value.(map[string]any)
		switch {
		case r.IntN(len(v)) > 0:
		case ok && r.IntN(2) == 0:
			change(r, inner)
		case r.IntN(3) == 0:
			v[odd(r)] = value
		default:
			v[key] = []any{odd(r), nil, -1, 0, 1e300, 1 << 40, 0.5, true, []any{}, []any{odd(r)}, map[string]any{}, map[string]any{odd(r): nil}, relabel.NewID()}[r.IntN(13)]
		}
	}
}

// odd is a text that somebody may send.
func odd(r *rand.Rand) string {
	texts := []string{"", " ", "x", "\x00", "\xff", "\xed\xa0\x80", "\u202e", "../../etc/passwd", "%00", "'; DROP TABLE runs; --", "NaN", "-1", "99999999999999999999", "1e9", "true",
		"name@999999999999999999999", "teacher@1", "teacher@0", "@", "a@b", strings.Repeat("a", 5000), "{}", "[", `"`, "\\", "00000000-0000-0000-0000-000000000000", "\r\n", "é", "😀"}
	return texts[r.IntN(len(texts))]
}

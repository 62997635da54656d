package server_test

import (
	"strings"
	"testing"
)

func TestAnExclusionListIsAddedShownAndDeleted(t *testing.T) {
	s := start(t, scheduled)
	s.seed()
	made := s.want(201, s.post("/v1/exclusions", `{"name":"pro","entries":["b/b","a__b-1"]}`))
	if made.field("entries") != 2.0 || made.field("list", 0) != "a__b-1" || made.field("reserves", "trainable_tasks") != 0.0 {
		t.Errorf("%s", made.body)
	}
	if list := s.want(200, s.get("/v1/exclusions")); list.field("items", 0, "name") != "pro" {
		t.Errorf("%s", list.body)
	}
	if one := s.want(200, s.get("/v1/exclusions/pro")); one.field("id") != made.field("id") {
		t.Errorf("%s", one.body)
	}
	for body, field := range map[string]string{`{"name":"x","entries":["a"," "]}`: "entries[1]", `{"name":"x","entries":["a b"]}`: "entries[0]", `{"name":" x","entries":["a"]}`: "name", `{"name":"x","entries":["a","a"]}`: "entries[1]"} {
		s.refused(s.post("/v1/exclusions", body), 422, "invalid", field)
	}
	s.want(201, s.post("/v1/runs/r/iterations", `{"student":"student","allow_benchmarks":["pro"]}`))
	s.want(200, s.send("DELETE", "/v1/exclusions/pro", ""))
	s.want(404, s.get("/v1/exclusions/pro"))
}

func TestTasksAreComparedWithWhatIsNamed(t *testing.T) {
	s := start(t, scheduled)
	s.seed()
	s.want(201, s.post("/v1/benchmarks", `{"name":"verified","taskset":"real","all":true}`))
	s.want(201, s.post("/v1/exclusions", `{"name":"pro","entries":["b/b"]}`))
	for query, want := range map[string]string{
		"":                                     "benchmark verified, exclusions pro, taskset real",
		"?other=verified&other=taskset:real":   "benchmark verified, taskset real",
		"?other=real&entry=a__b-1&entry=b/b":   "a__b-1, b/b, taskset real",
		"?other=exclusions:pro&threshold=0.25": "exclusions pro",
	} {
		answer := s.want(200, s.get("/v1/tasksets/real/overlaps"+query))
		var with []string
		for _, name := range answer.field("with").([]any) {
			with = append(with, name.(string))
		}
		if got := strings.Join(with, ", "); got != want {
			t.Errorf("%s: compared with %s", query, got)
		}
	}
	if answer := s.want(200, s.get("/v1/tasksets/real/overlaps?threshold=0.25")); answer.field("threshold") != 0.25 {
		t.Errorf("%s", answer.body)
	}
	s.refused(s.get("/v1/tasksets/real/overlaps?other=verified&other=none"), 422, "invalid", "query.other[1]")
	s.refused(s.get("/v1/tasksets/real/overlaps?other=benchmark:none"), 422, "invalid", "query.other[0]")
	s.refused(s.get("/v1/tasksets/real/overlaps?threshold=2"), 422, "invalid", "threshold")
}

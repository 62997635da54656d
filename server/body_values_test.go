package server_test

import (
	"strings"
	"testing"
)

func TestBodiesWithManyValuesAreRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.seed()
	for name, body := range map[string]string{
		"values": `{"instances":[` + strings.Repeat("1,", 400_000) + `1]}`,
		"lists":  `{"instances":[` + strings.Repeat("[],", 400_000) + `1]}`,
	} {
		if answer := s.post("/v1/runs", body); answer.StatusCode != 400 || !strings.Contains(string(answer.body), "more than 200000") {
			t.Errorf("%s: %d %.200s", name, answer.StatusCode, answer.body)
		}
	}
	answer := s.post("/v1/runs", `{"instances":[`+strings.Repeat("1,", 90_000)+`1]}`)
	if errors, _ := answer.field("errors").([]any); answer.StatusCode != 422 || len(errors) != 100 {
		t.Errorf("%d with %d errors listed", answer.StatusCode, len(errors))
	}
	s.want(201, s.post("/v1/runs", `{"name":"many","recipe":"dagger","taskset":"real","teacher":"teacher","instances":["a__b-1"],"beta":{"kind":"list","values":[`+strings.Repeat("1,", 9_999)+`1]}}`))
}

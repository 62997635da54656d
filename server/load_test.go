package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"relabel/policy/weightstest"
)

// adapter writes an adapter and returns the request that loads it.
func (s *service) adapter(content, more string) string {
	s.t.Helper()
	folder := s.t.TempDir()
	writeFile(s.t, folder, "adapter_config.json", "{}")
	writeFile(s.t, folder, "adapter_model.safetensors", content)
	return fmt.Sprintf(`{"sha256":%q,"kind":"adapter","path":%q%s}`, shaOf(content), folder, more)
}

// shaOf is a hash of a content.
func shaOf(content string) string {
	return strings.Repeat(fmt.Sprintf("%02x", content[len(content)-1]), 32)
}

func TestAnAdapterIsTheNextVersionOfAPolicy(t *testing.T) {
	t.Parallel()
	s := weighed(t)
	ids := s.seed()
	a, b := weightstest.New(t, "0"), weightstest.New(t, "0")
	s.student("base", a, b)
	first := s.adapter("round 1", "")
	made := s.want(201, s.post("/v1/policies/student/load", first))
	name := "relabel-" + shaOf("1")[:32]
	if made.field("version") != 3.0 || made.field("model") != name || made.field("weights", "kind") != "adapter" || made.field("check", "result") != "checked" || len(made.field("loaded_at").([]any)) != 2 {
		t.Errorf("round 1 %s", made.body)
	}
	if again := s.want(201, s.post("/v1/policies/student/load", first)); again.field("id") != made.field("id") || len(again.field("loaded_at").([]any)) != 0 {
		t.Errorf("the same again %s", again.body)
	}
	other := s.want(201, s.post("/v1/policies", fmt.Sprintf(`{"name":"student","base_url":%q,"replicas":[%q],"model":%q,"server":"vllm","limits":{"concurrency":9}}`, a.Base(), b.Base(), name)))
	if other.field("version") != 4.0 || other.field("weights", "sha256") != shaOf("1") {
		t.Errorf("other limits of the same adapter: %s", other.body)
	}
	rounds := "/v1/runs/" + ids.run + "/iterations"
	running := s.want(201, s.post(rounds, `{"student":"student","beta":0.5}`)).fieldText("id")
	second := s.want(201, s.post("/v1/policies/student/load", s.adapter("round 2", "")))
	if got := a.Adapters(); len(got) != 2 || second.field("unloaded") != nil {
		t.Errorf("the running round's adapter was unloaded: %v, %s", got, second.body)
	}
	s.want(201, s.post(rounds, `{"student":"student","beta":0.5}`))
	s.want(200, s.post("/v1/iterations/"+running+"/cancel", ""))
	third := s.want(201, s.post("/v1/policies/student/load", s.adapter("round 3", "")))
	for _, server := range []*weightstest.Server{a, b} {
		if got := server.Adapters(); len(got) != 2 || slices.Contains(got, name) {
			t.Errorf("%s has %v after %s", server.Base(), got, third.body)
		}
	}
	if fmt.Sprint(third.field("unloaded")) != "["+name+"]" {
		t.Errorf("unloaded %v", third.field("unloaded"))
	}
}

func TestWeightsThatAreNotTheSameAtAllAddressesAreNotRegistered(t *testing.T) {
	t.Parallel()
	s := weighed(t)
	s.seed()
	a, other := weightstest.New(t, "0"), weightstest.New(t, "another base model")
	s.student("base", a, other)
	answer := s.post("/v1/policies/student/load", s.adapter("round 1", ""))
	s.refused(answer, 409, "conflict", "")
	if !strings.Contains(answer.fieldText("detail"), other.Base()) || len(a.Adapters())+len(other.Adapters()) != 0 {
		t.Errorf("%s; loaded %v", answer.body, a.Adapters())
	}
	if p := s.want(200, s.get("/v1/policies/student")); p.field("version") != 2.0 {
		t.Errorf("registered %s", p.body)
	}
	s.refused(s.post("/v1/policies/teacher/load", s.adapter("round 1", "")), 422, "invalid", "policy")
	s.refused(s.post("/v1/policies/student/load", s.adapter("round 1", `,"trained_from":"teacher"`)), 422, "invalid", "trained_from")
	s.refused(s.post("/v1/policies/student/load", `{"sha256":"`+strings.Repeat("X", 64)+`","kind":"adapter","path":"/a"}`), 422, "invalid", "sha256")
}

func TestACheckpointDoesNotReplaceTheModelOfARunningIteration(t *testing.T) {
	t.Parallel()
	s := weighed(t)
	ids := s.seed()
	a := weightstest.New(t, "0")
	s.student("base", a)
	running := s.want(201, s.post("/v1/runs/"+ids.run+"/iterations", `{"student":"student","beta":0.5}`)).fieldText("id")
	folder := t.TempDir()
	writeFile(t, folder, "config.json", "{}")
	writeFile(t, folder, "model.safetensors", "round 1")
	body := fmt.Sprintf(`{"sha256":%q,"kind":"checkpoint","path":%q}`, shaOf("1"), folder)
	answer := s.post("/v1/policies/student/load", body)
	s.refused(answer, 409, "conflict", "")
	if !strings.Contains(answer.fieldText("detail"), "r, collect 2") {
		t.Errorf("%s", answer.body)
	}
	s.want(200, s.post("/v1/iterations/"+running+"/cancel", ""))
	if made := s.want(201, s.post("/v1/policies/student/load", body)); made.field("model") != "base" || made.field("version") != 3.0 {
		t.Errorf("%s", made.body)
	}
	s.want(201, s.post("/v1/runs/"+ids.run+"/iterations", `{"student":"student","beta":0.5}`))
	s.refused(s.post("/v1/runs/"+ids.run+"/iterations", `{"student":"student@2","beta":0.5}`), 409, "conflict", "allow_weights")
}

package server_test

import (
	"encoding/json"
	"testing"

	"relabel"
)

// What a server would take from generation_config.json is part of the policy, and so sent.
func TestANewPolicyPinsItsSampler(t *testing.T) {
	s := start(t)
	for body, want := range map[string]string{
		`"server":"vllm"`: `{"temperature":0.7,"top_p":0.9,"max_tokens":0,"top_k":-1,"min_p":0,"repetition_penalty":1,"presence_penalty":0,"frequency_penalty":0,"logprobs":true}`,
		`"server":"llama_cpp","sampling":{"top_k":20,"stop":["a,b"]}`:                                              `{"temperature":0.7,"top_p":0.9,"max_tokens":0,"top_k":20,"min_p":0,"repetition_penalty":1,"presence_penalty":0,"frequency_penalty":0,"stop":["a,b"]}`,
		`"server":"transformers","sampling":{"chat_template_kwargs":{"enable_thinking": false, "x":{ "y": null}}}`: `{"temperature":0.7,"top_p":0.9,"max_tokens":0,"chat_template_kwargs":{"enable_thinking":false,"x":{"y":null}}}`,
		`"server":"openai","sampling":{"temperature":0}`:                                                           `{"temperature":0,"top_p":0.9,"max_tokens":0}`,
	} {
		var made struct{ Sampling json.RawMessage }
		answer := s.want(201, s.post("/v1/policies", `{"name":"p","base_url":"http://h/v1","model":"m",`+body+`}`))
		if err := json.Unmarshal(answer.body, &made); err != nil || string(made.Sampling) != want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", body, err, made.Sampling, want)
		}
	}
}

func TestASettingThatTheServerCannotTakeIsRefused(t *testing.T) {
	s := start(t)
	for body, field := range map[string]string{
		`"sampling":{"top_k":20}`: "sampling.top_k", `"sampling":{"chat_template_kwargs":{"enable_thinking":false}}`: "sampling.chat_template_kwargs",
		`"server":"openai","sampling":{"min_p":0.1}`: "sampling.min_p", `"server":"transformers","sampling":{"logprobs":true}`: "sampling.logprobs",
	} {
		s.refused(s.post("/v1/policies", `{"name":"p","base_url":"http://h/v1","model":"m",`+body+`}`), 422, relabel.CodeInvalid, field)
	}
}

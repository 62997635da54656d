package policy

import (
	"slices"
	"testing"

	"relabel"
)

func TestIDsAndLogprobsAreReadInEachServersForm(t *testing.T) {
	for name, c := range map[string]struct {
		body        string
		ids, prompt []int32
		logprobs    []float32
	}{
		"vLLM": {`{"prompt_token_ids":[1,2],"choices":[{"message":{},"token_ids":[3,4],"logprobs":{"content":[{"token":"a","logprob":-0.5},{"token":"b","logprob":-9999.0}]}}]}`,
			[]int32{3, 4}, []int32{1, 2}, []float32{-0.5, -9999}},
		"SGLang":                {`{"choices":[{"message":{},"prompt_token_ids":[1,2],"token_ids":[3]}]}`, []int32{3}, []int32{1, 2}, nil},
		"llama-server":          {`{"choices":[{"message":{},"logprobs":{"content":[{"id":9,"logprob":-1}]}}]}`, []int32{9}, nil, []float32{-1}},
		"logprobs without ids":  {`{"choices":[{"message":{},"logprobs":{"content":[{"logprob":-1}]}}]}`, nil, nil, []float32{-1}},
		"not aligned":           {`{"choices":[{"message":{},"token_ids":[3,4],"logprobs":{"content":[{"logprob":-1}]}}]}`, []int32{3, 4}, nil, nil},
		"asked for, not given":  {`{"prompt_token_ids":null,"choices":[{"message":{},"token_ids":null,"logprobs":null}]}`, nil, nil, nil},
		"ids of another kind":   {`{"choices":[{"message":{},"token_ids":"3 4"}]}`, nil, nil, nil},
		"some logprobs lacking": {`{"choices":[{"message":{},"logprobs":{"content":[{"id":1,"logprob":-1},{"id":2}]}}]}`, []int32{1, 2}, nil, nil},
	} {
		done, problem := decodeAnswer([]byte(c.body))
		if problem != "" || !slices.Equal(done.TokenIDs, c.ids) || !slices.Equal(done.PromptTokenIDs, c.prompt) || !slices.Equal(done.Logprobs, c.logprobs) {
			t.Errorf("%s: %q, %v, %v, %v", name, problem, done.TokenIDs, done.PromptTokenIDs, done.Logprobs)
		}
	}
}

func TestTheMessageIsKeptByteForByte(t *testing.T) {
	message := "{ \"content\":\"a\xff\\u0000\\ud83d \\u00e9\", \"role\":\"assistant\",\"x\":1e999,\n \"tool_calls\":[{\"id\":\"1\",\"function\":{\"arguments\":\"{\\\"a\\\": 1.0, \\\"a\\\": \",\"name\":\"f\"}}] }"
	done, problem := decodeAnswer([]byte(`{"choices" : [ {"message" : ` + message + ` ,"finish_reason":"length"}]}`))
	if problem != "" || string(done.Raw) != message {
		t.Fatalf("%q: %q", problem, done.Raw)
	}
	if m := done.Message; m.Content != "a\xff\x00\xed\xa0\xbd é" || m.ToolCalls[0].Arguments != `{"a": 1.0, "a": ` || done.FinishReason != "length" {
		t.Errorf("%+v", m)
	}
}

func TestOptionalFieldsOfAnAnswer(t *testing.T) {
	done, _ := decodeAnswer([]byte(`{"model":"m@1","system_fingerprint":"fp","usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":8}},
		"choices":[{"message":{"content":null,"refusal":"I will not.","reasoning":"hm"},"finish_reason":"stop"},{"message":{"content":"second"}}]}`))
	if done.Refusal != "I will not." || done.Message.ReasoningContent != "hm" || done.Model != "m@1" || done.Fingerprint != "fp" ||
		*done.Usage != (relabel.Usage{PromptTokens: 9, CompletionTokens: 2, CachedTokens: 8}) {
		t.Errorf("%+v", done)
	}
	for _, body := range []string{
		`{"choices":[{"message":{"content":"x"}}]}`,
		`{"usage":null,"model":null,"choices":[{"message":{"content":"x"},"finish_reason":null}]}`,
		`{"usage":{"prompt_tokens":"many"},"model":7,"system_fingerprint":[],"choices":[{"message":{"content":"x","refusal":false},"finish_reason":3}]}`,
	} {
		if done, problem := decodeAnswer([]byte(body)); problem != "" || done.Usage != nil || done.Model != "" || done.FinishReason != "" || done.Message.Content != "x" {
			t.Errorf("%s: %q, %+v", body, problem, done)
		}
	}
}

func TestOverflowIsDistinguishedFromOtherErrors(t *testing.T) {
	for _, body := range []string{
		`{"error":{"code":400,"message":"request (6009 tokens) exceeds the available context size (2048 tokens), try increasing it","type":"exceed_context_size_error"}}`,
		`{"error":{"message":"the request exceeds the available context size. try increasing the context size","type":"invalid_request_error"}}`,
		`{"error":{"message":"…","type":"invalid_request_error","code":"context_length_exceeded"}}`,
		`{"object":"error","message":"This model's maximum context length is 2048 tokens. However, you requested 6017 tokens","type":"BadRequestError","code":400}`,
		`{"error":{"message":"'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 2048 tokens and your request has 100 input tokens","code":400}}`,
		`{"error":{"message":"The decoder prompt (length 70000) is longer than the maximum model length of 65536."}}`,
		`{"error":{"message":"You passed 70000 input tokens and requested 1 output tokens. However, the model's context length is only 65536 tokens"}}`,
		`{"object":"error","message":"The input (70000 tokens) is longer than the model's context length (65536 tokens)."}`,
		`{"message":"Requested token count exceeds the model's maximum context length of 65536 tokens."}`,
		`{"error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`,
	} {
		if !readError([]byte(body)).overflow() {
			t.Errorf("not seen: %s", body)
		}
	}
	for _, body := range []string{
		"", "Internal Server Error", `{"detail":"Not Found"}`, `{"error":"busy"}`, `{"error":{"message":"model not found","code":404}}`,
		`{"detail":[{"type":"missing","loc":["body","model"],"input":{"messages":[{"content":"` + longText() + ` This model's maximum context length is 2048 tokens."}]}}]}`,
		`{"error":{"message":"max_tokens must be positive","type":"invalid_request_error"}}`,
	} {
		if readError([]byte(body)).overflow() {
			t.Errorf("taken for an overflow: %.200s", body)
		}
	}
}

func longText() string {
	b := make([]byte, 600)
	for i := range b {
		b[i] = 'x'
	}
	return string(b)
}

func FuzzDecodeAnswer(f *testing.F) {
	f.Add([]byte(goodBody))
	f.Add([]byte(`{"error":{"message":"x","code":"context_length_exceeded"}}`))
	f.Fuzz(func(_ *testing.T, body []byte) {
		decodeAnswer(body)
		readError(body).overflow()
		_ = readError(body).shown("secret")
	})
}

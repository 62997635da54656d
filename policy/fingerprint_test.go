package policy

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"relabel"
	"relabel/policy/weightstest"
)

// weightsPolicy is a policy of a kind whose model is behind the servers.
func weightsPolicy(kind relabel.ServerKind, servers ...*weightstest.Server) relabel.Policy {
	p := relabel.Policy{ID: relabel.NewID(), Name: "student", Version: 1, Model: "base", Server: kind, BaseURL: servers[0].Base(),
		Sampling: relabel.PaperSampling.Pinned(kind), Limits: relabel.DefaultPolicyLimits}
	for _, s := range servers[1:] {
		p.Replicas = append(p.Replicas, s.Base())
	}
	return p
}

func take(t *testing.T, p relabel.Policy) []relabel.Fingerprint {
	t.Helper()
	all, err := TakeFingerprints(t.Context(), p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestAReplicaWithOtherWeightsIsFoundOnBothKindsOfServers(t *testing.T) {
	t.Parallel()
	for _, kind := range []relabel.ServerKind{relabel.ServerVLLM, relabel.ServerSGLang} {
		a, b, lying := weightstest.New(t, "checkpoint 1"), weightstest.New(t, "checkpoint 1"), weightstest.New(t, "checkpoint 0")
		p := weightsPolicy(kind, a, b, lying)
		got := take(t, p)
		for i, base := range p.BaseURLs() {
			if f := got[i]; !f.Taken() || f.BaseURL != base || len(f.Texts) != 16 || len(f.Tokens) != 320 || f.Noise != 0 {
				t.Fatalf("%s: the fingerprint of %s is %+v", kind, base, f)
			}
		}
		if d := got[0].Distance(got[1]); d != 0 {
			t.Errorf("%s: equal weights have the distance %v", kind, d)
		}
		if d := got[0].Distance(got[2]); d < 0.2 {
			t.Errorf("%s: other weights have the distance %v", kind, d)
		}
		check := relabel.JudgeWeights(p, got, nil, true)
		if !check.Has(relabel.WeightsDiffer) || !strings.Contains(check.Text(), lying.Base()) || strings.Contains(check.Text(), b.Base()) {
			t.Errorf("%s: %s", kind, check.Text())
		}
	}
}

func TestUnequalServersBehindOneAddressAreFound(t *testing.T) {
	t.Parallel()
	s := weightstest.New(t, "checkpoint 1")
	s.Balance("checkpoint 0", "checkpoint 1")
	p := weightsPolicy(relabel.ServerVLLM, s)
	if check := relabel.JudgeWeights(p, take(t, p), nil, true); !check.Has(relabel.WeightsDiffer) || !strings.Contains(check.Text(), "from one request to the next") {
		t.Errorf("%s", check.Text())
	}
}

func TestNoiseOfAServerIsMeasured(t *testing.T) {
	t.Parallel()
	a, b := weightstest.New(t, "same"), weightstest.New(t, "same")
	a.SetNoise(0.02)
	b.SetNoise(0.02)
	p := weightsPolicy(relabel.ServerVLLM, a, b)
	got := take(t, p)
	if got[0].Noise < 0.002 || got[0].Noise > 0.02 {
		t.Errorf("noise %v", got[0].Noise)
	}
	if check := relabel.JudgeWeights(p, got, nil, true); check.Result != relabel.WeightsChecked {
		t.Errorf("%+v", check)
	}
}

func TestAServerThatDoesNotAnswerIsNamed(t *testing.T) {
	t.Parallel()
	up, down := weightstest.New(t, "x"), weightstest.New(t, "x")
	down.Close()
	p := weightsPolicy(relabel.ServerVLLM, up, down)
	got := take(t, p)
	if !got[0].Taken() || got[1].Taken() || !got[1].Able || got[1].Reason == "" {
		t.Fatalf("%+v", got[1])
	}
	if check := relabel.JudgeWeights(p, got, nil, true); !check.Has(relabel.WeightsUnchecked) || !strings.Contains(check.Text(), down.Base()) {
		t.Errorf("%s", check.Text())
	}
}

func TestOtherServersAreAskedForTheFirstTokenOfAnswers(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path != "/v1/chat/completions" || !strings.Contains(string(body), `"logprobs":true,"top_logprobs":20`) {
			http.Error(w, "not asked for log-probabilities", http.StatusBadRequest)
			return
		}
		_, _ = io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"I"},"logprobs":{"content":[{"token":"I","logprob":-0.5,"top_logprobs":[{"id":40,"token":"I","logprob":-0.5},{"token":"The","logprob":-1.5},{"token":"x","logprob":null}]}]}}]}`)
	}))
	defer server.Close()
	p := relabel.Policy{ID: relabel.NewID(), Name: "s", Model: "m", Server: relabel.ServerLlama, BaseURL: server.URL + "/v1",
		Sampling: relabel.PaperSampling.Pinned(relabel.ServerLlama), Limits: relabel.DefaultPolicyLimits}
	if got := take(t, p); !got[0].Taken() || got[0].Method != "chat" || strings.Join(got[0].Tokens[:3], " ") != "token_id:40 The x" || got[0].Logprobs[2] != leastListed {
		t.Errorf("%+v", got[0])
	}
	p.Server = relabel.ServerVLLM // a proxy that only has chat
	if got := take(t, p); !got[0].Taken() || got[0].Method != "chat" {
		t.Errorf("by a proxy: %+v", got[0])
	}
	p.Server, p.Sampling = relabel.ServerGeneric, relabel.PaperSampling.Pinned(relabel.ServerGeneric)
	got := take(t, p)
	if check := relabel.JudgeWeights(p, got, nil, true); check.Result != relabel.WeightsNotChecked || !strings.Contains(check.Text(), "not checked: log-probabilities are not requested from a server of kind generic") {
		t.Errorf("%s", check.Text())
	}
}

func TestAnswersWithoutLogprobsAreNoFingerprint(t *testing.T) {
	t.Parallel()
	long := `{"choices":[{"index":0,"logprobs":{"top_logprobs":[{"` + strings.Repeat("x", 2000) + `":-1}],"content":[{"top_logprobs":[` + strings.Repeat(`{"token":"a","logprob":-1},`, 200) + `{"token":"b"}]}]}}]}`
	for _, body := range []string{long, `{}`, `null`, `[]`, `{"choices":[{"index":0}]}`, `{"choices":[{"index":9,"logprobs":{"top_logprobs":[{"a":-1}]}}]}`,
		`{"choices":[{"index":0,"logprobs":{"top_logprobs":[null]}}]}`, `[{"meta_info":{"output_top_logprobs":[[[]]]}}]`, `[{"meta_info":{}}]`} {
		for name, decode := range map[string]func([]byte, int) ([][]listedToken, error){"vllm": decodeVLLMNext, "sglang": decodeSGLangNext, "chat": decodeChatNext} {
			if got, err := decode([]byte(body), 1); err == nil {
				t.Errorf("%s: %s is %v", name, body, got)
			}
		}
	}
}

func TestAnAdapterOfSGLangIsNamedApart(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]string{"base": "", "base:lora": "lora", "s3://bucket/base": "", "s3://bucket/base:lora": "lora"} {
		if got := sglangAdapter(model); got != want {
			t.Errorf("%s: %q", model, got)
		}
	}
	p := relabel.Policy{Model: "base:lora"}
	if got := string(encodeSGLangNext(p, []string{"a"})); !strings.Contains(got, `"lora_path":"lora"`) {
		t.Errorf("%s", got)
	}
	if got := string(appendSGLangScore(p, scoredText(0))); !strings.Contains(got, `"lora_path":"lora"`) {
		t.Errorf("%s", got)
	}
}

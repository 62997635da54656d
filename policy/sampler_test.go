package policy

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"relabel"
	"relabel/policy/scripted"
)

func TestEachKindOfServerGetsTheSamplerInItsNames(t *testing.T) {
	const named = `{"model":"m","temperature":0.7,"top_p":0.9,`
	const state = `"messages":[]}`
	for kind, want := range map[relabel.ServerKind]string{
		relabel.ServerGeneric:      named + state,
		relabel.ServerOpenAI:       named + state,
		relabel.ServerTransformers: named + state,
		relabel.ServerVLLM:         named + `"top_k":-1,"min_p":0,"repetition_penalty":1,"presence_penalty":0,"frequency_penalty":0,"logprobs":true,"return_token_ids":true,` + state,
		relabel.ServerSGLang:       named + `"top_k":-1,"min_p":0,"repetition_penalty":1,"presence_penalty":0,"frequency_penalty":0,"logprobs":true,"return_token_ids":true,` + state,
		relabel.ServerLlama:        named + `"top_k":0,"min_p":0,"repeat_penalty":1,"presence_penalty":0,"frequency_penalty":0,"logprobs":true,"top_logprobs":1,` + state,
		relabel.ServerLlamaCpp:     named + `"top_k":0,"min_p":0,"repeat_penalty":1,"presence_penalty":0,"frequency_penalty":0,` + state,
	} {
		req := relabel.ChatRequest{Sampling: relabel.PaperSampling.Pinned(kind)}
		if got := string(appendRequest(nil, relabel.Policy{Model: "m", Server: kind}, req)); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", kind, got, want)
		}
	}
}

func TestEveryChosenSettingIsSentAndGreedyIsGreedy(t *testing.T) {
	chosen := relabel.Sampling{Temperature: 0.7, TopP: 0.9, MaxTokens: 100, TopK: new(20), MinP: new(0.1), RepetitionPenalty: new(1.1), PresencePenalty: new(0.5), FrequencyPenalty: new(-0.5),
		Stop: []string{"\n\n", "<é>"}, ChatTemplateKwargs: map[string]json.RawMessage{"enable_thinking": json.RawMessage("false")}, Logprobs: new(false)}
	p := relabel.Policy{Model: "m", Server: relabel.ServerVLLM, Sampling: chosen}
	const rest = `"stop":["\n\n","\u003cé\u003e"],"chat_template_kwargs":{"enable_thinking":false},"max_tokens":100,"return_token_ids":true,"messages":[]}`
	for sampling, want := range map[*relabel.Sampling]string{
		&chosen:              `{"model":"m","temperature":0.7,"top_p":0.9,"top_k":20,"min_p":0.1,"repetition_penalty":1.1,"presence_penalty":0.5,"frequency_penalty":-0.5,` + rest,
		new(chosen.Greedy()): `{"model":"m","temperature":0,"top_p":1,"top_k":-1,"min_p":0,"repetition_penalty":1,"presence_penalty":0,"frequency_penalty":0,` + rest,
	} {
		if got := string(appendRequest(nil, p, relabel.ChatRequest{Sampling: *sampling})); got != want {
			t.Errorf("\ngot  %s\nwant %s", got, want)
		}
	}
	line := string((&Batches{policy: p}).Line("a", relabel.ChatRequest{Sampling: chosen}))
	if !strings.Contains(line, `"top_k":20,"min_p":0.1,`) || !strings.Contains(line, rest) {
		t.Error(line)
	}
}

// TestLogprobsAreRequestedAsThePolicySays covers both choices beside the kind's own.
func TestLogprobsAreRequestedAsThePolicySays(t *testing.T) {
	for _, c := range []struct {
		kind     relabel.ServerKind
		logprobs bool
		fields   string
		lacking  int
	}{
		{relabel.ServerVLLM, false, `,"return_token_ids":true`, 2}, {relabel.ServerLlama, false, ``, 0},
		{relabel.ServerOpenAI, true, `,"logprobs":true,"top_logprobs":1`, 1}, {relabel.ServerLlamaCpp, true, `,"logprobs":true,"top_logprobs":1`, 1},
		{relabel.ServerGeneric, false, ``, 0},
	} {
		a := asksOf(c.kind, &c.logprobs)
		if got := a.fields(); got != c.fields || len(a.notGiven(relabel.Completion{})) != c.lacking {
			t.Errorf("%s, %v: %s, not given %v", c.kind, c.logprobs, got, a.notGiven(relabel.Completion{}))
		}
	}
}

func TestACallRecordsTheSamplerThatWasSent(t *testing.T) {
	var body []byte
	b := open(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		good(w, r)
	}, nil)
	req := hello()
	req.Sampling = relabel.PaperSampling.Pinned(relabel.ServerVLLM).Greedy()
	req.Sampling.MaxTokens, req.Sampling.Logprobs = 77, nil
	if _, err := b.Complete(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	var sentBody, recorded map[string]any
	text, err := json.Marshal(b.ledger.only(t).Sampling)
	if err != nil || json.Unmarshal(text, &recorded) != nil || json.Unmarshal(body, &sentBody) != nil {
		t.Fatal(err, string(text), string(body))
	}
	if len(recorded) != 9 {
		t.Errorf("recorded: %s", text)
	}
	for name, value := range recorded {
		if sentBody[name] != value {
			t.Errorf("%s is recorded as %v and was sent as %v", name, value, sentBody[name])
		}
	}
}

func TestDoctorSaysWhichSettingsTheServerDecides(t *testing.T) {
	props := `{"default_generation_settings":{"params":{"top_k":40,"repeat_penalty":1.1,"typical_p":0.9}}}`
	server := scripted.NewServer(scripted.Config{IDs: scripted.IDsLlama})
	serve := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/props" {
			_, _ = io.WriteString(w, props)
			return
		}
		server.ServeHTTP(w, r)
	}
	for _, c := range []struct {
		kind   relabel.ServerKind
		pin    bool
		answer Answer
		detail string
		advice bool
	}{
		{relabel.ServerVLLM, true, Pinned, "every request has all settings that shape the distribution; the server decides max_tokens", false},
		{relabel.ServerVLLM, false, Partly, "the server decides top_k, min_p, repetition_penalty, presence_penalty, frequency_penalty, max_tokens", true},
		{relabel.ServerOpenAI, true, Partly, "the server decides top_k, min_p, repetition_penalty, presence_penalty, frequency_penalty, max_tokens", false},
		{relabel.ServerLlama, false, Partly, "the server decides top_k 40, min_p, repetition_penalty 1.1, presence_penalty, frequency_penalty, max_tokens; its own settings are typical_p 0.9, top_n_sigma, xtc_probability, dry_multiplier, dynatemp_range, mirostat", true},
	} {
		r, err := probe(t, serve, func(p *relabel.Policy) {
			p.Server, p.Model = c.kind, scripted.TeacherModel
			if c.pin {
				p.Sampling = p.Sampling.Pinned(c.kind)
			}
		})
		if err != nil || r.Found(AskSampler) != c.answer || !strings.Contains(r.String(), c.detail+"\n") {
			t.Errorf("%s: %v\n%s", c.kind, err, r)
		}
		if advised := strings.Contains(strings.Join(r.Advice, "\n"), "register the policy again"); advised != c.advice {
			t.Errorf("%s: %q", c.kind, r.Advice)
		}
	}
}

package relabel

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// chosen is a sampler with a value in every setting.
func chosen() Sampling {
	return Sampling{Temperature: 0.7, TopP: 0.9, MaxTokens: 100, TopK: new(20), MinP: new(0.1), RepetitionPenalty: new(1.1), PresencePenalty: new(0.5), FrequencyPenalty: new(-0.5),
		Stop: []string{"\n\n"}, ChatTemplateKwargs: map[string]json.RawMessage{"enable_thinking": json.RawMessage("false")}, Logprobs: new(true)}
}

func TestGreedyNeutralizesWhatShapesTheDistributionAndKeepsTheRest(t *testing.T) {
	want := chosen()
	want.Temperature, want.TopP = 0, 1
	want.TopK, want.MinP, want.RepetitionPenalty, want.PresencePenalty, want.FrequencyPenalty = new(-1), new(0.0), new(1.0), new(0.0), new(0.0)
	before := chosen()
	if got := before.Greedy(); !reflect.DeepEqual(got, want) || !reflect.DeepEqual(before, chosen()) {
		t.Errorf("%v of %v, want %v", got, before, want)
	}
	if got := PaperSampling.Greedy(); !reflect.DeepEqual(got, Sampling{TopP: 1}) { // what is not sent stays so
		t.Errorf("%v", got)
	}
}

func TestNewPoliciesPinEverySettingThatTheirServerFillsIn(t *testing.T) {
	pinned := PaperSampling
	pinned.TopK, pinned.MinP, pinned.RepetitionPenalty, pinned.PresencePenalty, pinned.FrequencyPenalty = new(-1), new(0.0), new(1.0), new(0.0), new(0.0)
	withLogprobs := pinned
	withLogprobs.Logprobs = new(true)
	for kind, want := range map[ServerKind]Sampling{ServerGeneric: PaperSampling, ServerOpenAI: PaperSampling, ServerTransformers: PaperSampling,
		ServerVLLM: withLogprobs, ServerSGLang: withLogprobs, ServerLlama: withLogprobs, ServerScripted: withLogprobs, ServerLlamaCpp: pinned} {
		got := PaperSampling.Pinned(kind)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", kind, got, want)
		}
		p := soundPolicy()
		if p.Server, p.Sampling = kind, got; p.Validate() != nil {
			t.Errorf("%s refuses %v: %v", kind, got, p.Validate())
		}
		if open := got.ServerDecides(); (len(open) == 1 && open[0] == "max_tokens") != (got.TopK != nil) {
			t.Errorf("%s: the server decides %v", kind, open)
		}
	}
	if got := chosen().Pinned(ServerVLLM); !reflect.DeepEqual(got, chosen()) {
		t.Errorf("%v", got)
	}
}

func TestASettingThatTheServerDoesNotAcceptIsRefusedByName(t *testing.T) {
	all := reflect.ValueOf(chosen())
	for _, name := range samplingNames {
		for _, kind := range ServerKinds {
			p := soundPolicy()
			p.Server = kind
			to := reflect.ValueOf(&p.Sampling).Elem()
			for i := range to.NumField() {
				if strings.HasPrefix(to.Type().Field(i).Tag.Get("json"), name+",") {
					to.Field(i).Set(all.Field(i))
				}
			}
			accepts := map[ServerKind]string{
				ServerGeneric: "presence_penalty frequency_penalty stop logprobs", ServerOpenAI: "presence_penalty frequency_penalty stop logprobs", ServerTransformers: "stop chat_template_kwargs",
				ServerLlamaCpp: "top_k min_p repetition_penalty presence_penalty frequency_penalty stop logprobs"}[kind]
			if accepts == "" {
				accepts = strings.Join(samplingNames, " ")
			}
			var e *Error
			switch err := p.Validate(); {
			case strings.Contains(" "+accepts+" ", " "+name+" "):
				if err != nil {
					t.Errorf("%s of %s: %v", name, kind, err)
				}
			case !errors.As(err, &e) || e.Code != CodeInvalid || e.Field != "sampling."+name || !strings.Contains(e.Message, "vllm"):
				t.Errorf("%s of %s: %v", name, kind, err)
			}
		}
	}
}

func TestStopTextsAndTopKAreBounded(t *testing.T) {
	for field, change := range map[string]func(*Policy){
		"sampling.top_k":   func(p *Policy) { p.Sampling.TopK = new(0) },
		"sampling.stop":    func(p *Policy) { p.Server, p.Sampling.Stop = ServerOpenAI, []string{"a", "b", "c", "d", "e"} },
		"sampling.stop[1]": func(p *Policy) { p.Sampling.Stop = []string{"a", ""} },
		"sampling.stop[0]": func(p *Policy) { p.Sampling.Stop = []string{strings.Repeat("é", 201)} },
	} {
		p := soundPolicy()
		change(&p)
		var e *Error
		if err := p.Validate(); !errors.As(err, &e) || e.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

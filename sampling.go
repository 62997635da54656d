package relabel

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Sampling is how a policy samples in collect and sample iterations. Evaluations always decode greedily
// (paper F.1). A nil setting is not sent, so that the server decides: servers take it from the
// model's generation_config.json or from their own defaults.
type Sampling struct {
	Temperature       float64  `json:"temperature" doc:"Sampling temperature."`
	TopP              float64  `json:"top_p" doc:"Nucleus sampling: share of the probability mass to sample from."`
	MaxTokens         int      `json:"max_tokens" doc:"Maximum tokens per answer; 0 leaves it to the server."`
	TopK              *int     `json:"top_k,omitempty" doc:"Number of the most probable tokens to sample from; -1: all. Absent: not sent."`
	MinP              *float64 `json:"min_p,omitempty" doc:"Smallest probability of a token, as a share of that of the most probable one; 0: none. Absent: not sent."`
	RepetitionPenalty *float64 `json:"repetition_penalty,omitempty" doc:"Factor against tokens that occur in prompt or answer; 1: none. Absent: not sent."`
	PresencePenalty   *float64 `json:"presence_penalty,omitempty" doc:"Penalty of tokens that occur in the answer; 0: none. Absent: not sent."`
	FrequencyPenalty  *float64 `json:"frequency_penalty,omitempty" doc:"Penalty of tokens for each occurrence in the answer; 0: none. Absent: not sent."`
	Stop              []string `json:"stop,omitempty" doc:"Texts that end an answer. Absent: not sent."`
	// ChatTemplateKwargs are further variables of the server's chat template, by name.
	ChatTemplateKwargs map[string]json.RawMessage `json:"chat_template_kwargs,omitempty" doc:"Variables of the server's chat template, such as {\"enable_thinking\": false}. Absent: not sent."`
	// Logprobs says whether log-probabilities of the sampled tokens are requested; nil: if servers
	// of the policy's kind are known to return them.
	Logprobs *bool `json:"logprobs,omitempty" doc:"Whether log-probabilities of the sampled tokens are requested. Absent: as the kind of server allows."`
}

// PaperSampling is the paper's sampling of rollouts (F.1).
var PaperSampling = Sampling{Temperature: 0.7, TopP: 0.9}

// The values of settings that change nothing.
const (
	NeutralTopK              = -1
	NeutralMinP              = 0.0
	NeutralRepetitionPenalty = 1.0
	NeutralPenalty           = 0.0 // of presence and frequency
)

// Greedy returns the sampling of an evaluation (paper F.1): temperature 0, and every setting that
// shapes the distribution neutral. A setting that is not sent stays so. Stop texts, the maximum of
// tokens, the variables of the chat template and logprobs stay.
func (s Sampling) Greedy() Sampling {
	s.Temperature, s.TopP = 0, 1
	neutralize(&s.TopK, NeutralTopK)
	neutralize(&s.MinP, NeutralMinP)
	neutralize(&s.RepetitionPenalty, NeutralRepetitionPenalty)
	neutralize(&s.PresencePenalty, NeutralPenalty)
	neutralize(&s.FrequencyPenalty, NeutralPenalty)
	return s
}

func neutralize[T any](setting **T, neutral T) {
	if *setting != nil {
		*setting = &neutral
	}
}

// Pinned returns s with a neutral value for each absent setting that servers of the kind accept and
// otherwise fill in themselves. For the other kinds it returns s.
func (s Sampling) Pinned(kind ServerKind) Sampling {
	if !slices.Contains(samplingFields[kind], "top_k") {
		return s
	}
	fill(&s.TopK, NeutralTopK)
	fill(&s.MinP, NeutralMinP)
	fill(&s.RepetitionPenalty, NeutralRepetitionPenalty)
	fill(&s.PresencePenalty, NeutralPenalty)
	fill(&s.FrequencyPenalty, NeutralPenalty)
	if kind != ServerLlamaCpp { // it returns logprobs only if the model was loaded for them
		fill(&s.Logprobs, true)
	}
	return s
}

func fill[T any](setting **T, value T) {
	if *setting == nil {
		*setting = &value
	}
}

// samplingFields are the settings, besides temperature, top_p and max_tokens, that servers of a kind
// accept, by their names in JSON.
var samplingFields = map[ServerKind][]string{
	ServerGeneric:      {"presence_penalty", "frequency_penalty", "stop", "logprobs"},
	ServerOpenAI:       {"presence_penalty", "frequency_penalty", "stop", "logprobs"},
	ServerVLLM:         samplingNames,
	ServerSGLang:       samplingNames,
	ServerLlama:        samplingNames,
	ServerScripted:     samplingNames,
	ServerTransformers: {"stop", "chat_template_kwargs"},
	ServerLlamaCpp:     {"top_k", "min_p", "repetition_penalty", "presence_penalty", "frequency_penalty", "stop", "logprobs"},
}

// samplingNames are all settings besides temperature, top_p and max_tokens.
var samplingNames = []string{"top_k", "min_p", "repetition_penalty", "presence_penalty", "frequency_penalty", "stop", "chat_template_kwargs", "logprobs"}

// Further lists the settings besides temperature, top_p and max_tokens that have a value, by their
// names in JSON.
func (s Sampling) Further() []string {
	has := map[string]bool{"top_k": s.TopK != nil, "min_p": s.MinP != nil, "repetition_penalty": s.RepetitionPenalty != nil,
		"presence_penalty": s.PresencePenalty != nil, "frequency_penalty": s.FrequencyPenalty != nil, "stop": len(s.Stop) > 0,
		"chat_template_kwargs": len(s.ChatTemplateKwargs) > 0, "logprobs": s.Logprobs != nil}
	return slices.DeleteFunc(slices.Clone(samplingNames), func(name string) bool { return !has[name] })
}

// ServerDecides lists the settings that shape the distribution or the length of answers and are not
// sent, by their names in JSON.
func (s Sampling) ServerDecides() []string {
	set := s.Further()
	open := slices.DeleteFunc(slices.Clone(samplingNames[:5]), func(name string) bool { return slices.Contains(set, name) })
	if s.MaxTokens == 0 {
		open = append(open, "max_tokens")
	}
	return open
}

// String lists the settings that are sent, for people.
func (s Sampling) String() string {
	parts := []string{fmt.Sprintf("temperature %v", s.Temperature), fmt.Sprintf("top_p %v", s.TopP)}
	parts = appendSetting(parts, "top_k", s.TopK)
	parts = appendSetting(parts, "min_p", s.MinP)
	parts = appendSetting(parts, "repetition_penalty", s.RepetitionPenalty)
	parts = appendSetting(parts, "presence_penalty", s.PresencePenalty)
	parts = appendSetting(parts, "frequency_penalty", s.FrequencyPenalty)
	if len(s.Stop) > 0 {
		parts = append(parts, fmt.Sprintf("stop %q", s.Stop))
	}
	if s.MaxTokens > 0 {
		parts = append(parts, fmt.Sprintf("at most %d tokens", s.MaxTokens))
	}
	for _, name := range slices.Sorted(maps.Keys(s.ChatTemplateKwargs)) {
		parts = append(parts, fmt.Sprintf("%s %s", name, s.ChatTemplateKwargs[name]))
	}
	parts = appendSetting(parts, "logprobs", s.Logprobs)
	return strings.Join(parts, ", ")
}

func appendSetting[T any](parts []string, name string, setting *T) []string {
	if setting == nil {
		return parts
	}
	return append(parts, fmt.Sprintf("%s %v", name, *setting))
}

// Bounds of stop texts.
const (
	maxStopLength = 200 // characters
	mostStops     = 16
	openAIStops   = 4 // that OpenAI's protocol accepts
)

// checkSampling refuses settings that the kind of server does not accept.
func checkSampling(p Policy) *Error {
	s := p.Sampling
	for _, name := range s.Further() {
		if !slices.Contains(samplingFields[p.Server], name) {
			return Errorf(CodeInvalid, "is not a setting that a %s server accepts: omit it, or name the server's kind (%s)",
				p.Server, strings.Join(kindsWith(name), ", ")).On("sampling." + name)
		}
	}
	if s.TopK != nil && *s.TopK == 0 {
		return Errorf(CodeInvalid, "is 0: give -1 to sample from all tokens").On("sampling.top_k")
	}
	most := mostStops
	if p.Server == ServerOpenAI {
		most = openAIStops
	}
	if len(s.Stop) > most {
		return Errorf(CodeInvalid, "has %d texts; a %s server accepts at most %d", len(s.Stop), p.Server, most).On("sampling.stop")
	}
	for i, text := range s.Stop {
		if text == "" || len([]rune(text)) > maxStopLength {
			return Errorf(CodeInvalid, "is not a text of 1 to %d characters", maxStopLength).On(fmt.Sprintf("sampling.stop[%d]", i))
		}
	}
	return nil
}

// kindsWith lists the kinds of servers that accept a setting, in the order of ServerKinds.
func kindsWith(name string) []string {
	var kinds []string
	for _, kind := range ServerKinds {
		if slices.Contains(samplingFields[kind], name) && kind != ServerScripted {
			kinds = append(kinds, string(kind))
		}
	}
	return kinds
}

package policy

import (
	"encoding/json"
	"strconv"

	"relabel"
)

// appendSampling appends the sampling settings of a request, in the names that servers of the kind use.
func appendSampling(dst []byte, kind relabel.ServerKind, s relabel.Sampling) []byte {
	dst = appendFloat(dst, "temperature", &s.Temperature)
	dst = appendFloat(dst, "top_p", &s.TopP)
	if k := s.TopK; k != nil {
		dst = strconv.AppendInt(append(dst, `,"top_k":`...), int64(wireTopK(kind, *k)), 10)
	}
	dst = appendFloat(dst, "min_p", s.MinP)
	dst = appendFloat(dst, repetitionPenaltyName(kind), s.RepetitionPenalty)
	dst = appendFloat(dst, "presence_penalty", s.PresencePenalty)
	dst = appendFloat(dst, "frequency_penalty", s.FrequencyPenalty)
	if len(s.Stop) > 0 {
		dst = appendJSON(append(dst, `,"stop":`...), s.Stop)
	}
	if len(s.ChatTemplateKwargs) > 0 {
		dst = appendJSON(append(dst, `,"chat_template_kwargs":`...), s.ChatTemplateKwargs)
	}
	if n := s.MaxTokens; n > 0 {
		key := `,"max_tokens":`
		if kind == relabel.ServerOpenAI {
			key = `,"max_completion_tokens":` // its newer models refuse the older name
		}
		dst = strconv.AppendInt(append(dst, key...), int64(n), 10)
	}
	return dst
}

func appendFloat(dst []byte, name string, value *float64) []byte {
	if value == nil {
		return dst
	}
	dst = append(append(append(dst, ',', '"'), name...), '"', ':')
	return strconv.AppendFloat(dst, *value, 'g', -1, 64)
}

// appendJSON appends a list of texts or an object of JSON values, which were checked when the policy
// was created.
func appendJSON(dst []byte, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		return append(dst, "null"...)
	}
	return append(dst, text...)
}

// wireTopK is top_k as a server of the kind reads it. Those of llama.cpp take 0 for all tokens, and
// llama_cpp.server refuses numbers below.
func wireTopK(kind relabel.ServerKind, k int) int {
	if k < 0 && (kind == relabel.ServerLlama || kind == relabel.ServerLlamaCpp) {
		return 0
	}
	return k
}

// repetitionPenaltyName is the name of the repetition penalty; servers of llama.cpp have their own.
func repetitionPenaltyName(kind relabel.ServerKind) string {
	if kind == relabel.ServerLlama || kind == relabel.ServerLlamaCpp {
		return "repeat_penalty"
	}
	return "repetition_penalty"
}

// asks are the optional fields of an answer that requests ask for.
type asks struct{ ids, promptIDs, logprobs bool }

// asksOf returns what requests to a kind of server ask for. Sampled ids are requested if the kind is
// known to return them. Others may refuse unknown fields (transformers: 422), or logprobs, depending on
// how the model was loaded (llama_cpp). Logprobs are requested as the policy says; nil: with the ids.
func asksOf(kind relabel.ServerKind, logprobs *bool) asks {
	a := asks{}
	switch kind {
	case relabel.ServerVLLM, relabel.ServerSGLang, relabel.ServerScripted:
		a = asks{ids: true, promptIDs: true, logprobs: true}
	case relabel.ServerLlama: // it has no field for the prompt's ids
		a = asks{ids: true, logprobs: true}
	}
	if logprobs != nil {
		a.logprobs = *logprobs
	}
	if kind == relabel.ServerLlama { // its ids are in the logprobs
		a.ids = a.logprobs
	}
	return a
}

// any reports whether a request asks for any optional field.
func (a asks) any() bool { return a.ids || a.promptIDs || a.logprobs }

// fields are the fields of a request that ask for them, each after a comma.
func (a asks) fields() string {
	text := ""
	if a.logprobs {
		text = `,"logprobs":true`
		if !a.promptIDs { // llama.cpp: without it each token has twenty alternatives, or none at all
			text += `,"top_logprobs":1`
		}
	}
	if a.promptIDs {
		text += `,"return_token_ids":true`
	}
	return text
}

// notGiven lists the requested optional fields that the answer lacks.
func (a asks) notGiven(done relabel.Completion) []string {
	var lacking []string
	if a.ids && done.TokenIDs == nil {
		lacking = append(lacking, askedIDs)
	}
	if a.promptIDs && done.PromptTokenIDs == nil {
		lacking = append(lacking, askedPromptIDs)
	}
	if a.logprobs && done.Logprobs == nil {
		lacking = append(lacking, askedLogprobs)
	}
	return lacking
}

// sendsExtras reports whether requests of a policy have fields that a server may refuse as unknown.
func sendsExtras(p relabel.Policy) bool {
	return asksOf(p.Server, p.Sampling.Logprobs).any() || len(p.Sampling.Further()) > 0
}

// sent are the settings of a request as they are recorded: with whether logprobs were requested.
func sent(kind relabel.ServerKind, s relabel.Sampling) *relabel.Sampling {
	s.Logprobs = new(asksOf(kind, s.Logprobs).logprobs)
	return &s
}

package policy

import (
	"encoding/json"

	"relabel"
)

// answerBody is a chat-completions response. What an answer can do without is kept
// raw and read leniently: a server's own idea of a usage field must not cost an action.
type answerBody struct {
	Model          json.RawMessage `json:"model"`
	Fingerprint    json.RawMessage `json:"system_fingerprint"`
	Usage          json.RawMessage `json:"usage"`
	PromptTokenIDs json.RawMessage `json:"prompt_token_ids"` // vLLM
	Choices        []answerChoice  `json:"choices"`
}

type answerChoice struct {
	Message        json.RawMessage `json:"message"`
	FinishReason   json.RawMessage `json:"finish_reason"`
	TokenIDs       json.RawMessage `json:"token_ids"`
	PromptTokenIDs json.RawMessage `json:"prompt_token_ids"` // SGLang
	Logprobs       json.RawMessage `json:"logprobs"`
}

// decodeAnswer reads a 200 body, or says in problem what is wrong with it.
func decodeAnswer(body []byte) (done relabel.Completion, problem string) {
	var w answerBody
	if err := json.Unmarshal(body, &w); err != nil {
		if !json.Valid(body) {
			return done, "its answer is no JSON"
		}
		return done, "its answer is no chat completion"
	}
	if len(w.Choices) == 0 {
		return done, "its answer holds no choices"
	}
	choice := w.Choices[0]
	message, err := relabel.DecodeMessage(choice.Message)
	if err != nil {
		return done, "its answer holds no message"
	}
	done = relabel.Completion{
		Raw:          choice.Message,
		Message:      message,
		FinishReason: optional[string](choice.FinishReason),
		Refusal:      refusal(choice.Message),
		TokenIDs:     optional[[]int32](choice.TokenIDs),
		Usage:        decodeUsage(w.Usage),
		Model:        optional[string](w.Model),
		Fingerprint:  optional[string](w.Fingerprint),
	}
	if done.PromptTokenIDs = optional[[]int32](w.PromptTokenIDs); done.PromptTokenIDs == nil {
		done.PromptTokenIDs = optional[[]int32](choice.PromptTokenIDs)
	}
	addLogprobs(&done, choice.Logprobs)
	return done, ""
}

// addLogprobs reads choices[].logprobs. llama-server puts each token's id beside its
// logprob. Logprobs that do not align with the sampled ids are left out.
func addLogprobs(done *relabel.Completion, raw json.RawMessage) {
	tokens := optional[struct {
		Content []struct {
			ID      *int32   `json:"id"`
			Logprob *float32 `json:"logprob"`
		} `json:"content"`
	}](raw).Content
	var ids []int32
	var logprobs []float32
	for _, t := range tokens {
		if t.ID != nil {
			ids = append(ids, *t.ID)
		}
		if t.Logprob != nil {
			logprobs = append(logprobs, *t.Logprob)
		}
	}
	if done.TokenIDs == nil && len(ids) == len(tokens) {
		done.TokenIDs = ids
	}
	if len(logprobs) == len(tokens) && (done.TokenIDs == nil || len(done.TokenIDs) == len(logprobs)) {
		done.Logprobs = logprobs
	}
}

// refusal reads the field by which OpenAI's models decline.
func refusal(message json.RawMessage) string {
	return optional[struct {
		Refusal string `json:"refusal"`
	}](message).Refusal
}

// decodeUsage returns nil where the server does not say.
func decodeUsage(raw json.RawMessage) *relabel.Usage {
	w := optional[*struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Details    *struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}](raw)
	if w == nil {
		return nil
	}
	u := &relabel.Usage{PromptTokens: w.Prompt, CompletionTokens: w.Completion}
	if w.Details != nil {
		u.CachedTokens = w.Details.Cached
	}
	return u
}

// optional reads raw as a T, and gives T's zero value where it is absent or another type.
func optional[T any](raw json.RawMessage) T {
	var v T
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil {
		var zero T
		return zero
	}
	return v
}

// optionalText reads a JSON string as its text and anything else as its JSON.
func optionalText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

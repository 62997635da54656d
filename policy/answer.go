package policy

import (
	"encoding/json"
	"fmt"
	"slices"

	"relabel"
	"relabel/chat"
)

// answerBody is a chat-completions response. Optional fields are raw and read leniently: an unusual usage
// field must not cost an action.
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

// decodeAnswer reads a 200 body, or returns its problem. It applies the bounds (bounds.go).
func decodeAnswer(body []byte) (done relabel.Completion, problem string) {
	var c clamps
	var w answerBody
	if err := json.Unmarshal(body, &w); err != nil {
		plain, found := withoutNaN(body)
		switch {
		case found && json.Unmarshal(plain, &w) == nil:
			c.note(clampedNumbers)
		case json.Valid(body):
			return done, "its answer is not a chat completion"
		default:
			return done, "its answer is not JSON"
		}
	}
	if len(w.Choices) == 0 {
		return done, "its answer has no choices"
	}
	choice := w.Choices[0]
	if len(choice.Message) > maxMessage {
		return done, fmt.Sprintf("its message is larger than %d MiB", maxMessage>>20)
	}
	message, err := chat.DecodeMessage(choice.Message)
	if err != nil {
		return done, "its answer has no message"
	}
	done = relabel.Completion{
		Raw:            choice.Message,
		Message:        message,
		FinishReason:   c.name(choice.FinishReason, clampedFinish),
		Refusal:        c.cut(refusal(choice.Message), maxRefusal, clampedRefusal),
		TokenIDs:       c.ids(choice.TokenIDs, askedIDs),
		PromptTokenIDs: c.ids(w.PromptTokenIDs, askedPromptIDs),
		Usage:          c.usage(w.Usage),
		Model:          c.name(w.Model, clampedModel),
		Fingerprint:    c.name(w.Fingerprint, clampedFingerprint),
	}
	if done.PromptTokenIDs == nil {
		done.PromptTokenIDs = c.ids(choice.PromptTokenIDs, askedPromptIDs)
	}
	addLogprobs(&done, choice.Logprobs, &c)
	done.Clamped = c
	return done, ""
}

// addLogprobs reads choices[].logprobs. llama-server has each token's id beside its logprob. It drops
// logprobs that do not align with the sampled ids.
func addLogprobs(done *relabel.Completion, raw json.RawMessage, c *clamps) {
	var w struct {
		Content []struct {
			ID      *int32   `json:"id"`
			Logprob *float32 `json:"logprob"`
		} `json:"content"`
	}
	if given(raw) && json.Unmarshal(raw, &w) != nil {
		c.note(askedLogprobs)
		return
	}
	var ids []int32
	var logprobs []float32
	for _, t := range w.Content {
		if t.ID != nil {
			ids = append(ids, *t.ID)
		}
		if t.Logprob == nil {
			continue
		}
		if p, ok := c.logprob(*t.Logprob); ok {
			logprobs = append(logprobs, p)
		}
	}
	if slices.ContainsFunc(ids, func(id int32) bool { return id < 0 }) {
		c.note(askedIDs)
		ids = nil
	}
	if done.TokenIDs == nil && len(ids) == len(w.Content) {
		done.TokenIDs = ids
	}
	if len(logprobs) == len(w.Content) && (done.TokenIDs == nil || len(done.TokenIDs) == len(logprobs)) {
		done.Logprobs = logprobs
	}
}

// refusal reads the field with which OpenAI's models decline.
func refusal(message json.RawMessage) string {
	return optional[struct {
		Refusal string `json:"refusal"`
	}](message).Refusal
}

// optional reads raw as a T; the zero value if it is absent or of another type.
func optional[T any](raw json.RawMessage) (zero T) {
	var v T
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil {
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

package policy

import (
	"slices"
	"strconv"

	"relabel"
	"relabel/chat"
	"relabel/policy/texttools"
)

// The optional fields of an answer, as Completion.NotGiven names them.
const (
	askedIDs       = "token_ids"
	askedPromptIDs = "prompt_token_ids"
	askedLogprobs  = "logprobs"
)

// appendRequest appends the body of a chat-completions request. Fields that are the same in all turns come
// before the messages, so that a turn's body begins with the bytes of the previous one.
func appendRequest(dst []byte, p relabel.Policy, req relabel.ChatRequest) []byte {
	dst = chat.AppendString(append(dst, `{"model":`...), p.Model)
	size := roughSize(req.Messages, req.Tools)
	dst = slices.Grow(dst, size+size/4) // a long state would otherwise be copied several times
	messages, tools := Sent(p, req.Messages, req.Tools)
	if len(tools) > 0 {
		dst = chat.AppendTools(append(dst, `,"tools":`...), tools)
	}
	dst = strconv.AppendFloat(append(dst, `,"temperature":`...), req.Sampling.Temperature, 'g', -1, 64)
	dst = strconv.AppendFloat(append(dst, `,"top_p":`...), req.Sampling.TopP, 'g', -1, 64)
	if n := req.Sampling.MaxTokens; n > 0 {
		key := `,"max_tokens":`
		if p.Server == relabel.ServerOpenAI {
			key = `,"max_completion_tokens":` // its newer models refuse the older name
		}
		dst = strconv.AppendInt(append(dst, key...), int64(n), 10)
	}
	dst = append(dst, optionalFields(p.Server)...)
	dst = appendState(append(dst, `,"messages":`...), p, messages)
	if req.Seed != nil && p.Server != relabel.ServerGeneric {
		dst = strconv.AppendInt(append(dst, `,"seed":`...), *req.Seed, 10)
	}
	return append(dst, '}')
}

// Sent returns a state and its tools as sent to a policy's endpoint: in the policy's tool format, and
// without anything that servers refuse.
func Sent(p relabel.Policy, state []relabel.Message, tools []relabel.Tool) ([]relabel.Message, []relabel.Tool) {
	if p.ToolFormat == relabel.ToolsText {
		state, tools = texttools.State(state, tools), nil
	}
	return wireMessages(p.Server, state), tools
}

// roughSize is the approximate length of messages and tools as JSON, without escapes.
func roughSize(messages []relabel.Message, tools []relabel.Tool) int {
	const eachMessage = 64
	n := 1024
	for _, m := range messages {
		n += eachMessage + len(m.Content) + len(m.ReasoningContent)
		for _, c := range m.ToolCalls {
			n += eachMessage + len(c.Name) + len(c.Arguments)
		}
	}
	for _, t := range tools {
		n += eachMessage + len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	return n
}

// optionalFields requests sampled ids and logprobs if the kind of server is known to return them. Others
// may refuse unknown fields (transformers: 422), or logprobs, depending on how the model was loaded
// (llama_cpp).
func optionalFields(kind relabel.ServerKind) string {
	switch kind {
	case relabel.ServerVLLM, relabel.ServerSGLang, relabel.ServerScripted:
		return `,"logprobs":true,"return_token_ids":true`
	case relabel.ServerLlama:
		// Ids are in the logprobs; without top_logprobs each token has twenty alternatives.
		return `,"logprobs":true,"top_logprobs":1`
	}
	return ""
}

// notGiven lists the requested optional fields that the answer lacks.
func notGiven(kind relabel.ServerKind, done relabel.Completion) []string {
	if optionalFields(kind) == "" {
		return nil
	}
	var lacking []string
	if done.TokenIDs == nil {
		lacking = append(lacking, askedIDs)
	}
	if done.PromptTokenIDs == nil && asksPromptIDs(kind) {
		lacking = append(lacking, askedPromptIDs)
	}
	if done.Logprobs == nil {
		lacking = append(lacking, askedLogprobs)
	}
	return lacking
}

// asksPromptIDs reports whether optionalFields requests the prompt's ids. llama-server has no field for
// them.
func asksPromptIDs(kind relabel.ServerKind) bool {
	return optionalFields(kind) != "" && kind != relabel.ServerLlama
}

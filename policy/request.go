package policy

import (
	"slices"
	"strconv"

	"relabel"
	"relabel/chat"
	"relabel/policy/texttools"
)

// What may be asked for beside the message, as Completion.NotGiven names it.
const (
	askedIDs       = "token_ids"
	askedPromptIDs = "prompt_token_ids"
	askedLogprobs  = "logprobs"
)

// appendRequest appends the body of a chat-completions request. What does not change
// from turn to turn stands first and the messages after it, so that a turn's body
// begins with the bytes of the turn before.
func appendRequest(dst []byte, p relabel.Policy, req relabel.ChatRequest) []byte {
	dst = chat.AppendString(append(dst, `{"model":`...), p.Model)
	size := roughSize(req.Messages, req.Tools)
	dst = slices.Grow(dst, size+size/4) // a state is long, and grown step by step it would be copied again and again
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

// Sent returns a state and its tools as they are sent to a policy's endpoint: calls and tools
// in the policy's tool format, and nothing that servers refuse.
func Sent(p relabel.Policy, state []relabel.Message, tools []relabel.Tool) ([]relabel.Message, []relabel.Tool) {
	if p.ToolFormat == relabel.ToolsText {
		state, tools = texttools.State(state, tools), nil
	}
	return wireMessages(p.Server, state), tools
}

// roughSize is about how long messages and tools are as JSON, without what is escaped.
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

// optionalFields asks for sampled ids and logprobs where the kind of server is known
// to give them. Others may refuse fields that they do not know (transformers: 422), or
// refuse logprobs by how the model was loaded (llama_cpp).
func optionalFields(kind relabel.ServerKind) string {
	switch kind {
	case relabel.ServerVLLM, relabel.ServerSGLang, relabel.ServerScripted:
		return `,"logprobs":true,"return_token_ids":true`
	case relabel.ServerLlama:
		// Ids come inside logprobs; without top_logprobs it adds twenty alternatives a token.
		return `,"logprobs":true,"top_logprobs":1`
	}
	return ""
}

// notGiven lists what optionalFields asked for and the answer lacks.
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

// asksPromptIDs says whether optionalFields asks for the prompt's ids; llama-server has
// no field for them.
func asksPromptIDs(kind relabel.ServerKind) bool {
	return optionalFields(kind) != "" && kind != relabel.ServerLlama
}

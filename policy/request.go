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
	dst = appendSampling(dst, p.Server, req.Sampling)
	dst = append(dst, asksOf(p.Server, req.Sampling.Logprobs).fields()...)
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

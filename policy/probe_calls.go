package policy

import (
	"context"
	"fmt"
	"net/http"

	"relabel"
)

// toolRequest is a request for a call.
func toolRequest(prompt string, more ...relabel.Message) relabel.ChatRequest {
	return relabel.ChatRequest{Messages: append(probeState(prompt), more...), Tools: []relabel.Tool{probeTool},
		Sampling: relabel.Sampling{TopP: 1, MaxTokens: probeTokens}, Purpose: relabel.PurposeProbe, T: 1}
}

// in is the policy with another tool format.
func in(p relabel.Policy, format relabel.ToolFormat) relabel.Policy {
	p.ToolFormat = format
	return p
}

// asInRollouts adds the settings of the policy to a request, except those that make answers random.
func (b *prober) asInRollouts(req relabel.ChatRequest) relabel.ChatRequest {
	tokens := req.Sampling.MaxTokens
	req.Sampling = b.policy.Sampling.Greedy()
	req.Sampling.MaxTokens = tokens
	return req
}

// first asks for a call as in a rollout, and in the other tool format if that tells more. It returns
// the policy in the format that works.
func (b *prober) first(ctx context.Context) (relabel.Policy, error) {
	p := b.policy
	got := b.ask(ctx, p, b.asInRollouts(toolRequest(oneCall)), "")
	if !got.ok && sendsExtras(p) && (got.status == http.StatusBadRequest || got.status == http.StatusUnprocessableEntity) {
		p.Server = relabel.ServerGeneric
		if bare := b.ask(ctx, p, toolRequest(oneCall), ""); bare.ok {
			b.refusedExtras = true
			kind := relabel.ServerGeneric
			if got.status == http.StatusUnprocessableEntity {
				kind = relabel.ServerTransformers
			}
			b.suggest(func(p *relabel.Policy) { p.Server = kind },
				fmt.Sprintf("the server refuses the fields that are requested as %s (%s)", b.policy.Server, got.problem))
			got = bare
		}
	}
	if !got.ok && p.ToolFormat == relabel.ToolsNative && got.status >= 400 && got.status <= 501 {
		if text := b.ask(ctx, in(p, relabel.ToolsText), toolRequest(oneCall), ""); text.ok {
			b.report.found(AskNative, got.answer(), got.problem)
			b.learn(text)
			b.calls(AskText, text)
			b.suggest(func(p *relabel.Policy) { p.ToolFormat = relabel.ToolsText }, "the server refuses tools; use calls as text")
			return in(p, relabel.ToolsText), nil
		}
	}
	if !got.ok {
		if got.status == http.StatusNotFound {
			b.report.Advice = append(b.report.Advice, "HTTP 404: "+notFoundAdvice)
		}
		return p, relabel.Errorf(relabel.CodeEndpoint, "%s: %s", p.Name, got.problem)
	}
	b.learn(got)
	b.report.LatencyMillis = got.took.Milliseconds()
	return b.otherFormat(ctx, p, got), nil
}

// otherFormat reports the answer to the first question, and asks it in the other format unless a call
// came as expected.
func (b *prober) otherFormat(ctx context.Context, p relabel.Policy, got reply) relabel.Policy {
	if p.ToolFormat == relabel.ToolsText {
		native := b.ask(ctx, in(p, relabel.ToolsNative), toolRequest(oneCall), "")
		b.calls(AskNative, native)
		b.calls(AskText, got)
		if called(got) == NoCall && called(native) == Yes {
			b.suggest(func(p *relabel.Policy) { p.ToolFormat = relabel.ToolsNative }, "calls arrive as expected if tools are sent as tools, and not as text")
			return in(p, relabel.ToolsNative)
		}
		return p
	}
	b.calls(AskNative, got)
	if called(got) == Yes {
		return p
	}
	text := b.ask(ctx, in(p, relabel.ToolsText), toolRequest(oneCall), "")
	b.calls(AskText, text)
	switch {
	case called(got) == Raw:
		why := "calls arrive unparsed and are read from the text (" + form(got) + "), which every action records; to have them parsed, " +
			"start the server with the model's tool parser (vLLM: --enable-auto-tool-choice --tool-call-parser NAME; SGLang: --tool-call-parser NAME; llama-server: --jinja)"
		if called(text) == Yes {
			why += ", or use calls as text (--tool-format text), which works too"
		}
		b.report.Advice = append(b.report.Advice, why)
	case called(text) == Yes:
		b.suggest(func(p *relabel.Policy) { p.ToolFormat = relabel.ToolsText }, "no call came with tools sent as tools, but one as text")
		return in(p, relabel.ToolsText)
	default:
		b.report.Advice = append(b.report.Advice, "the model called no tool in either format: it may be too weak, or its chat template may omit tools and prompt")
	}
	return p
}

// calls reports how calls came.
func (b *prober) calls(q Question, got reply) { b.note(q, got, called(got), form(got)) }

// called is the finding of a request for a call.
func called(got reply) Answer {
	if len(got.done.Message.ToolCalls) == 0 {
		return NoCall
	}
	for _, f := range got.done.ReadAs {
		if f == relabel.ToolCallJSON || f == relabel.BareJSON || f == relabel.FunctionTags && !got.text {
			return Raw
		}
	}
	return Yes
}

// form names the form of a raw call.
func form(got reply) string {
	for _, f := range got.done.ReadAs {
		if f != relabel.ThinkTags && f != relabel.TagEscapes {
			return string(f)
		}
	}
	if len(got.done.Message.ToolCalls) == 0 {
		return "finish reason " + got.done.FinishReason
	}
	return ""
}

// learn reports the findings of the first answer besides the call.
func (b *prober) learn(got reply) {
	m := got.done.Message
	switch {
	case m.ReasoningContent == "":
		b.report.found(AskReasoning, No, "none seen")
	case len(got.done.ReadAs) > 0 && got.done.ReadAs[0] == relabel.ThinkTags:
		b.report.found(AskReasoning, InContent, "separated")
	default:
		b.report.found(AskReasoning, InField, "")
	}
	if u := got.done.Usage; u != nil {
		b.report.found(AskUsage, Yes, fmt.Sprintf("%d + %d tokens", u.PromptTokens, u.CompletionTokens))
	} else {
		b.report.found(AskUsage, No, "four bytes count as one token")
	}
	if n := b.report.ContextTokens; n > 0 {
		b.report.found(AskContext, Yes, fmt.Sprintf("%d tokens", n))
	} else {
		b.report.found(AskContext, NotSaid, "")
	}
}

// together asks for two calls at once.
func (b *prober) together(ctx context.Context, p relabel.Policy) {
	got := b.ask(ctx, p, toolRequest(twoCalls), "")
	answer, detail := Yes, ""
	if n := len(got.done.Message.ToolCalls); n < 2 {
		answer, detail = No, fmt.Sprintf("%d came; a turn then takes one step", n)
	}
	b.note(AskTwo, got, answer, detail)
}

// history sends states with calls, valid and broken.
func (b *prober) history(ctx context.Context, p relabel.Policy) {
	state := func(arguments string) relabel.ChatRequest {
		req := toolRequest(twoCalls,
			relabel.Message{Role: relabel.RoleAssistant, ToolCalls: []relabel.ToolCall{
				{ID: "call_1_0", Name: probeTool.Name, Arguments: arguments}, {ID: "call_1_1", Name: probeTool.Name, Arguments: `{"command": "pwd"}`}}},
			relabel.Message{Role: relabel.RoleTool, ToolCallID: "call_1_0", Content: "a.py\nb.py"},
			relabel.Message{Role: relabel.RoleTool, ToolCallID: "call_1_1", Content: "/"})
		req.Sampling.MaxTokens, req.T = 16, 2
		return req
	}
	for _, q := range []struct {
		ask       Question
		arguments string
	}{{AskHistory, `{"command": "ls"}`}, {AskBroken, `{"command": "l`}} {
		got := b.ask(ctx, p, state(q.arguments), "")
		b.note(q.ask, got, Yes, "")
		if !got.ok && p.ToolFormat == relabel.ToolsNative && got.answer() == Refused && b.ask(ctx, in(p, relabel.ToolsText), state(q.arguments), "").ok {
			b.suggest(func(p *relabel.Policy) { p.ToolFormat = relabel.ToolsText }, "the server refuses states with such calls, but accepts them as text")
			p = in(p, relabel.ToolsText)
		}
	}
}

package policy

import (
	"context"
	"fmt"
	"net/http"

	"relabel"
)

// toolRequest asks for a call.
func toolRequest(prompt string, more ...relabel.Message) relabel.ChatRequest {
	return relabel.ChatRequest{Messages: append(probeState(prompt), more...), Tools: []relabel.Tool{probeTool},
		Sampling: relabel.Sampling{TopP: 1, MaxTokens: probeTokens}, Purpose: relabel.PurposeProbe, T: 1}
}

// in is the policy with another tool format.
func in(p relabel.Policy, format relabel.ToolFormat) relabel.Policy {
	p.ToolFormat = format
	return p
}

// first asks for a call as a rollout would, and in the other tool format where that
// tells more. It returns the policy in the form in which calls come.
func (b *prober) first(ctx context.Context) (relabel.Policy, error) {
	p := b.policy
	got := b.ask(ctx, p, toolRequest(oneCall), "")
	if !got.ok && optionalFields(p.Server) != "" && (got.status == http.StatusBadRequest || got.status == http.StatusUnprocessableEntity) {
		p.Server = relabel.ServerGeneric
		if bare := b.ask(ctx, p, toolRequest(oneCall), ""); bare.ok {
			b.refusedExtras = true
			kind := relabel.ServerGeneric
			if got.status == http.StatusUnprocessableEntity {
				kind = relabel.ServerTransformers
			}
			b.suggest(func(p *relabel.Policy) { p.Server = kind },
				fmt.Sprintf("the server refuses what it is asked for as %s (%s)", b.policy.Server, got.problem))
			got = bare
		}
	}
	if !got.ok && p.ToolFormat == relabel.ToolsNative && got.status >= 400 && got.status <= 501 {
		if text := b.ask(ctx, in(p, relabel.ToolsText), toolRequest(oneCall), ""); text.ok {
			b.report.found(AskNative, got.answer(), got.problem)
			b.learn(text)
			b.report.found(AskText, called(text), form(text))
			b.suggest(func(p *relabel.Policy) { p.ToolFormat = relabel.ToolsText }, "the server refuses tools; let calls be written as text")
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

// otherFormat tells what came of the first question, and asks it in the other format
// unless it came as it should.
func (b *prober) otherFormat(ctx context.Context, p relabel.Policy, got reply) relabel.Policy {
	if p.ToolFormat == relabel.ToolsText {
		native := b.ask(ctx, in(p, relabel.ToolsNative), toolRequest(oneCall), "")
		b.report.found(AskNative, called(native), form(native))
		b.report.found(AskText, called(got), form(got))
		if called(got) == NoCall && called(native) == Yes {
			b.suggest(func(p *relabel.Policy) { p.ToolFormat = relabel.ToolsNative }, "calls come as they should where tools are given as tools, and not as text")
			return in(p, relabel.ToolsNative)
		}
		return p
	}
	b.report.found(AskNative, called(got), form(got))
	if called(got) == Yes {
		return p
	}
	text := b.ask(ctx, in(p, relabel.ToolsText), toolRequest(oneCall), "")
	b.report.found(AskText, called(text), form(text))
	switch {
	case called(got) == Raw:
		why := "calls come unparsed and are read from the text (" + form(got) + "), which every action says; to have them parsed, " +
			"start the server with the model's tool parser (vLLM: --enable-auto-tool-choice --tool-call-parser NAME; SGLang: --tool-call-parser NAME; llama-server: --jinja)"
		if called(text) == Yes {
			why += ", or let calls be written as text (--tool-format text), which works too"
		}
		b.report.Advice = append(b.report.Advice, why)
	case called(text) == Yes:
		b.suggest(func(p *relabel.Policy) { p.ToolFormat = relabel.ToolsText }, "no call came where tools were given as tools, and one did as text")
		return in(p, relabel.ToolsText)
	default:
		b.report.Advice = append(b.report.Advice, "the model called no tool either way: it may be too weak, or its chat template may leave tools and prompt out")
	}
	return p
}

// called says how a call came.
func called(got reply) Answer {
	switch {
	case !got.ok:
		return got.answer()
	case len(got.done.Message.ToolCalls) == 0:
		return NoCall
	}
	for _, f := range got.done.ReadAs {
		if f == relabel.ToolCallJSON || f == relabel.BareJSON || f == relabel.FunctionTags && !got.text {
			return Raw
		}
	}
	return Yes
}

// form names the form of a raw call, or what the refusal says.
func form(got reply) string {
	if !got.ok {
		return got.problem
	}
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

// learn reads off the first answer what it tells beside the call.
func (b *prober) learn(got reply) {
	m := got.done.Message
	switch {
	case m.ReasoningContent == "":
		b.report.found(AskReasoning, No, "none seen")
	case len(got.done.ReadAs) > 0 && got.done.ReadAs[0] == relabel.ThinkTags:
		b.report.found(AskReasoning, InContent, "taken apart")
	default:
		b.report.found(AskReasoning, InField, "")
	}
	if u := got.done.Usage; u != nil {
		b.report.found(AskUsage, Yes, fmt.Sprintf("%d + %d tokens", u.PromptTokens, u.CompletionTokens))
	} else {
		b.report.found(AskUsage, No, "four bytes are taken for a token")
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
	switch n := len(got.done.Message.ToolCalls); {
	case !got.ok:
		b.report.found(AskTwo, got.answer(), got.problem)
	case n >= 2:
		b.report.found(AskTwo, Yes, "")
	default:
		b.report.found(AskTwo, No, fmt.Sprintf("%d came; a turn then takes one step", n))
	}
}

// history sends states with calls, in order and broken.
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
		if got.ok {
			b.report.found(q.ask, Yes, "")
			continue
		}
		b.report.found(q.ask, got.answer(), got.problem)
		if p.ToolFormat == relabel.ToolsNative && got.answer() == Refused && b.ask(ctx, in(p, relabel.ToolsText), state(q.arguments), "").ok {
			b.suggest(func(p *relabel.Policy) { p.ToolFormat = relabel.ToolsText }, "the server refuses states with such calls, and takes them as text")
			p = in(p, relabel.ToolsText)
		}
	}
}

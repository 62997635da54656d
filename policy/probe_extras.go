package policy

import (
	"context"
	"encoding/json"
	"fmt"

	"relabel"
	"relabel/chat"
)

// plainRequest is a request for a short answer.
func plainRequest(prompt string, tokens int) relabel.ChatRequest {
	return relabel.ChatRequest{Messages: []relabel.Message{{Role: relabel.RoleUser, Content: prompt}},
		Sampling: relabel.Sampling{TopP: 1, MaxTokens: tokens}, Purpose: relabel.PurposeProbe, T: 1}
}

// bare is the policy without requests for optional fields.
func bare(p relabel.Policy) relabel.Policy {
	p.Server = relabel.ServerGeneric
	return p
}

// extras requests ids and logprobs in all forms.
func (b *prober) extras(ctx context.Context, p relabel.Policy) {
	const hello = "Say hello."
	ids := b.ask(ctx, bare(p), plainRequest(hello, 8), `,"return_token_ids":true`)
	logprobs := b.ask(ctx, bare(p), plainRequest(hello, 8), `,"logprobs":true,"top_logprobs":1`)
	inLogprobs := logprobs.ok && logprobs.done.TokenIDs != nil
	idsBy := ids
	if inLogprobs && ids.done.TokenIDs == nil {
		idsBy = logprobs
	}
	b.given(AskIDs, idsBy, idsBy.done.TokenIDs != nil)
	b.given(AskPromptIDs, ids, ids.done.PromptTokenIDs != nil)
	b.given(AskLogprobs, logprobs, logprobs.done.Logprobs != nil)
	b.kind(ids, inLogprobs)
}

// given reports whether an optional field came, and whether calls of the policy request it.
func (b *prober) given(q Question, asked reply, came bool) {
	answer, detail := NotGiven, "requested, and silently ignored"
	switch {
	case came && b.asks(q):
		answer, detail = Yes, ""
	case came:
		answer, detail = Yes, fmt.Sprintf("as %s no call requests it", b.policy.Server)
	case b.asks(q):
		detail = fmt.Sprintf("as %s every call requests it, without effect", b.policy.Server)
	}
	b.note(q, asked, answer, detail)
}

// asks reports whether calls of the policy request an optional field.
func (b *prober) asks(q Question) bool {
	asked := asksOf(b.policy.Server, b.policy.Sampling.Logprobs)
	switch q {
	case AskPromptIDs:
		return asked.promptIDs
	case AskIDs:
		return asked.ids
	}
	return asked.logprobs
}

// kind compares the optional fields that came with those that the policy's kind of server is asked for.
func (b *prober) kind(ids reply, inLogprobs bool) {
	var fits relabel.ServerKind
	switch {
	case ids.done.TokenIDs != nil && topLevelPromptIDs(ids.body):
		fits = relabel.ServerVLLM
	case ids.done.TokenIDs != nil:
		fits = relabel.ServerSGLang
	case inLogprobs:
		fits = relabel.ServerLlama
	}
	asked := asksOf(b.policy.Server, nil)
	switch {
	case fits != "" && asksOf(fits, nil) != asked:
		b.suggest(func(p *relabel.Policy) { p.Server = fits }, fmt.Sprintf("the server returns sampled token ids like %s, but as %s they are not requested", fits, b.policy.Server))
	case fits == "" && asked.any() && !b.refusedExtras:
		b.report.Advice = append(b.report.Advice, fmt.Sprintf("as %s token ids are requested, and none came; every action records that", b.policy.Server))
	}
}

func topLevelPromptIDs(body []byte) bool {
	var w struct {
		IDs []int32 `json:"prompt_token_ids"`
	}
	return json.Unmarshal(body, &w) == nil && w.IDs != nil
}

// several requests two answers, which nothing needs.
func (b *prober) several(ctx context.Context, p relabel.Policy) {
	req := plainRequest("Say hello.", 4)
	req.Sampling.Temperature = 1 // vLLM refuses n above 1 with greedy decoding
	got := b.ask(ctx, bare(p), req, `,"n":2`)
	var w struct {
		Choices []json.RawMessage `json:"choices"`
	}
	answer, detail := NotGiven, "requested two, one came"
	if json.Unmarshal(got.body, &w) == nil && len(w.Choices) == 2 {
		answer, detail = Yes, ""
	}
	b.note(AskN, got, answer, detail)
}

// seeds sends the same request three times, twice with the same seed.
func (b *prober) seeds(ctx context.Context, p relabel.Policy) {
	var said [3]string
	for i, seed := range []int64{7, 7, 8} {
		req := plainRequest("Write eight words that have nothing to do with each other.", 24)
		req.Sampling.Temperature = 1
		got := b.ask(ctx, bare(p), req, fmt.Sprintf(`,"seed":%d`, seed))
		if !got.ok {
			b.report.found(AskSeed, got.answer(), got.problem)
			return
		}
		said[i] = string(chat.EncodeMessage(relabel.Message{Content: got.done.Message.Content, ReasoningContent: got.done.Message.ReasoningContent}))
	}
	switch {
	case said[0] != said[1]:
		b.report.found(AskSeed, No, "the same seed gave two answers")
	case said[1] != said[2]:
		b.report.found(AskSeed, Yes, "")
	default:
		b.report.found(AskSeed, Unclear, "another seed gave the same answer too")
	}
}

// advise adds advice that follows from several findings.
func (b *prober) advise() {
	if b.report.Found(AskModel) == No && b.report.Suggested == nil {
		b.report.Advice = append(b.report.Advice, "the server does not list the model, but answered: some servers accept any name")
	}
}

package policy

import (
	"context"
	"encoding/json"
	"fmt"

	"relabel"
	"relabel/chat"
)

// plainRequest asks for a few words.
func plainRequest(prompt string, tokens int) relabel.ChatRequest {
	return relabel.ChatRequest{Messages: []relabel.Message{{Role: relabel.RoleUser, Content: prompt}},
		Sampling: relabel.Sampling{TopP: 1, MaxTokens: tokens}, Purpose: relabel.PurposeProbe, T: 1}
}

// bare is a policy that nothing optional is asked of.
func bare(p relabel.Policy) relabel.Policy {
	p.Server = relabel.ServerGeneric
	return p
}

// extras asks for ids and logprobs: as the policy's kind of server is asked, and each
// form for what did not come.
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

// given notes whether what was asked for came, and whether the policy asks for it too.
func (b *prober) given(q Question, asked reply, came bool) {
	unsupported := "asked for, and silently left out"
	idle := ""
	if b.asks(q) {
		unsupported = fmt.Sprintf("as %s every call asks for it, without effect", b.policy.Server)
	} else {
		idle = fmt.Sprintf("as %s no call asks for it", b.policy.Server)
	}
	switch {
	case came:
		b.report.found(q, Yes, idle)
	case !asked.ok:
		b.report.found(q, asked.answer(), asked.problem)
	default:
		b.report.found(q, NotGiven, unsupported)
	}
}

// asks says whether the policy's kind of server is asked for something.
func (b *prober) asks(q Question) bool {
	if q == AskPromptIDs {
		return asksPromptIDs(b.policy.Server)
	}
	return optionalFields(b.policy.Server) != ""
}

// kind compares what came with what the policy's kind of server is asked for.
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
	asked := optionalFields(b.policy.Server)
	switch {
	case fits != "" && optionalFields(fits) != asked:
		b.suggest(func(p *relabel.Policy) { p.Server = fits }, fmt.Sprintf("the server gives sampled token ids as %s does, and as %s it is not asked for them", fits, b.policy.Server))
	case fits == "" && asked != "" && !b.refusedExtras:
		b.report.Advice = append(b.report.Advice, fmt.Sprintf("as %s the server is asked for token ids, and none came; every action says so", b.policy.Server))
	}
}

func topLevelPromptIDs(body []byte) bool {
	var w struct {
		IDs []int32 `json:"prompt_token_ids"`
	}
	return json.Unmarshal(body, &w) == nil && w.IDs != nil
}

// several asks for two answers to one request, which nothing here needs.
func (b *prober) several(ctx context.Context, p relabel.Policy) {
	req := plainRequest("Say hello.", 4)
	req.Sampling.Temperature = 1 // vLLM refuses n above 1 where it decodes greedily
	got := b.ask(ctx, bare(p), req, `,"n":2`)
	var w struct {
		Choices []json.RawMessage `json:"choices"`
	}
	switch {
	case !got.ok:
		b.report.found(AskN, got.answer(), got.problem)
	case json.Unmarshal(got.body, &w) == nil && len(w.Choices) == 2:
		b.report.found(AskN, Yes, "")
	default:
		b.report.found(AskN, NotGiven, "asked for two, one came")
	}
}

// seeds asks the same thing three times, twice with the same seed.
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

// advise adds what the findings say together.
func (b *prober) advise() {
	if b.report.Found(AskModel) == No && b.report.Suggested == nil {
		b.report.Advice = append(b.report.Advice, "the model is not among those that the server lists, and it answered all the same: some servers take any name")
	}
}

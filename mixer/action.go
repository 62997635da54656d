package mixer

import (
	"context"

	"relabel"
)

// cutText tells a model that its answer was not whole.
const cutText = "Your answer reached its length limit before it was complete, so nothing of it was run. Give a shorter answer that ends with one tool call; write long files in several steps."

// execute runs the action, or says why nothing of it was run.
func (r *rollout) execute(ctx context.Context, t int, a relabel.Action) ([]relabel.Observation, bool, error) {
	if a.Parse == relabel.CutByLength {
		return cutObservations(t, a.Message), false, nil
	}
	return r.episode.Execute(ctx, t, a.Message)
}

// cutObservations answers each call of an action that was cut, or the action itself
// where it has none.
func cutObservations(t int, action relabel.Message) []relabel.Observation {
	return observeAll(t, action, cutText)
}

// observeAll answers each call of an action with a text, or the action itself where it has none.
func observeAll(t int, action relabel.Message, text string) []relabel.Observation {
	if len(action.ToolCalls) == 0 {
		return []relabel.Observation{{Content: text, Failed: true}}
	}
	obs := make([]relabel.Observation, len(action.ToolCalls))
	for k, call := range action.ToolCalls {
		obs[k] = relabel.Observation{CallID: relabel.CallID(t, k), Tool: call.Name, Content: text, Failed: true}
	}
	return obs
}

// fellSilent counts actions without a call and reports whether they end the trajectory.
func (r *rollout) fellSilent(a relabel.Action) bool {
	if len(a.Message.ToolCalls) > 0 {
		r.silent = 0
		return false
	}
	r.silent++
	return r.silent >= maxSilent
}

// contextIsFull reports whether the executed action's prompt and answer reach the
// run's limit, as the executor's server counts. Where it does not count, four bytes of
// the request's JSON are taken for a token.
func (r *rollout) contextIsFull(a relabel.Action) bool {
	if a.Usage != nil {
		return a.Usage.PromptTokens+a.Usage.CompletionTokens >= r.claim.Run.Limits.MaxContextTokens
	}
	const bytesPerToken = 4
	text := relabel.AppendTools(nil, r.claim.Run.Prompts.Tools)
	text = relabel.AppendMessages(text, r.state)
	text = relabel.AppendMessage(text, a.Message)
	return len(text)/bytesPerToken >= r.claim.Run.Limits.MaxContextTokens
}

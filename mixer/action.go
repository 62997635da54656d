package mixer

import (
	"cmp"
	"context"

	"relabel"
)

// cutText is what a model reads when its answer was cut.
const cutText = "Your answer reached its length limit before it was complete, so nothing of it was run. Give a shorter answer that ends with one tool call; write long files in several steps."

// execute runs the action, or explains why it was not run.
func (r *rollout) execute(ctx context.Context, t int, a relabel.Action) ([]relabel.Observation, bool, error) {
	if a.Parse == relabel.CutByLength {
		return observeAll(t, a.Message, r.cutText()), false, nil
	}
	return r.episode.Execute(ctx, t, a.Message)
}

// cutText is what the run's models read when an answer was cut.
func (r *rollout) cutText() string {
	if r.environment.Cut == nil {
		return cutText
	}
	return cmp.Or(r.environment.Cut(r.claim), cutText)
}

// observeAll answers each call of an action with a text, or the action itself if it has none.
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
	r.silent++
	if len(a.Message.ToolCalls) > 0 {
		r.silent = 0
	}
	return r.silent >= maxSilent
}

// contextIsFull reports whether the executed action's prompt and answer reach its executor's
// limit, by the server's count, or by the estimate of prompts if the server does not count.
func (r *rollout) contextIsFull(turn relabel.Turn) bool {
	limit := r.actLimit(r.versionOf(turn.Executor)).Tokens
	if u := turn.Action.Usage; u != nil {
		return u.Tokens() >= limit
	}
	return r.sizes.With(turn.Action.Message).Of(turn.Action.PolicyID).Tokens >= limit
}

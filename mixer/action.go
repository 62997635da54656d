package mixer

import (
	"context"

	"relabel"
)

// cutText is what a model reads when its answer was cut.
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

// contextIsFull reports whether the executed action's prompt and answer reach its executor's
// limit, as its server counted. Where it does not count, they are estimated as prompts are.
func (r *rollout) contextIsFull(turn relabel.Turn) bool {
	limit := r.actLimit(r.versionOf(turn.Executor)).Tokens
	if u := turn.Action.Usage; u != nil {
		return u.Tokens() >= limit
	}
	return r.sizes.With(turn.Action.Message).Of(turn.Action.PolicyID).Tokens >= limit
}

package atif

import (
	"encoding/json"
	"unicode/utf8"

	"relabel"
	"relabel/chat"
)

// stepOf makes a step out of a turn, and adds its tokens to the sums.
func (w *Writer) stepOf(turn relabel.Turn) (step, error) {
	own := w.record.Own
	said := turn.Action.Message.Canonical(turn.T)
	s := step{Timestamp: timestamp(turn.StartedAt), Source: sourceAgent, Message: content(said.Content), ReasoningContent: text(said.ReasoningContent),
		Metrics: w.metricsOf(turn.Action), LLMCallCount: new(1)}
	if own != nil {
		if p := own.policy(turn.Action.PolicyID); p != nil {
			s.ModelName = text(p.Model)
		}
	}
	var err error
	for _, c := range said.ToolCalls {
		call := toolCall{ID: text(c.ID), FunctionName: text(c.Name), Arguments: argumentsObject(c.Arguments)}
		if own != nil {
			if call.Extra, err = encode(ours[ownCall]{ownCall{exactText(c.Arguments)}}); err != nil {
				return s, err
			}
		}
		s.ToolCalls = append(s.ToolCalls, call)
	}
	if s.Observation, err = observationOf(turn.Observations, own != nil); err != nil || own == nil {
		return s, err
	}
	s.Extra, err = encode(ours[ownTurn]{turnOf(turn)})
	return s, err
}

// argumentsObject is the text of arguments if it is a JSON object, else an empty object, because the format
// has only objects.
func argumentsObject(arguments string) rawValue {
	raw := rawValue(arguments)
	if !utf8.Valid(raw) || !json.Valid(raw) || firstByte(raw) != '{' {
		return rawValue("{}")
	}
	return raw
}

// firstByte is the first byte of a JSON text after white space, 0 if there is none.
func firstByte(raw []byte) byte {
	for _, c := range raw {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c
		}
	}
	return 0
}

func observationOf(observations []relabel.Observation, own bool) (*observation, error) {
	if len(observations) == 0 {
		return nil, nil
	}
	all := &observation{}
	for _, o := range observations {
		r := result{SourceCallID: text(o.CallID), Content: content(o.Content)}
		if own {
			extra, err := encode(ours[ownResult]{resultOf(o)})
			if err != nil {
				return nil, err
			}
			r.Extra = extra
		}
		all.Results = append(all.Results, r)
	}
	return all, nil
}

func resultOf(o relabel.Observation) ownResult {
	r := ownResult{Tool: exactText(o.Tool), ExitCode: o.ExitCode, Failed: o.Failed, Millis: o.Millis}
	if !representable(o.Content) {
		r.Content = new(exactText(o.Content))
	}
	return r
}

// metricsOf are the figures of the executed action; nil if there are none.
func (w *Writer) metricsOf(a relabel.Action) *metrics {
	m := &metrics{PromptTokenIDs: a.PromptTokenIDs, CompletionTokenIDs: a.TokenIDs, Logprobs: a.Logprobs}
	if u := a.Usage; u != nil {
		m.PromptTokens, m.CompletionTokens, m.CachedTokens = &u.PromptTokens, &u.CompletionTokens, &u.CachedTokens
		w.sum.PromptTokens += u.PromptTokens
		w.sum.CompletionTokens += u.CompletionTokens
		w.sum.CachedTokens += u.CachedTokens
	}
	if own := w.record.Own; own != nil {
		if m.CostUSD = own.costUSD(a.PolicyID, a.Usage); m.CostUSD != nil {
			w.sum.CostUSD = new(*m.CostUSD + dollars(w.sum.CostUSD))
		}
	}
	if a.Usage == nil && m.PromptTokenIDs == nil && m.CompletionTokenIDs == nil && m.Logprobs == nil {
		return nil
	}
	return m
}

func dollars(sum *float64) float64 {
	if sum == nil {
		return 0
	}
	return *sum
}

func turnOf(turn relabel.Turn) ownTurn {
	own := ownTurn{T: turn.T, Executor: turn.Executor, Action: executedOf(turn.Action), LabelChance: turn.LabelChance, Tree: text(turn.Tree),
		StartedAt: turn.StartedAt, EndedAt: turn.EndedAt, Time: turn.Time}
	switch {
	case turn.Label == nil:
	case turn.Executor == relabel.Teacher:
		own.Label = &ownLabel{IsAction: true}
	default:
		own.Label = &ownLabel{ownAction: actionOf(*turn.Label, turn.T)}
	}
	for _, other := range turn.Others {
		own.Others = append(own.Others, actionOf(other, turn.T))
	}
	return own
}

// actionOf has everything of an action.
func actionOf(a relabel.Action, t int) ownAction {
	own := executedOf(a)
	own.TokenIDs, own.PromptTokenIDs, own.Logprobs, own.Usage = a.TokenIDs, a.PromptTokenIDs, a.Logprobs, a.Usage
	if a.Status == relabel.Received && own.MessageBase64 == nil {
		own.Message = chat.AppendMessage(nil, a.Message.Canonical(t))
	}
	return own
}

// executedOf omits what the step and its metrics have.
func executedOf(a relabel.Action) ownAction {
	own := ownAction{PolicyID: a.PolicyID, Status: a.Status, Reason: text(a.Reason), FinishReason: text(a.FinishReason), Refusal: exactText(a.Refusal),
		Parse: a.Parse, ReadAs: a.ReadAs, NotGiven: a.NotGiven, Model: text(a.Model), Fingerprint: text(a.Fingerprint), Millis: a.Millis}
	if a.Status == relabel.Received && !chat.ValidText(a.Message) {
		own.MessageBase64 = chat.EncodeMessage(a.Message)
	}
	return own
}

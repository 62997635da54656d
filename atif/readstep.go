package atif

import (
	"fmt"
	"math"
	"time"

	"relabel"
	"relabel/chat"
)

// reading is the state of reading the steps of one document.
type reading struct{ record *Record }

// ignore counts a field that is not kept.
func (in *reading) ignore(field string, is bool) {
	if is {
		in.record.Ignored[field]++
	}
}

// step reads steps[i].
func (in *reading) step(i int, raw []byte) error {
	var s step
	if err := decode(raw, &s); err != nil {
		return err
	}
	if err := checkStep(i, s); err != nil {
		return err
	}
	in.ignore("steps.reasoning_effort", s.ReasoningEffort != nil)
	if s.Source == sourceAgent {
		return in.turn(s)
	}
	in.ignore("steps.extra", s.Extra != nil)
	return in.message(s)
}

// checkStep refuses what is against the format, and what the steps of relabel's trajectories cannot be.
func checkStep(i int, s step) error {
	refuse := func(field, format string, args ...any) error {
		return relabel.Errorf(relabel.CodeInvalid, format, args...).On(field)
	}
	agentOnly := s.ModelName != "" || s.ReasoningEffort != nil || s.ReasoningContent != "" || s.ToolCalls != nil || s.Metrics != nil
	switch {
	case s.StepID != i+1:
		return refuse("step_id", "is %d: steps are numbered from 1 without gaps", s.StepID)
	case s.Source != sourceSystem && s.Source != sourceUser && s.Source != sourceAgent:
		return refuse("source", "is %q: must be system, user or agent", s.Source)
	case s.Source != sourceAgent && agentOnly:
		return refuse("source", "is %s, but the step has fields that only an agent's step may have", s.Source)
	case s.IsCopiedContext != nil && *s.IsCopiedContext:
		return refuse("is_copied_context", "is not supported: the step belongs to another trajectory")
	case s.Source == sourceAgent && s.LLMCallCount != nil && *s.LLMCallCount == 0:
		return refuse("llm_call_count", "is 0: no model chose this action, so it is not a turn")
	}
	return nil
}

// message reads a step of the system or the user: before the first turn it belongs to the opening, after it a
// user's message is what the turn before it observed.
func (in *reading) message(s step) error {
	r := in.record
	last := len(r.Turns) - 1
	switch {
	case s.Observation != nil:
		return relabel.Errorf(relabel.CodeInvalid, "is only supported in steps of the agent").On("observation")
	case last < 0 && s.Source == sourceSystem:
		r.Opening = append(r.Opening, relabel.Message{Role: relabel.RoleSystem, Content: string(s.Message)})
	case last < 0:
		r.Opening = append(r.Opening, relabel.Message{Role: relabel.RoleUser, Content: string(s.Message)})
	case s.Source == sourceSystem:
		return relabel.Errorf(relabel.CodeInvalid, "is system after the agent's first step, which relabel's states cannot have").On("source")
	default:
		r.Turns[last].Observations = append(r.Turns[last].Observations, relabel.Observation{Content: string(s.Message)})
	}
	return nil
}

// turn reads a step of the agent.
func (in *reading) turn(s step) error {
	turn := relabel.Turn{T: len(in.record.Turns) + 1, Executor: relabel.Student, Action: relabel.Action{Status: relabel.Received}}
	if last := turn.T - 2; last >= 0 && in.record.Own == nil {
		if err := checkAnswered(in.record.Turns[last]); err != nil {
			return err
		}
	}
	message, err := in.messageOf(s)
	if err != nil {
		return err
	}
	turn.Action.Message = message
	if turn.Observations, err = in.observations(s, turn.T); err != nil {
		return at("observation", err)
	}
	if err := in.addMetrics(&turn.Action, s.Metrics); err != nil {
		return at("metrics", err)
	}
	if in.record.Own != nil {
		if err := in.addOwn(&turn, s); err != nil {
			return at("extra", err)
		}
	} else if err := in.addForeign(&turn, s); err != nil {
		return err
	}
	in.record.Turns = append(in.record.Turns, turn)
	return nil
}

func (in *reading) messageOf(s step) (relabel.Message, error) {
	m := relabel.Message{Role: relabel.RoleAssistant, Content: string(s.Message), ReasoningContent: string(s.ReasoningContent)}
	for k, c := range s.ToolCalls {
		field := fmt.Sprintf("tool_calls[%d]", k)
		if firstByte(c.Arguments) != '{' {
			return m, relabel.Errorf(relabel.CodeInvalid, "is not an object").On(field + ".arguments")
		}
		arguments := string(c.Arguments)
		own, err := ownFields[ownCall](c.Extra)
		switch {
		case err != nil:
			return m, at(field+".extra", err)
		case own != nil && !sameJSON(argumentsObject(string(own.Arguments)), c.Arguments):
			return m, relabel.Errorf(relabel.CodeInvalid, "differs from arguments: the document was edited; remove extra to use arguments").On(field + ".extra.relabel.arguments")
		case own != nil:
			arguments = string(own.Arguments)
		}
		in.ignore("steps.tool_calls.extra", own == nil && c.Extra != nil)
		m.ToolCalls = append(m.ToolCalls, relabel.ToolCall{ID: string(c.ID), Name: string(c.FunctionName), Arguments: arguments})
	}
	return m, nil
}

func (in *reading) addMetrics(a *relabel.Action, m *metrics) error {
	if m == nil {
		return nil
	}
	for _, n := range []struct {
		field string
		value *int
	}{{"prompt_tokens", m.PromptTokens}, {"completion_tokens", m.CompletionTokens}, {"cached_tokens", m.CachedTokens}} {
		if n.value != nil && (*n.value < 0 || *n.value > math.MaxInt32) {
			return relabel.Errorf(relabel.CodeInvalid, "is %d, which is not a number of tokens", *n.value).On(n.field)
		}
	}
	if len(m.Logprobs) > 0 && len(m.CompletionTokenIDs) > 0 && len(m.Logprobs) != len(m.CompletionTokenIDs) {
		return relabel.Errorf(relabel.CodeInvalid, "has %d values for %d completion_token_ids", len(m.Logprobs), len(m.CompletionTokenIDs)).On("logprobs")
	}
	a.PromptTokenIDs, a.TokenIDs, a.Logprobs = m.PromptTokenIDs, m.CompletionTokenIDs, m.Logprobs
	if m.PromptTokens != nil && m.CompletionTokens != nil {
		a.Usage = &relabel.Usage{PromptTokens: *m.PromptTokens, CompletionTokens: *m.CompletionTokens}
		if m.CachedTokens != nil {
			a.Usage.CachedTokens = *m.CachedTokens
		}
	}
	in.ignore("steps.metrics.extra", m.Extra != nil)
	return nil
}

// addForeign adds what a step of another harness says of its turn.
func (in *reading) addForeign(turn *relabel.Turn, s step) error {
	in.ignore("steps.extra", s.Extra != nil)
	in.ignore("steps.metrics.cost_usd", s.Metrics != nil && s.Metrics.CostUSD != nil)
	turn.Action.Raw = chat.EncodeMessage(turn.Action.Message)
	turn.Action.Model = string(s.ModelName)
	turn.Action.Parse = relabel.ParsedOK
	if len(s.ToolCalls) == 0 {
		turn.Action.Parse = relabel.NoCall
	}
	if s.Timestamp == "" {
		return nil
	}
	var err error
	if turn.StartedAt, err = parseTime(s.Timestamp); err != nil {
		return relabel.Errorf(relabel.CodeInvalid, "is %q, not a time in ISO 8601", s.Timestamp).On("timestamp")
	}
	return nil
}

// parseTime reads the forms of ISO 8601 that writers of Python use; without a zone it is UTC.
func parseTime(s string) (t time.Time, err error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999"} {
		if t, err = time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	return t, err
}

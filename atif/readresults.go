package atif

import (
	"fmt"

	"relabel"
)

// observations reads the results of a step of turn t: their call ids become relabel's.
func (in *reading) observations(s step, t int) ([]relabel.Observation, error) {
	ids := map[string]int{}
	for k, c := range s.ToolCalls {
		if _, twice := ids[string(c.ID)]; twice {
			return nil, relabel.Errorf(relabel.CodeInvalid, "refers to two calls with the id %q", c.ID).On("results")
		}
		ids[string(c.ID)] = k
	}
	if s.Observation == nil {
		return nil, nil
	}
	var all []relabel.Observation
	for i, r := range s.Observation.Results {
		o, err := in.observation(r)
		if err != nil {
			return nil, at(fmt.Sprintf("results[%d]", i), err)
		}
		if r.SourceCallID != "" {
			k, ok := ids[string(r.SourceCallID)]
			if !ok {
				return nil, relabel.Errorf(relabel.CodeInvalid, "is %q, which is not the id of a call of the step", r.SourceCallID).On(fmt.Sprintf("results[%d].source_call_id", i))
			}
			o.CallID = relabel.CallID(t, k)
			if in.record.Own == nil {
				o.Tool = string(s.ToolCalls[k].FunctionName)
			}
		}
		all = append(all, o)
	}
	return all, nil
}

func (in *reading) observation(r result) (relabel.Observation, error) {
	o := relabel.Observation{Content: string(r.Content)}
	if r.Subagents != nil {
		return o, relabel.Errorf(relabel.CodeInvalid, "is not supported: relabel's actions have no sub-agents").On("subagent_trajectory_ref")
	}
	own, err := ownFields[ownResult](r.Extra)
	if err != nil {
		return o, at("extra", err)
	}
	in.ignore("steps.observation.results.extra", own == nil && r.Extra != nil)
	if own == nil {
		return o, nil
	}
	o.Tool, o.ExitCode, o.Failed, o.Millis = string(own.Tool), own.ExitCode, own.Failed, own.Millis
	if own.Content == nil {
		return o, nil
	}
	if asShown(string(*own.Content)) != o.Content {
		return o, relabel.Errorf(relabel.CodeInvalid, "differs from content: the document was edited; remove extra to use content").On("extra.relabel.content")
	}
	o.Content = string(*own.Content)
	return o, nil
}

// checkAnswered refuses a turn of another harness with a call that has no result: what follows it is not a state
// that a policy can be asked at.
func checkAnswered(turn relabel.Turn) error {
	answered := map[string]bool{}
	for _, o := range turn.Observations {
		answered[o.CallID] = true
	}
	for k, c := range turn.Action.Message.ToolCalls {
		if !answered[relabel.CallID(turn.T, k)] {
			return relabel.Errorf(relabel.CodeInvalid, "follows the call %q (%s), which has no result with its source_call_id", c.ID, c.Name)
		}
	}
	return nil
}

package openhands

import (
	"context"
	"time"

	"relabel"
)

const (
	noCallText   = "Your message calls no tool, so nothing was done. Go on with a tool call: execute_bash or str_replace_editor to work on the task, or finish when it is done."
	finishedText = "The task is marked as finished."
)

// Execute runs the calls of turn t's action in order and returns an observation for each. It does not
// run a call that it cannot parse, but explains why and runs the calls after it. finish ends the
// trajectory: later calls are neither run nor answered. An action without a call gets one observation
// without a call id.
//
// Observation.Failed marks calls that were not parsed or that the editor refused, and commands that
// had to be ended; a non-zero exit is not a failure. Errors are CodeEnvironment: the sandbox and the
// observations are lost.
func (e *Episode) Execute(ctx context.Context, t int, action relabel.Message) ([]relabel.Observation, bool, error) {
	if len(action.ToolCalls) == 0 {
		return []relabel.Observation{{Content: noCallText, Failed: true}}, false, nil
	}
	var observations []relabel.Observation
	for k, call := range action.ToolCalls {
		start := time.Now()
		u := e.understand(call)
		o, err := e.act(ctx, call.Name, u)
		if err != nil {
			return nil, false, err
		}
		o.CallID, o.Tool = relabel.CallID(t, k), call.Name
		o.Millis = time.Since(start).Milliseconds()
		observations = append(observations, o)
		if call.Name == toolFinish && u.outcome == relabel.ParsedOK {
			return observations, true, nil
		}
	}
	return observations, false, nil
}

// act executes one call.
func (e *Episode) act(ctx context.Context, name string, u understood) (relabel.Observation, error) {
	switch {
	case u.outcome != relabel.ParsedOK:
		return refusal("%s", u.problem), nil
	case name == toolBash:
		return e.bash(ctx, u.args)
	case name == toolEditor:
		return e.edit(ctx, u.args)
	}
	return relabel.Observation{Content: finishedText}, nil
}

// Package imported is the scaffold of runs whose trajectories another harness rolled out: it parses the answers of
// teachers at their states, and rolls nothing out.
package imported

import (
	"encoding/json"
	"slices"

	"relabel"
)

// Parse classifies an action: each call must name one of the tools and have a JSON object as its arguments. The
// schemas of the tools are not checked.
func Parse(tools []relabel.Tool, action relabel.Message) relabel.ParseOutcome {
	if len(action.ToolCalls) == 0 {
		return relabel.NoCall
	}
	for _, c := range action.ToolCalls {
		var object map[string]json.RawMessage
		switch {
		case !slices.ContainsFunc(tools, func(t relabel.Tool) bool { return t.Name == c.Name }):
			return relabel.UnknownTool
		case json.Unmarshal([]byte(c.Arguments), &object) != nil || object == nil:
			return relabel.MalformedCall
		}
	}
	return relabel.ParsedOK
}

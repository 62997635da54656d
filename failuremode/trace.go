// Package failuremode computes the primary failure mode of a trajectory (section 4.5) from what is
// stored of it. docs/failures.md has the rules.
package failuremode

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"relabel"
	"relabel/chat"
)

// Trace is what the rules need of a turn.
type Trace struct {
	T         int
	Action    string   // equal for two turns exactly if their actions agree, see chat.Agree
	Observed  string   // equal for two turns exactly if their observations do, apart from call ids and times
	ToolError bool     // a call was malformed, named an unknown tool or was refused by its tool
	Edits     []string // paths that its editor calls changed, as the agent wrote them
}

// TraceOf returns the trace of a turn. It is small whatever the length of the turn's texts.
func TraceOf(turn relabel.Turn) Trace {
	trace := Trace{T: turn.T, Action: digest(chat.ActionKey(turn.Action.Message)), Observed: observed(turn.Observations)}
	for k, call := range turn.Action.Message.ToolCalls {
		if path := editedPath(call); path != "" && k < len(turn.Observations) && !turn.Observations[k].Failed {
			trace.Edits = append(trace.Edits, path)
		}
	}
	trace.ToolError = toolError(turn)
	return trace
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return string(sum[:])
}

func observed(all []relabel.Observation) string {
	h := sha256.New()
	for _, o := range all {
		exit := ""
		if o.ExitCode != nil {
			exit = fmt.Sprint(*o.ExitCode)
		}
		fmt.Fprintf(h, "%q %q %s %v\n", o.Tool, o.Content, exit, o.Failed)
	}
	return string(h.Sum(nil))
}

// toolError reports whether a call of the turn was not executed for its form, or refused by its tool.
// An answer without a call, one that was cut by its length, and a command that failed, printed an
// error or had to be ended are none: their observations have no call or an exit code.
func toolError(turn relabel.Turn) bool {
	switch turn.Action.Parse {
	case relabel.MalformedCall, relabel.UnknownTool:
		return true
	case relabel.CutByLength, relabel.NoCall, relabel.Refused:
		return false
	}
	for _, o := range turn.Observations {
		if o.Failed && o.ExitCode == nil && o.CallID != "" {
			return true
		}
	}
	return false
}

// editedPath returns the path that a call of the editor changes, "" for any other call.
func editedPath(call relabel.ToolCall) string {
	var args struct {
		Command string `json:"command"`
		Path    string `json:"path"`
	}
	if !strings.HasPrefix(call.Name, "str_replace") || json.Unmarshal([]byte(call.Arguments), &args) != nil {
		return ""
	}
	switch args.Command {
	case "create", "str_replace", "insert":
		return args.Path
	}
	return ""
}

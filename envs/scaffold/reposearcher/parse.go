package reposearcher

import (
	"fmt"
	"slices"
	"strings"

	"relabel"
	"relabel/envs/scaffold/arguments"
	"relabel/ranking"
)

// parametersOf lists the parameters of each tool, all of them required texts.
var parametersOf = map[string][]string{
	toolStructure: {},
	toolImports:   {"file"},
	toolClass:     {"file", "class"},
	toolFunction:  {"file", "function"},
	toolMethod:    {"file", "class", "method"},
	toolExit:      {},
}

// order is the order of the tools in texts.
var order = []string{toolStructure, toolImports, toolClass, toolFunction, toolMethod, toolExit}

// understood is a parsed call. If outcome is not ParsedOK, the call is not run, and problem explains
// why.
type understood struct {
	outcome relabel.ParseOutcome
	problem string
	texts   map[string]string
}

// Parse classifies an action at a state without running it. While the search goes on: NoCall without a
// call, otherwise the outcome of the first invalid call, otherwise ParsedOK; calls after a valid Exit do
// not count, because they are never run. After Exit a text with a ranked list is ParsedOK, one without
// is NoCall, and a call is UnknownTool, because there is none any more.
func Parse(offered []relabel.Tool, state []relabel.Message, action relabel.Message) relabel.ParseOutcome {
	if searchEnded(state) {
		return parseAnswer(action)
	}
	if len(action.ToolCalls) == 0 {
		return relabel.NoCall
	}
	for _, c := range action.ToolCalls {
		if u := understand(offered, c); u.outcome != relabel.ParsedOK {
			return u.outcome
		}
		if c.Name == toolExit {
			break
		}
	}
	return relabel.ParsedOK
}

// parseAnswer classifies an action after Exit.
func parseAnswer(action relabel.Message) relabel.ParseOutcome {
	if len(action.ToolCalls) > 0 {
		return relabel.UnknownTool
	}
	if list, _ := ranking.Parse(action.Content); len(list) == 0 {
		return relabel.NoCall
	}
	return relabel.ParsedOK
}

// searchEnded reports whether Exit was run in a state: a call of it has the observation that says so.
func searchEnded(state []relabel.Message) bool {
	exits := map[string]bool{}
	for _, m := range state {
		for _, c := range m.ToolCalls {
			exits[c.ID] = c.Name == toolExit
		}
		if m.Role == relabel.RoleTool && exits[m.ToolCallID] && m.Content == searchEndedText {
			return true
		}
	}
	return false
}

// understand parses one call.
func understand(offered []relabel.Tool, c relabel.ToolCall) understood {
	names, known := parametersOf[c.Name]
	if !known || !offers(offered, c.Name) {
		return understood{outcome: relabel.UnknownTool, problem: fmt.Sprintf("error: there is no tool %s; the tools are %s", quoted(c.Name), toolNames(offered))}
	}
	takes := map[string]arguments.Parameter{}
	for _, name := range names {
		takes[name] = arguments.Parameter{Kind: arguments.Text, Required: true}
	}
	args, err := arguments.Decode(withoutNothing(c.Arguments), takes)
	if err != nil {
		return understood{outcome: relabel.MalformedCall, problem: fmt.Sprintf("error: the arguments of %s cannot be used: %v", c.Name, err)}
	}
	return understood{outcome: relabel.ParsedOK, texts: args.Texts}
}

// withoutNothing is the arguments of a call, which may be empty for a tool without parameters.
func withoutNothing(arguments string) string {
	if strings.TrimSpace(arguments) == "" {
		return "{}"
	}
	return arguments
}

// offers reports whether a run offers the tool; without any it offers all.
func offers(offered []relabel.Tool, name string) bool {
	return len(offered) == 0 || slices.ContainsFunc(offered, func(t relabel.Tool) bool { return t.Name == name })
}

// toolNames lists the offered tools, or all of them.
func toolNames(offered []relabel.Tool) string {
	var names []string
	for _, name := range order {
		if offers(offered, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// quoted quotes a model's text, shortened and escaped.
func quoted(s string) string {
	const most = 200
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return fmt.Sprintf("%q", s)
}

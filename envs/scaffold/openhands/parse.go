package openhands

import (
	"fmt"
	"sort"
	"strings"

	"relabel"
)

// tools says what each tool takes.
var tools = map[string]map[string]parameter{
	toolBash: {"command": {text, true}},
	toolEditor: {
		"command":     {text, true},
		"path":        {text, true},
		"file_text":   {text, false},
		"old_str":     {text, false},
		"new_str":     {text, false},
		"insert_line": {integer, false},
		"view_range":  {lineSpan, false},
	},
	// A finish without its message is taken as one with an empty one (paper G.2 gives
	// the message a default and lists it as required).
	toolFinish: {"message": {text, false}},
}

// editorNeeds lists the parameters that a command of the editor cannot do without.
// Others of the tool are allowed beside them and have no effect.
var editorNeeds = map[string][]string{
	"view":        nil,
	"create":      {"file_text"},
	"str_replace": {"old_str"},
	"insert":      {"insert_line", "new_str"},
}

// understood is a call as the scaffold read it. Where outcome is not ParsedOK nothing
// of it is run, and problem says what is wrong with it.
type understood struct {
	outcome relabel.ParseOutcome
	problem string
	args    arguments
}

// Parse says how an action is understood, without running anything: NoCall without a
// call, else the outcome of its first call that is not in order, else ParsedOK. Calls
// after a finish that is in order do not count, for they are never run.
func (e *Episode) Parse(action relabel.Message) relabel.ParseOutcome {
	if len(action.ToolCalls) == 0 {
		return relabel.NoCall
	}
	for _, c := range action.ToolCalls {
		if u := e.understand(c); u.outcome != relabel.ParsedOK {
			return u.outcome
		}
		if c.Name == toolFinish {
			break
		}
	}
	return relabel.ParsedOK
}

// Parse is Episode.Parse for a run that offers these tools, without a sandbox.
func Parse(offered []relabel.Tool, action relabel.Message) relabel.ParseOutcome {
	return (&Episode{offered: names(offered)}).Parse(action)
}

func names(tools []relabel.Tool) map[string]bool {
	set := map[string]bool{}
	for _, t := range tools {
		set[t.Name] = true
	}
	return set
}

// understand reads one call.
func (e *Episode) understand(c relabel.ToolCall) understood {
	takes, known := tools[c.Name]
	if !known || (len(e.offered) > 0 && !e.offered[c.Name]) {
		return understood{outcome: relabel.UnknownTool, problem: fmt.Sprintf(
			"There is no tool %s, so nothing was run. The tools are %s.", quoted(c.Name), toolNames(e.offered))}
	}
	args, err := decodeArguments(c.Arguments, takes)
	if err == nil && c.Name == toolEditor {
		err = checkEditor(args)
	}
	if err != nil {
		return understood{outcome: relabel.MalformedCall, problem: fmt.Sprintf(
			"The arguments of %s cannot be used, so nothing was run: %v. Send one JSON object with the parameters of the tool.", c.Name, err)}
	}
	return understood{outcome: relabel.ParsedOK, args: args}
}

// checkEditor reports a command that the editor does not have, or one that lacks what
// it needs.
func checkEditor(args arguments) error {
	command := args.texts["command"]
	needs, known := editorNeeds[command]
	if !known {
		return fmt.Errorf("the command %s is none of view, create, str_replace and insert", quoted(command))
	}
	for _, name := range needs {
		if !args.has(name) {
			return fmt.Errorf("the command %s needs the parameter %s", command, name)
		}
	}
	return nil
}

// toolNames lists the offered tools, or all of them.
func toolNames(offered map[string]bool) string {
	var names []string
	for name := range tools {
		if len(offered) == 0 || offered[name] {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return strings.Join(names, ", ")
}

// quoted quotes what a model wrote, cut short and made visible.
func quoted(s string) string {
	return fmt.Sprintf("%q", shown([]byte(s), nil, 0, 100))
}

package openhands

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"relabel"
	"relabel/envs/scaffold/arguments"
)

// tools has the parameters of each tool.
var tools = map[string]map[string]arguments.Parameter{
	toolBash: {"command": {Kind: arguments.Text, Required: true}},
	toolEditor: {
		"command":     {Kind: arguments.Text, Required: true},
		"path":        {Kind: arguments.Text, Required: true},
		"file_text":   {Kind: arguments.Text, Required: false},
		"old_str":     {Kind: arguments.Text, Required: false},
		"new_str":     {Kind: arguments.Text, Required: false},
		"insert_line": {Kind: arguments.Integer, Required: false},
		"view_range":  {Kind: arguments.LineSpan, Required: false},
	},
	// A missing message of finish counts as an empty one (paper G.2 gives it a default and lists it
	// as required).
	toolFinish: {"message": {Kind: arguments.Text, Required: false}},
}

// editorNeeds lists the required parameters of the editor's commands. Other parameters of the tool are
// allowed and ignored.
var editorNeeds = map[string][]string{
	"view":        nil,
	"create":      {"file_text"},
	"str_replace": {"old_str"},
	"insert":      {"insert_line", "new_str"},
}

// understood is a parsed call. If outcome is not ParsedOK, the call is not run, and problem explains
// why.
type understood struct {
	outcome relabel.ParseOutcome
	problem string
	args    arguments.Arguments
}

// Parse classifies an action without running it: NoCall without a call, otherwise the outcome of its
// first invalid call, otherwise ParsedOK. Calls after a valid finish do not count, because they are
// never run.
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

// Parse is Episode.Parse without a sandbox, for a run that offers these tools.
func Parse(offered []relabel.Tool, action relabel.Message) relabel.ParseOutcome {
	return (&Episode{offered: names(offered)}).Parse(action)
}

// Texts parses one call of any of the tools. It returns the parameters that are text, which the call
// has if the outcome is relabel.ParsedOK.
func Texts(c relabel.ToolCall) (map[string]string, relabel.ParseOutcome) {
	u := (&Episode{}).understand(c)
	return u.args.Texts, u.outcome
}

func names(tools []relabel.Tool) map[string]bool {
	set := map[string]bool{}
	for _, t := range tools {
		set[t.Name] = true
	}
	return set
}

// understand parses one call.
func (e *Episode) understand(c relabel.ToolCall) understood {
	takes, known := tools[c.Name]
	if !known || (len(e.offered) > 0 && !e.offered[c.Name]) {
		return understood{outcome: relabel.UnknownTool, problem: fmt.Sprintf(
			"There is no tool %s, so nothing was run. The tools are %s.", quoted(c.Name), toolNames(e.offered))}
	}
	args, err := arguments.Decode(c.Arguments, takes)
	if err == nil && c.Name == toolEditor {
		err = checkEditor(args)
	}
	if err != nil {
		return understood{outcome: relabel.MalformedCall, problem: fmt.Sprintf(
			"The arguments of %s cannot be used, so nothing was run: %v. Send one JSON object with the parameters of the tool.", c.Name, err)}
	}
	return understood{outcome: relabel.ParsedOK, args: args}
}

// checkEditor reports an unknown command of the editor, or a missing parameter.
func checkEditor(args arguments.Arguments) error {
	command := args.Texts["command"]
	needs, known := editorNeeds[command]
	if !known {
		return fmt.Errorf("the command %s is none of view, create, str_replace and insert", quoted(command))
	}
	for _, name := range needs {
		if !args.Has(name) {
			return fmt.Errorf("the command %s needs the parameter %s", command, name)
		}
	}
	return nil
}

// toolNames lists the offered tools, or all of them.
func toolNames(offered map[string]bool) string {
	names := slices.Sorted(maps.Keys(tools))
	names = slices.DeleteFunc(names, func(name string) bool { return len(offered) > 0 && !offered[name] })
	return strings.Join(names, ", ")
}

// quoted quotes a model's text, shortened and escaped.
func quoted(s string) string {
	return fmt.Sprintf("%q", shown([]byte(s), nil, 0, 100))
}

package openhands

import (
	"strings"
	"testing"

	"relabel"
)

// calls makes an action of tool names and arguments in turn.
func calls(pairs ...string) relabel.Message {
	m := relabel.Message{Role: relabel.RoleAssistant}
	for i := 0; i < len(pairs); i += 2 {
		m.ToolCalls = append(m.ToolCalls, relabel.ToolCall{ID: "x", Name: pairs[i], Arguments: pairs[i+1]})
	}
	return m
}

func TestParse(t *testing.T) {
	e := &Episode{}
	for name, c := range map[string]struct {
		action relabel.Message
		want   relabel.ParseOutcome
	}{
		"bash":                    {calls(toolBash, `{"command":"ls"}`), relabel.ParsedOK},
		"white space":             {calls(toolBash, " {\n \"command\" : \"ls\" }\n"), relabel.ParsedOK},
		"view":                    {calls(toolEditor, `{"command":"view","path":"/r/a","view_range":[1,-1]}`), relabel.ParsedOK},
		"integral float":          {calls(toolEditor, `{"command":"insert","path":"/a","insert_line":5.0,"new_str":"x"}`), relabel.ParsedOK},
		"null is absent":          {calls(toolEditor, `{"command":"view","path":"/a","view_range":null,"old_str":null}`), relabel.ParsedOK},
		"without new_str":         {calls(toolEditor, `{"command":"str_replace","path":"/a","old_str":"x"}`), relabel.ParsedOK},
		"unused parameter":        {calls(toolEditor, `{"command":"view","path":"/a","file_text":""}`), relabel.ParsedOK},
		"finish":                  {calls(toolFinish, `{"message":"done"}`), relabel.ParsedOK},
		"finish without words":    {calls(toolFinish, `{}`), relabel.ParsedOK},
		"surrogate pair":          {calls(toolBash, `{"command":"echo \ud83d\ude00"}`), relabel.ParsedOK},
		"escaped backslash":       {calls(toolBash, `{"command":"echo \\ud83d"}`), relabel.ParsedOK},
		"bad call after finish":   {calls(toolFinish, `{}`, toolBash, `{`), relabel.ParsedOK},
		"no call":                 {relabel.Message{Content: "I think"}, relabel.NoCall},
		"unknown tool":            {calls("browse", `{}`), relabel.UnknownTool},
		"no name":                 {calls("", `{}`), relabel.UnknownTool},
		"first problem counts":    {calls(toolBash, `{`, "browse", `{}`), relabel.MalformedCall},
		"second call is wrong":    {calls(toolBash, `{"command":"ls"}`, "browse", `{}`), relabel.UnknownTool},
		"empty":                   {calls(toolBash, ``), relabel.MalformedCall},
		"cut off":                 {calls(toolBash, `{"command":"ls`), relabel.MalformedCall},
		"no object":               {calls(toolBash, `"ls"`), relabel.MalformedCall},
		"array":                   {calls(toolBash, `["ls"]`), relabel.MalformedCall},
		"null":                    {calls(toolBash, `null`), relabel.MalformedCall},
		"trailing":                {calls(toolBash, `{"command":"ls"} {}`), relabel.MalformedCall},
		"trailing words":          {calls(toolBash, `{"command":"ls"} ok`), relabel.MalformedCall},
		"twice":                   {calls(toolBash, `{"command":"ls","command":"rm"}`), relabel.MalformedCall},
		"twice by an escape":      {calls(toolBash, `{"command":"ls","c\u006fmmand":"rm"}`), relabel.MalformedCall},
		"unknown parameter":       {calls(toolBash, `{"command":"ls","timeout":5}`), relabel.MalformedCall},
		"other case":              {calls(toolBash, `{"Command":"ls"}`), relabel.MalformedCall},
		"missing":                 {calls(toolBash, `{}`), relabel.MalformedCall},
		"required null":           {calls(toolBash, `{"command":null}`), relabel.MalformedCall},
		"wrong type":              {calls(toolBash, `{"command":["ls"]}`), relabel.MalformedCall},
		"number as string":        {calls(toolEditor, `{"command":"insert","path":"/a","insert_line":"5","new_str":"x"}`), relabel.MalformedCall},
		"broken number":           {calls(toolEditor, `{"command":"insert","path":"/a","insert_line":5.5,"new_str":"x"}`), relabel.MalformedCall},
		"huge number":             {calls(toolEditor, `{"command":"insert","path":"/a","insert_line":1e99,"new_str":"x"}`), relabel.MalformedCall},
		"range of three":          {calls(toolEditor, `{"command":"view","path":"/a","view_range":[1,2,3]}`), relabel.MalformedCall},
		"range of words":          {calls(toolEditor, `{"command":"view","path":"/a","view_range":["1","2"]}`), relabel.MalformedCall},
		"unknown editor command":  {calls(toolEditor, `{"command":"undo_edit","path":"/a"}`), relabel.MalformedCall},
		"create without text":     {calls(toolEditor, `{"command":"create","path":"/a"}`), relabel.MalformedCall},
		"replace without old_str": {calls(toolEditor, `{"command":"str_replace","path":"/a","new_str":"x"}`), relabel.MalformedCall},
		"insert without a line":   {calls(toolEditor, `{"command":"insert","path":"/a","new_str":"x"}`), relabel.MalformedCall},
		"lone surrogate":          {calls(toolBash, `{"command":"echo \ud83d"}`), relabel.MalformedCall},
		"low surrogate":           {calls(toolBash, `{"command":"echo \ude00"}`), relabel.MalformedCall},
		"high and no low":         {calls(toolBash, `{"command":"echo \ud83d\u0041"}`), relabel.MalformedCall},
		"broken UTF-8":            {calls(toolBash, "{\"command\":\"echo \xff\"}"), relabel.MalformedCall},
		"very deep":               {calls(toolBash, `{"command":`+strings.Repeat("[", 100_000)), relabel.MalformedCall},
	} {
		if got := e.Parse(c.action); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

func TestAProblemNamesTheParameter(t *testing.T) {
	e := &Episode{}
	for arguments, want := range map[string]string{
		`{"command":"insert","path":"/a","insert_line":"5","new_str":"x"}`: "insert_line must be an integer, not a string",
		`{"command":"insert","path":"/a","new_str":"x"}`:                   "needs the parameter insert_line",
		`{"command":"view"}`:                                "path is missing",
		`{"path":"/a"}`:                                     "command is missing",
		`{"command":"view","path":"/a","line":3}`:           `there is no parameter "line"`,
		`{"command":"view","path":"/a","path":"/b"}`:        `"path" is given twice`,
		`{"command":"view","path":"/a"`:                     "breaks off",
		`{"command":"view","path":"/a","view_range":"[1]"}`: "view_range must be an array of two integers",
	} {
		u := e.understand(relabel.ToolCall{Name: toolEditor, Arguments: arguments})
		if !strings.Contains(u.problem, want) {
			t.Errorf("%s: %s", arguments, u.problem)
		}
	}
}

func TestToolsThatTheRunDoesNotOfferAreUnknown(t *testing.T) {
	e := &Episode{offered: map[string]bool{toolBash: true, toolFinish: true}}
	if got := e.Parse(calls(toolEditor, `{"command":"view","path":"/a"}`)); got != relabel.UnknownTool {
		t.Errorf("got %s", got)
	}
	if u := e.understand(relabel.ToolCall{Name: "ls"}); !strings.Contains(u.problem, "The tools are execute_bash, finish.") {
		t.Error(u.problem)
	}
}

func FuzzParseTakesAnyArguments(f *testing.F) {
	f.Add(toolEditor, `{"command":"insert","path":"/a","insert_line":5.0,"new_str":"\ud83d\ude00"}`)
	f.Add(toolBash, `{"command":"\ud83d`)
	f.Add(toolBash, "{\"a\":\xff")
	f.Fuzz(func(t *testing.T, tool, arguments string) {
		u := (&Episode{}).understand(relabel.ToolCall{Name: tool, Arguments: arguments})
		if (u.outcome == relabel.ParsedOK) != (u.problem == "") {
			t.Fatalf("%s with %q", u.outcome, u.problem)
		}
	})
}
